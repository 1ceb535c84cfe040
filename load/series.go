package load

import (
	"slices"

	"github.com/weirhq/weir/load/internal/latencies"
)

// add adds the counts of another second.
func (s *Second) add(o *Second) {
	s.Asked += o.Asked
	s.Sent += o.Sent
	s.Requests += o.Requests
	s.Errors += o.Errors
	s.Bytes += o.Bytes
}

// setQuantiles sets the quantiles of the requests that ended in the second.
func (s *Second) setQuantiles(ended *latencies.Order) {
	s.P50, _ = quantileOf(ended, 50)
	s.P90, _ = quantileOf(ended, 90)
	s.P99, _ = quantileOf(ended, 99)
	s.Max, _ = quantileOf(ended, 100)
}

// apart is by how many seconds the ends of two shares' seconds may differ if they are the
// same second: each collector ends them at its own time.
const apart = 0.25

// mergeSeries merges the series, which begin at the same instant. If one share has a longer
// second, because its process was stopped, the result has a longer one too: no count is
// divided.
func mergeSeries(shares []*Result) (merged []Second, err error) {
	left := make([][]Second, len(shares))
	for i, r := range shares {
		left[i] = r.Series
		if r.Share.Lost != "" {
			left[i] = finished(r)
		}
	}
	start := -1.0
	for {
		taken, end := takeSecond(left)
		if len(taken) == 0 {
			return merged, nil
		}
		if start < 0 {
			start = taken[0][0].Start
		}
		row := Second{Start: start, Seconds: end - start}
		var latencies []*Latency
		for _, parts := range taken {
			for _, s := range parts {
				row.add(&s)
				latencies = append(latencies, s.Latency)
			}
			row.Connections += parts[len(parts)-1].Connections
		}
		o, err := mergeOrders(latencies)
		if err != nil {
			return nil, err
		}
		row.setQuantiles(o)
		merged = append(merged, row)
		start = end
	}
}

// finished returns the series of a lost share without the requests that had not ended, as in
// its counts. They were asked for and sent in its last seconds.
func finished(r *Result) []Second {
	series := slices.Clone(r.Series)
	asked, sent := -r.Asked, -r.Sent
	for _, s := range series {
		asked += s.Asked
		sent += s.Sent
	}
	for i := len(series) - 1; i >= 0; i-- {
		s := &series[i]
		a, b := min(asked, s.Asked), min(sent, s.Sent)
		s.Asked, s.Sent = s.Asked-a, s.Sent-b
		asked, sent = asked-a, sent-b
	}
	return series
}

// takeSecond removes the first second of each series, and more of those that end before
// the others. It returns the seconds of each series that has any left, and their end.
func takeSecond(left [][]Second) (taken [][]Second, end float64) {
	ends := make([]float64, len(left))
	counts := make([]int, len(left))
	for more := true; more; {
		more = false
		for i, series := range left {
			if counts[i] == len(series) || counts[i] > 0 && ends[i] > end-apart {
				continue
			}
			next := series[counts[i]]
			ends[i] = next.Start + next.Seconds
			end = max(end, ends[i])
			counts[i]++
			more = true
		}
	}
	for i, n := range counts {
		if n > 0 {
			taken = append(taken, left[i][:n])
			left[i] = left[i][n:]
		}
	}
	return taken, end
}
