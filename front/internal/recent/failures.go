// Package recent has recent events of the log, for the dashboard: those of the last failed requests, and those of one
// request in a file of the log.
package recent

import (
	"bytes"
	"encoding/json"
	"slices"
	"sync"
	"time"
)

const (
	// kept is the number of events that are kept.
	kept = 50
	// perSecond is the maximum number of events that are taken in a second, so that a flood costs little.
	perSecond = 20
	// MaxEventBytes is the maximum length of an event that is kept.
	MaxEventBytes = 4 << 10
)

// Failures keeps the last events of failed requests. It is the writer of a logger that writes JSON. The zero value is
// ready to use, and goroutines may share it.
type Failures struct {
	mu     sync.Mutex // guards the fields below
	events [kept][]byte
	taken  int   // events that were written
	failed int   // requests for which Admit was called
	passed int   // of these, requests whose event is not to be written
	second int64 // of the last call of Admit, as a Unix time
	now    int   // requests admitted in that second
}

// Admit counts a request that failed at a time, and reports whether its event is to be written.
func (f *Failures) Admit(at time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failed++
	if s := at.Unix(); s != f.second {
		f.second, f.now = s, 0
	}
	if f.now++; f.now > perSecond {
		f.passed++
		return false
	}
	return true
}

// Write keeps an event instead of the oldest one. It implements io.Writer.
func (f *Failures) Write(event []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	at := &f.events[f.taken%kept]
	*at = append((*at)[:0], event...)
	f.taken++
	return len(event), nil
}

// Failed returns the number of failed requests since the start.
func (f *Failures) Failed() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.failed
}

// A List has the last failed requests.
type List struct {
	Failed int               `json:"failed"` // requests since the start
	Passed int               `json:"passed"` // of these, requests without an event, because there were too many in a second
	Events []json.RawMessage `json:"events"` // the newest first
}

// List returns a copy of the kept events.
func (f *Failures) List() List {
	f.mu.Lock()
	defer f.mu.Unlock()
	l := List{Failed: f.failed, Passed: f.passed, Events: []json.RawMessage{}}
	for i := range min(f.taken, kept) {
		event := f.events[(f.taken-1-i)%kept]
		l.Events = append(l.Events, slices.Clone(bytes.TrimSpace(event)))
	}
	return l
}
