package record

import (
	"time"

	"github.com/weirhq/weir/load/internal/latencies"
)

// A Total adds the measurements of a run's threads up. Goroutines must not share it.
type Total struct {
	Recorders []*Recorder

	Headline latencies.Times // until the last Take
	Measures Measures        // until the last Take of them, or Finish

	spare []latencies.Times // empty, to swap with the recorders' headlines
	fresh []Measures        // empty, to swap with the recorders' measures
}

// NewTotal returns the total of recorders with equal options.
func NewTotal(recorders []*Recorder) *Total {
	t := &Total{Recorders: recorders, Headline: latencies.NewTimes(), Measures: recorders[0].empty()}
	for range recorders {
		t.spare = append(t.spare, latencies.NewTimes())
	}
	return t
}

// Take moves the headlines of the recorders into the total and into since, and returns the sum of
// the tallies. If all is set, it moves the measures too. Only Take and Counts may be called while
// the threads measure.
func (t *Total) Take(since *latencies.Times, all bool) (sum Tally) {
	for i, r := range t.Recorders {
		var m *Measures
		if all {
			if len(t.fresh) == i {
				t.fresh = append(t.fresh, r.empty())
			}
			m = &t.fresh[i]
		}
		n, h := r.swap(t.spare[i], m)
		if all {
			t.Measures.merge(m)
			m.reset()
		}
		sum.add(&n)
		since.Merge(&h)
		t.Headline.Merge(&h)
		h.Reset()
		t.spare[i] = h
	}
	return sum
}

// Counts returns the sum of the tallies, and takes nothing.
func (t *Total) Counts() (sum Tally) {
	for _, r := range t.Recorders {
		r.Lock()
		sum.add(&r.Tally)
		r.Unlock()
	}
	return sum
}

// Finish moves the rest of the measures. It returns when requests were sent, and a sample of the
// requests. The threads have ended.
func (t *Total) Finish() (bins Bins, points []Moment) {
	var thinned *thinner
	for _, r := range t.Recorders {
		t.Measures.merge(&r.Measures)
		bins.Merge(&r.bins)
		switch {
		case r.detail == nil:
		case thinned == nil:
			thinned = r.detail.points
		default:
			thinned.merge(r.detail.points)
		}
	}
	return bins, thinned.points()
}

// Last returns when the last request was sent or answered. The threads have ended.
func (t *Total) Last() (last time.Duration) {
	for _, r := range t.Recorders {
		last = max(last, r.lastSent, r.lastDone)
	}
	return last
}
