package report

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/weirhq/weir/load"
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
		hdrFooter(&b, hdrhistogram.New(1, 2, 3), l)
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
	share := float64(d.histogram.TotalCount()) / float64(d.all())
	for _, line := range d.histogram.CumulativeDistributionWithTicks(hdrLines) {
		q := line.Quantile / 100 * share
		fmt.Fprintf(b, "%12.6f %14.12f %10d ", float64(line.ValueAt)/nsPerMs, q, line.Count)
		if rest := 1 - q; rest > 0 {
			fmt.Fprintf(b, "%14.2f\n", 1/rest)
		} else {
			fmt.Fprintf(b, "%14s\n", "inf")
		}
	}
	hdrFooter(b, d.histogram, d.Latency)
}

// hdrFooter ends the table. The buckets are those of a histogram of nanoseconds
// that reaches the maximum. The mean and the other values are of the requests
// with a latency.
func hdrFooter(b *bytes.Buffer, h *hdrhistogram.Histogram, l *load.Latency) {
	most := float64(h.Max())
	buckets := 1 + int(max(0, math.Ceil(math.Log2(max(1, most)/hdrSubbucket))))
	fmt.Fprintf(b, "#[Mean    = %12.6f, StdDeviation   = %12.6f]\n", h.Mean()/nsPerMs, h.StdDev()/nsPerMs)
	fmt.Fprintf(b, "#[Max     = %12.6f, Total count    = %12d]\n", most/nsPerMs, h.TotalCount())
	fmt.Fprintf(b, "#[Buckets = %12d, SubBuckets     = %12d]\n", buckets, hdrSubbucket)
	if l.GivenUp+l.NeverAnswered > 0 {
		fmt.Fprintf(b, "#[Given up = %11d, Never answered = %12d]\n", l.GivenUp, l.NeverAnswered)
	}
}
