package report

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/weirhq/weir/load"
	"github.com/weirhq/weir/load/internal/hdr"
)

// HDR writes the percentiles of the latency in milliseconds, in the format of
// HdrHistogram's own programs, wrk2 and hdr-plot: from due if the loop was open,
// otherwise from sent. Every five lines halve the distance to 100%. Percentiles are of
// all requests: the lines end before the requests that were never answered, whose
// number is in the footer.
func HDR(w io.Writer, r *load.Result) error {
	ds, err := distributions(r)
	if err != nil {
		return err
	}
	l, from := primary(r)
	if l == nil {
		l = &load.Latency{}
	}
	if l.Count > l.NeverAnswered && (len(ds) == 0 || ds[0].from != "from "+from) {
		return errors.New("report: the latency from " + from + " has no histogram; was it taken out of the result?")
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%12s %14s %10s %14s\n\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)")
	if l.Count == l.NeverAnswered {
		hdrFooter(&b, hdr.New(), l)
	} else {
		hdrBody(&b, &ds[0])
	}
	_, err = w.Write(b.Bytes())
	return err
}

const (
	hdrLines     = 5 // for each halving of the distance to 100%
	nsPerMs      = 1e6
	hdrSubbucket = 2048 // of three digits
)

func hdrBody(b *bytes.Buffer, d *distribution) {
	all := d.histogram.Count()
	share := float64(all) / float64(d.all())
	var reached int64
	next := 0.0 // the quantile of the next line
	for bucket := range d.histogram.Buckets() {
		reached += bucket.Count
		for next <= float64(reached)/float64(all) {
			hdrLine(b, bucket.To, next*share, reached)
			halvings := math.Trunc(math.Log2(1 / (1 - next)))
			next += 1 / (hdrLines * math.Exp2(halvings+1))
			if reached == all {
				break
			}
		}
	}
	hdrLine(b, d.histogram.Max(), share, reached)
	hdrFooter(b, d.histogram, d.Latency)
}

// hdrLine writes a quantile, and the number of values up to it.
func hdrLine(b *bytes.Buffer, ns int64, quantile float64, n int64) {
	fmt.Fprintf(b, "%12.6f %14.12f %10d ", float64(ns)/nsPerMs, quantile, n)
	if rest := 1 - quantile; rest > 0 {
		fmt.Fprintf(b, "%14.2f\n", 1/rest)
	} else {
		fmt.Fprintf(b, "%14s\n", "inf")
	}
}

// hdrFooter ends the table. The buckets are those of a histogram of nanoseconds
// that reaches the maximum. The mean and the other values are of the requests
// with a latency.
func hdrFooter(b *bytes.Buffer, h *hdr.Histogram, l *load.Latency) {
	most := float64(h.Max())
	buckets := 1 + int(max(0, math.Ceil(math.Log2(max(1, most)/hdrSubbucket))))
	mean, deviation := h.Moments()
	fmt.Fprintf(b, "#[Mean    = %12.6f, StdDeviation   = %12.6f]\n", mean/nsPerMs, deviation/nsPerMs)
	fmt.Fprintf(b, "#[Max     = %12.6f, Total count    = %12d]\n", most/nsPerMs, h.Count())
	fmt.Fprintf(b, "#[Buckets = %12d, SubBuckets     = %12d]\n", buckets, hdrSubbucket)
	if l.GivenUp+l.NeverAnswered > 0 {
		fmt.Fprintf(b, "#[Given up = %11d, Never answered = %12d]\n", l.GivenUp, l.NeverAnswered)
	}
}
