package load

import "cmp"

// apart is by how many seconds the ends of two shares' seconds may differ if they are the
// same second: each collector ends them at its own time.
const apart = 0.25

// addSeries merges the series, which begin at the same instant. If one share has a longer
// second, because its process was stopped, the result has a longer one too: no count is
// divided.
func (m *merger) addSeries() {
	left := make([][]Second, len(m.shares))
	for i, r := range m.shares {
		left[i] = r.Series
	}
	for start := 0.0; ; {
		taken, end := takeSecond(left)
		if len(taken) == 0 {
			return
		}
		row := Second{Start: start, Seconds: end - start}
		var latencies []*Latency
		for _, parts := range taken {
			for _, s := range parts {
				row.Asked += s.Asked
				row.Sent += s.Sent
				row.Requests += s.Requests
				row.Errors += s.Errors
				row.Bytes += s.Bytes
				latencies = append(latencies, s.Latency)
			}
			row.Connections += parts[len(parts)-1].Connections
		}
		o, err := mergeOrders(latencies)
		if err != nil {
			m.err = cmp.Or(m.err, err)
			return
		}
		row.setQuantiles(o)
		m.sum.Series = append(m.sum.Series, row)
		start = end
	}
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
