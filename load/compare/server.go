package compare

import "github.com/weirhq/weir/load"

// serverCPU is the server's CPU time for each answer, in microseconds.
func serverCPU(g group) (measured, bool) {
	var cpu, answers float64
	for _, r := range g.runs {
		if r.Server == nil {
			return measured{}, false
		}
		cpu += r.Server.CPUSeconds
		answers += float64(r.Requests)
	}
	return measured{value: 1e6 * cpu / answers}, answers > 0
}

func serverCPUs(r *load.Result) []float64 {
	var list []float64
	samples := serverSamples(r)
	for i, s := range wholeSeconds(r) {
		if s.Requests > 0 && samples[i].known {
			list = append(list, 1e6*samples[i].cpu/float64(s.Requests))
		}
	}
	return list
}

// serverRSS is the most memory that the server had in a run, in bytes.
func serverRSS(g group) (measured, bool) {
	var most float64
	for _, r := range g.runs {
		if r.Server == nil || r.Server.PeakRSS == 0 {
			return measured{}, false
		}
		most = max(most, float64(r.Server.PeakRSS))
	}
	return measured{value: most}, true
}

func serverRSSs(r *load.Result) []float64 {
	var list []float64
	for _, s := range serverSamples(r) {
		if s.known {
			list = append(list, s.rss)
		}
	}
	return list
}

// A serverSecond is what the samples of one whole second of a run add up to.
type serverSecond struct {
	known bool
	cpu   float64 // in seconds
	rss   float64 // the most, in bytes
}

// serverSamples returns the server's part of each whole second, which a sample
// belongs to by the middle of the time that it is about.
func serverSamples(r *load.Result) []serverSecond {
	seconds := wholeSeconds(r)
	sums := make([]serverSecond, len(seconds))
	if r.Server == nil {
		return sums
	}
	before := 0.0
	for _, sample := range r.Server.Samples {
		if i := secondAt(seconds, (before+sample.At)/2); i >= 0 {
			s := &sums[i]
			s.known = true
			s.cpu += sample.CPU * (sample.At - before)
			s.rss = max(s.rss, float64(sample.RSS))
		}
		before = sample.At
	}
	return sums
}

// secondAt returns the index of the second that holds a moment, or -1.
func secondAt(seconds []load.Second, at float64) int {
	for i, s := range seconds {
		if at >= s.Start && at < s.Start+s.Seconds {
			return i
		}
	}
	return -1
}
