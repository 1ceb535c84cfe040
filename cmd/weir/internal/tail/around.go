package tail

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/internal/tracematch"
	"github.com/weirhq/weir/log/record"
)

// An around finds the events of one trace id, for --around, and those near them in time, for --window. It holds them until
// the inputs have ended, because their order is not known before.
type around struct {
	id     tracematch.ID
	window time.Duration // before the first event and after the last one; 0 for none

	found    []found
	near     *span // nil until the inputs are read again, for other events in this time
	searched int   // events
	all      span  // of these events
}

// A found event is of the trace id, or near its events.
type found struct {
	at      time.Time
	traceID string
	line    []byte
	from    *input
	shown   bool // by the filters
}

// A span is the time from the earliest to the latest of several events.
type span struct{ first, last time.Time }

// add adds an event. One without a time, which is zero, changes nothing.
func (s *span) add(at time.Time) {
	if at.IsZero() {
		return
	}
	if s.first.IsZero() || at.Before(s.first) {
		s.first = at
	}
	if at.After(s.last) {
		s.last = at
	}
}

// aroundMembers are the members of an event that around reads.
var aroundMembers = []string{"created_at", "trace_id"}

// newAround returns an around for a trace id, its first characters, or a traceparent.
func newAround(text string, window time.Duration) (*around, error) {
	id, ok := tracematch.Parse(text)
	if !ok {
		return nil, cli.Misuse(fmt.Errorf("--around: %q is no trace id: that has 1 to 128 characters, "+
			"and no space, quote, comma or backslash", text), "X-Request-Id of a response has it, and trace_id of an event")
	}
	return &around{id: id, window: window}, nil
}

// take holds an event if it is wanted. shows reports whether the filters show it.
func (a *around) take(r *record.Record, line []byte, from *input, shows func(*record.Record) bool) error {
	at, _ := r.CreatedAt.Time()
	wanted := false
	if a.near != nil {
		wanted = !a.id.Is(r.TraceID) && !at.Before(a.near.first) && !at.After(a.near.last)
	} else {
		a.searched++
		a.all.add(at)
		wanted = a.id.Has(r.TraceID)
	}
	switch {
	case !wanted:
		return nil
	case len(a.found) == maxHeld:
		return cli.WithHint(fmt.Errorf("--around: there are more than %d events", maxHeld), "a shorter --window, or the whole trace id")
	}
	a.found = append(a.found, found{at, strings.Clone(r.TraceID), bytes.Clone(line), from, shows(r)})
	return nil
}

// settle decides on the trace id when all inputs have been read.
func (a *around) settle(inputs []*input) error {
	if slices.ContainsFunc(a.found, func(f found) bool { return a.id.Is(f.traceID) }) {
		a.found = slices.DeleteFunc(a.found, func(f found) bool { return !a.id.Is(f.traceID) })
	}
	if len(a.found) == 0 {
		return a.nothing(inputs)
	}
	for _, f := range a.found {
		if first := a.found[0].traceID; !tracematch.Same(f.traceID, first) {
			a.found = nil
			return cli.WithHint(fmt.Errorf("%s is the beginning of several trace ids", a.id),
				fmt.Sprintf("name one whole, as in --around %s, or %s", first, f.traceID))
		}
	}
	return nil
}

// nothing returns the error for a trace id without events, with the searched inputs.
func (a *around) nothing(inputs []*input) error {
	var names []string
	for _, in := range inputs {
		names = append(names, in.name)
	}
	searched := counted(a.searched, "event", "events") + " of " + strings.Join(names, ", ")
	if !a.all.first.IsZero() {
		searched += fmt.Sprintf(", from %s to %s", a.all.first.UTC().Format(time.RFC3339), a.all.last.UTC().Format(time.RFC3339))
	}
	return cli.WithHint(fmt.Errorf("no event has the trace id %s, among %s", a.id, searched),
		fmt.Sprintf("rotated files are searched if they are named, as in weir tail --around %s weir.log*", a.id))
}

// widen sets the time of the events near those of the trace id, which is known now, for the second reading.
func (a *around) widen() {
	var s span
	for _, f := range a.found {
		s.add(f.at)
	}
	a.id = tracematch.Of(a.found[0].traceID)
	a.near = &span{s.first.Add(-a.window), s.last.Add(a.window)}
}

// shown returns the events to show, in the order of their times.
func (a *around) shown() []found {
	shown := slices.DeleteFunc(a.found, func(f found) bool { return !f.shown })
	slices.SortStableFunc(shown, func(x, y found) int { return x.at.Compare(y.at) })
	return shown
}
