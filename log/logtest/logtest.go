// Package logtest gives a test a logger, and the events that it wrote as
// values:
//
//	logger, events := logtest.New(t)
//	store := NewStore(logger)
//	store.Save(user)
//	if got := events.One("user saved").Value("user_id"); got != int64(42) {
//		t.Errorf("user_id %v, want 42", got)
//	}
//
// The output of the test shows all events in the human format.
package logtest

import (
	"bytes"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/record"
)

// maxEventBytes is so large that no event is cut.
const maxEventBytes = 1 << 20

// New returns a logger for the code under test, which writes events of all
// levels, and the Events that it has written. Its namespace is "test". With the
// race detector, a call on an event after its Send fails the test and reports
// its place.
func New(t testing.TB) (*log.Logger, *Events) {
	events := NewEvents(t)
	return log.New(events, log.Options{
		Namespace:     "test",
		Level:         log.LevelDebug,
		MaxEventBytes: maxEventBytes,
		OnError:       events.fail,
	}), events
}

// Events collects events. It is an io.Writer of one line per call, for loggers
// with other options; make it with [NewEvents]. It is safe for concurrent use.
//
// Events written after the test and its cleanups have ended are dropped,
// because a goroutine that outlives a test must not make it fail.
type Events struct {
	t testing.TB

	mu    sync.Mutex
	all   []Event // guarded by mu
	ended bool    // guarded by mu; if true, t must not be used any more
}

// NewEvents returns Events for a logger that the test makes itself:
//
//	events := logtest.NewEvents(t)
//	logger := log.New(events, log.Options{Redact: []string{"password"}})
//
// It can read every format except log.FormatHuman.
func NewEvents(t testing.TB) *Events {
	e := &Events{t: t}
	t.Cleanup(e.end)
	return e
}

// An Event is a parsed line.
type Event struct{ record.Record }

// Value returns the first field of data with the key: nil, bool, int64,
// float64, string, []any or map[string]any, as [record.Value.Any] returns it.
// It returns nil if there is no such field. The fields of an error are in
// Errors[i].Data.
func (e Event) Value(key string) any {
	for _, f := range e.Data {
		if f.Key == key {
			return f.Value.Any()
		}
	}
	return nil
}

// All returns the events so far, in the order in which they were written. The
// caller may change the slice.
func (e *Events) All() []Event { return e.where(func(Event) bool { return true }) }

// Named returns the events with the given name.
func (e *Events) Named(event string) []Event {
	return e.where(func(have Event) bool { return have.Event == event })
}

// One returns the event with the given name. If there is none, or more than
// one, it ends the test with t.Fatal. So only the test's goroutine may call it.
func (e *Events) One(event string) Event {
	e.t.Helper()
	named := e.Named(event)
	if len(named) != 1 {
		var have []string
		for _, one := range e.All() {
			have = append(have, one.Event)
		}
		e.t.Fatalf("%d events %q, want one; there were: %s", len(named), event, strings.Join(have, ", "))
	}
	return named[0]
}

func (e *Events) where(wanted func(Event) bool) []Event {
	e.mu.Lock()
	defer e.mu.Unlock()
	var found []Event
	for _, one := range e.all {
		if wanted(one) {
			found = append(found, one)
		}
	}
	return found
}

// Write parses a line, keeps its event and shows it. An invalid line fails the
// test.
func (e *Events) Write(line []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ended {
		return len(line), nil
	}
	r, err := record.Parse(line)
	if err != nil {
		e.t.Errorf("logged: %v: %q", err, line)
		return len(line), nil
	}
	e.all = append(e.all, Event{r})
	return len(line), e.show(r.AppendHuman(nil, record.HumanOptions{}))
}

// fail makes the test fail with an error of the logger.
func (e *Events) fail(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.ended {
		e.t.Error(err)
	}
}

// show writes text to the test's output. Before Go 1.25 a test has no Output,
// and Log adds the position of this line.
func (e *Events) show(text []byte) error {
	t, ok := e.t.(interface{ Output() io.Writer })
	if !ok {
		e.t.Logf("%s", bytes.TrimSuffix(text, []byte("\n")))
		return nil
	}
	_, err := t.Output().Write(text)
	return err
}

// end stops the use of t. The lock waits for the calls that use it now.
func (e *Events) end() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ended = true
}
