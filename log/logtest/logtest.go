// Package logtest gives a test a logger, and the events that were written with
// it as values:
//
//	logger, events := logtest.New(t)
//	store := NewStore(logger)
//	store.Save(user)
//	if got := events.One("user saved").Value("user_id"); got != int64(42) {
//		t.Errorf("user_id %v, want 42", got)
//	}
//
// All events are shown in the output of the test, in the form for people.
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

// maxEventBytes is more than an event of a test has, so that none is cut.
const maxEventBytes = 1 << 20

// New returns a logger for what is tested, which writes events of all levels,
// and the Events that it wrote. Its namespace is "test". With the race detector,
// a call on an event after its Send fails the test and names its place.
func New(t testing.TB) (*log.Logger, *Events) {
	events := NewEvents(t)
	return log.New(events, log.Options{
		Namespace:     "test",
		Level:         log.LevelDebug,
		MaxEventBytes: maxEventBytes,
		OnError:       events.fail,
	}), events
}

// Events keeps events. It is an io.Writer, of one line for each call, for
// loggers with options of their own; make it with [NewEvents]. Any number of
// goroutines may use it at once.
//
// What is written after the test has ended, and its cleanups have run, is
// dropped: a goroutine that outlives a test must not make it fail.
type Events struct {
	t testing.TB

	mu    sync.Mutex
	all   []Event // guarded by mu
	ended bool    // guarded by mu: t must not be used any more
}

// NewEvents returns Events for a logger that the test makes itself:
//
//	events := logtest.NewEvents(t)
//	logger := log.New(events, log.Options{Redact: []string{"password"}})
//
// Every format but log.FormatHuman can be read back.
func NewEvents(t testing.TB) *Events {
	e := &Events{t: t}
	t.Cleanup(e.end)
	return e
}

// An Event is what was read back from a line.
type Event struct{ record.Record }

// Value returns the first field of data with that key: nil, bool, int64,
// float64, string, []any or map[string]any, as [record.Value.Any] has it. It is
// nil, too, when there is no such field. The fields of an error are not among
// them; they are in Errors[i].Data.
func (e Event) Value(key string) any {
	for _, f := range e.Data {
		if f.Key == key {
			return f.Value.Any()
		}
	}
	return nil
}

// All returns the events so far, in the order in which they were written. The
// slice is the caller's.
func (e *Events) All() []Event { return e.where(func(Event) bool { return true }) }

// Named returns those of All with that name.
func (e *Events) Named(event string) []Event {
	return e.where(func(have Event) bool { return have.Event == event })
}

// One returns the event with that name. If there is none, or more than one, it
// ends the test like t.Fatal, so it is for the goroutine of the test alone.
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

// Write keeps the event that a line holds, and shows it. A line that is none
// fails the test.
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

// fail fails the test because of a call on the logger.
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

// end keeps e from using t. The lock sees to it that nobody is about to.
func (e *Events) end() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ended = true
}
