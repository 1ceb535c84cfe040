package load

import "time"

// misses counts requests without an answer. The zero value is empty.
type misses struct {
	atLeast *distribution // requests that were given up, by their lower bound; nil without one
	never   int64         // requests that were never answered
}

// miss counts a request without an answer after t.
func (m *misses) miss(t time.Duration, gaveUp bool) {
	if !gaveUp {
		m.never++
		return
	}
	if m.atLeast == nil {
		m.atLeast = newDistribution()
	}
	m.atLeast.record(t)
}

func (m *misses) merge(o *misses) {
	m.never += o.never
	if o.atLeast == nil {
		return
	}
	if m.atLeast == nil {
		m.atLeast = newDistribution()
	}
	m.atLeast.merge(o.atLeast)
}

// times are the times of requests, with and without an answer.
type times struct {
	answered *distribution
	misses
}

func newTimes() times { return times{answered: newDistribution()} }

func (m *misses) reset() {
	m.never = 0
	if m.atLeast != nil {
		m.atLeast.reset()
	}
}

func (t *times) merge(o *times) {
	t.answered.merge(o.answered)
	t.misses.merge(&o.misses)
}

func (t *times) reset() {
	t.answered.reset()
	t.misses.reset()
}

// order sorts the requests by their times.
func (t *times) order() order {
	o := order{answered: t.answered, finite: t.answered, never: t.never}
	if t.atLeast != nil && t.atLeast.count() > 0 {
		o.finite = newDistribution()
		o.finite.merge(t.answered)
		o.finite.merge(t.atLeast)
	}
	return o
}
