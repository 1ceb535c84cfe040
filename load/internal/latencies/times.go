package latencies

import "time"

// Misses counts requests without a response. The zero value is empty.
type Misses struct {
	atLeast *Distribution // requests that were given up, by their lower bound; nil without one
	Never   int64         // requests that were never answered
}

// Miss counts a request without a response after t.
func (m *Misses) Miss(t time.Duration, gaveUp bool) {
	if !gaveUp {
		m.Never++
		return
	}
	if m.atLeast == nil {
		m.atLeast = New()
	}
	m.atLeast.Record(t)
}

// Merge adds the requests of o.
func (m *Misses) Merge(o *Misses) {
	m.Never += o.Never
	if o.atLeast == nil {
		return
	}
	if m.atLeast == nil {
		m.atLeast = New()
	}
	m.atLeast.Merge(o.atLeast)
}

// Reset removes all requests.
func (m *Misses) Reset() {
	m.Never = 0
	if m.atLeast != nil {
		m.atLeast.Reset()
	}
}

// Times are the times of requests, with and without a response.
type Times struct {
	Answered *Distribution
	Misses
}

// NewTimes returns empty Times.
func NewTimes() Times { return Times{Answered: New()} }

// Merge adds the requests of o.
func (t *Times) Merge(o *Times) {
	t.Answered.Merge(o.Answered)
	t.Misses.Merge(&o.Misses)
}

// Reset removes all requests.
func (t *Times) Reset() {
	t.Answered.Reset()
	t.Misses.Reset()
}

// Order sorts the requests by their times.
func (t *Times) Order() *Order {
	o := &Order{Answered: t.Answered, Finite: t.Answered, Never: t.Never}
	if t.atLeast != nil && t.atLeast.Count() > 0 {
		o.Finite = New()
		o.Finite.Merge(t.Answered)
		o.Finite.Merge(t.atLeast)
	}
	return o
}
