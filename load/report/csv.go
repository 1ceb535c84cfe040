package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/weirhq/weir/load"
)

// CSV writes a header and a row for each second of a result. Latencies are in
// microseconds, or inf if requests were never answered. The names of their
// columns say from when they count. The usage of the server is its mean CPU and
// its largest memory in that second, or empty if it is not known.
func CSV(w io.Writer, r *load.Result) error {
	out := csv.NewWriter(w)
	_, from := primary(r)
	header := []string{"start_s", "seconds", "asked", "sent", "answered", "errors", "bytes_read"}
	for _, q := range []string{"p50", "p90", "p99", "max"} {
		header = append(header, fmt.Sprintf("%s_from_%s_us", q, from))
	}
	out.Write(append(header, "connections", "server_cpus", "server_rss_bytes")) // an error remains until Error
	samples := samplesOf(r)
	for _, s := range r.Series {
		var row []string
		for _, f := range []float64{s.Start, s.Seconds} {
			row = append(row, decimal(f))
		}
		for _, n := range []int64{s.Asked, s.Sent, s.Requests, s.Errors, s.Bytes} {
			row = append(row, strconv.FormatInt(n, 10))
		}
		for _, us := range []load.Micros{s.P50, s.P90, s.P99, s.Max} {
			row = append(row, decimal(float64(us)))
		}
		row = append(row, strconv.Itoa(s.Connections))
		var cpus, rss string
		cpus, rss, samples = serverDuring(s, samples)
		out.Write(append(row, cpus, rss))
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return fmt.Errorf("report: the rows of %d seconds: %w", len(r.Series), err)
	}
	return nil
}

func samplesOf(r *load.Result) []load.ServerSample {
	if r.Server == nil {
		return nil
	}
	return r.Server.Samples
}

// serverDuring summarises the samples before the end of a second, and returns
// the others.
func serverDuring(s load.Second, samples []load.ServerSample) (cpus, rss string, rest []load.ServerSample) {
	n, sum, most := 0, 0.0, int64(0)
	for n < len(samples) && samples[n].At <= s.Start+s.Seconds {
		sum += samples[n].CPU
		most = max(most, samples[n].RSS)
		n++
	}
	if n == 0 {
		return "", "", samples
	}
	return decimal(sum / float64(n)), strconv.FormatInt(most, 10), samples[n:]
}

// decimal formats at most three decimals, and infinity as inf, which most
// programs that read CSV accept.
func decimal(f float64) string {
	if math.IsInf(f, 1) {
		return "inf"
	}
	return strconv.FormatFloat(math.Round(f*1e3)/1e3, 'f', -1, 64)
}
