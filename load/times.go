package load

import "time"

// misses are requests without an answer. The zero misses are empty.
type misses struct {
	atLeast *distribution // those given up, by the time that they took at least; nil without one
	never   int64         // the rest, which were never answered: no time is long enough for them
}

// miss counts a request that had no answer after t.
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

// times are those of requests, with and without an answer.
type times struct {
	answered *distribution
	misses
}

func newTimes() times { return times{answered: newDistribution()} }

func (t *times) merge(o *times) {
	t.answered.merge(o.answered)
	t.misses.merge(&o.misses)
}

func (t *times) reset() {
	t.answered.reset()
	t.never = 0
	if t.atLeast != nil {
		t.atLeast.reset()
	}
}

// order puts the requests into the order of their times.
func (t *times) order() order {
	o := order{answered: t.answered, finite: t.answered, never: t.never}
	if t.atLeast != nil && t.atLeast.count() > 0 {
		o.finite = newDistribution()
		o.finite.merge(t.answered)
		o.finite.merge(t.atLeast)
	}
	return o
}
