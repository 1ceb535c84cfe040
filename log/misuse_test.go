package log_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirhq/weir/log"
)

// misuses has one call for each method of Event.
var misuses = map[string]func(log.Event){
	"Any":      func(e log.Event) { e.Any("stale", []int{1}) },
	"Array":    func(e log.Event) { e.Array("stale", func(e log.Event) { e.Int("", 1) }) },
	"At":       func(e log.Event) { e.At(time.Unix(0, 0)) },
	"Auth":     func(e log.Event) { e.Auth("stale", log.IdentityUser) },
	"Bool":     func(e log.Event) { e.Bool("stale", true) },
	"Bools":    func(e log.Event) { e.Bools("stale", []bool{true}) },
	"Bytes":    func(e log.Event) { e.Bytes("stale", []byte("stale")) },
	"Caller":   func(e log.Event) { e.Caller() },
	"Context":  func(e log.Event) { e.Context(context.WithValue(context.Background(), tenantKey{}, "stale")) },
	"Dur":      func(e log.Event) { e.Dur("stale", 1) },
	"Durs":     func(e log.Event) { e.Durs("stale", []time.Duration{1}) },
	"Err":      func(e log.Event) { e.Err(errors.New("stale")) },
	"Float32":  func(e log.Event) { e.Float32("stale", 1) },
	"Float64":  func(e log.Event) { e.Float64("stale", 1) },
	"Float64s": func(e log.Event) { e.Float64s("stale", []float64{1}) },
	"HTTP":     func(e log.Event) { e.HTTP(&log.HTTP{Method: "STALE"}) },
	"Hex":      func(e log.Event) { e.Hex("stale", []byte("stale")) },
	"Hold":     func(e log.Event) { e.Hold(new(log.Hold)) },
	"Int":      func(e log.Event) { e.Int("stale", 1) },
	"Int16":    func(e log.Event) { e.Int16("stale", 1) },
	"Int32":    func(e log.Event) { e.Int32("stale", 1) },
	"Int64":    func(e log.Event) { e.Int64("stale", 1) },
	"Int64s":   func(e log.Event) { e.Int64s("stale", []int64{1}) },
	"Int8":     func(e log.Event) { e.Int8("stale", 1) },
	"Ints":     func(e log.Event) { e.Ints("stale", []int{1}) },
	"Logger":   func(e log.Event) { e.Logger().Info("stale").Send() },
	"Object":   func(e log.Event) { e.Object("stale", func(e log.Event) { e.Int("stale", 1) }) },
	"Send":     func(e log.Event) { e.Send() },
	"SpanID":   func(e log.Event) { e.SpanID("stale") },
	"Stack":    func(e log.Event) { e.Stack() },
	"Str":      func(e log.Event) { e.Str("stale", "stale") },
	"Stringer": func(e log.Event) { e.Stringer("stale", instant) },
	"Strs":     func(e log.Event) { e.Strs("stale", []string{"stale"}) },
	"Time":     func(e log.Event) { e.Time("stale", instant) },
	"TraceID":  func(e log.Event) { e.TraceID("stale") },
	"URL":      func(e log.Event) { e.URL("stale", "stale") },
	"Uint":     func(e log.Event) { e.Uint("stale", 1) },
	"Uint16":   func(e log.Event) { e.Uint16("stale", 1) },
	"Uint32":   func(e log.Event) { e.Uint32("stale", 1) },
	"Uint64":   func(e log.Event) { e.Uint64("stale", 1) },
	"Uint64s":  func(e log.Event) { e.Uint64s("stale", []uint64{1}) },
	"Uint8":    func(e log.Event) { e.Uint8("stale", 1) },
}

func TestMisusesAreComplete(t *testing.T) {
	event := reflect.TypeFor[log.Event]()
	for i := range event.NumMethod() {
		m := event.Method(i)
		if misuses[m.Name] == nil {
			t.Errorf("no misuse of Event.%s", m.Name)
		}
	}
}

// TestEndedEventsChangeNoOther calls each method on ended events, at every
// stage of events that may have reused their state.
func TestEndedEventsChangeNoOther(t *testing.T) {
	inUTC(t)
	for _, format := range formats {
		want := programWith(format, func(log.Event) {})
		for name, misuse := range misuses {
			if got := programWith(format, misuse); !slices.Equal(got, want) {
				t.Errorf("%v, %s:\ngot  %q\nwant %q", format, name, got, want)
			}
		}
	}
}

// A keeper is an error that keeps its event, which is not allowed.
type keeper struct{ kept *log.Event }

func (keeper) Error() string { return "keeper" }

func (k keeper) MarshalLog(e log.Event) error {
	e.Str("field", "of an error")
	*k.kept = e
	return nil
}

// programWith returns the lines of a program that misuses ended events.
func programWith(format log.Format, misuse func(log.Event)) []string {
	var w lineWriter
	options := log.Options{Format: format, OnError: func(error) {}, Context: addTenant}
	logger, other := log.New(&w, options), log.New(&w, options)
	var inObject, inError log.Event
	ended := logger.Info("first").At(instant).
		Object("o", func(e log.Event) { inObject = e }).Err(keeper{&inError})
	ended.Send()
	misuseAll := func() {
		for _, e := range []log.Event{ended, inObject, inError} {
			misuse(e)
		}
	}
	misuseAll()
	logger.Info("second").At(instant).Send()

	third := other.Warn("third").At(instant)
	misuseAll()
	third.Str("a", "b").TraceID("id")
	misuseAll()
	third.Object("o", func(e log.Event) {
		misuseAll()
		e.Int("n", 1)
		misuseAll()
	})
	third.Err(errRefused)
	misuseAll()
	third.Send()

	with := logger.With().Str("c", "d")
	misuseAll()
	derived := with.Logger()
	misuse(with)
	fourth := derived.Error("fourth").At(instant)
	misuse(with)
	fourth.Send()
	return w.lines
}

// TestEndedEventsDisturbNoGoroutine misuses ended events in each goroutine while
// others log.
func TestEndedEventsDisturbNoGoroutine(t *testing.T) {
	calls := make([]func(log.Event), 0, len(misuses))
	for _, misuse := range misuses {
		calls = append(calls, misuse)
	}
	var all sync.WaitGroup
	for g := range 8 {
		all.Add(1)
		go func() {
			defer all.Done()
			var w lineWriter
			logger := log.New(&w, log.Options{OnError: func(error) {}})
			var ended [16]log.Event
			for i := range 2000 {
				e := logger.Info("event").At(instant)
				calls[(i+g)%len(calls)](ended[i*7%len(ended)])
				runtime.Gosched() // another goroutine may reuse the state of an ended event
				e.Int("i", i).Send()
				calls[i%len(calls)](ended[i*5%len(ended)])
				ended[i%len(ended)] = e
				want := fmt.Sprintf(`{"created_at":"2026-11-21T02:06:14.123456Z","namespace":"","event":"event"`+
					`,"severity":3,"data":{"i":%d}}`+"\n", i)
				if got := w.lines[len(w.lines)-1]; got != want || len(w.lines) != i+1 {
					t.Errorf("%d lines after event %d, got %s want %s", len(w.lines), i, got, want)
					return
				}
			}
		}()
	}
	all.Wait()
}

// TestRaceBuildReportsMisuse checks that a report has the places of the misuse
// and of Send.
func TestRaceBuildReportsMisuse(t *testing.T) {
	if !raceEnabled {
		t.Skip("without the race detector, calls on ended events are ignored without a report")
	}
	var reported []string
	e := log.New(io.Discard, log.Options{OnError: func(err error) { reported = append(reported, err.Error()) }}).
		Info("event")
	_, file, line, _ := runtime.Caller(0)
	e.Send()
	e.Int("rows", 3).Send()
	misused := fmt.Sprintf("log: an Event was used at %s:%d after it had ended at %s:%d", file, line+2, file, line+1)
	if want := []string{misused, misused}; !slices.Equal(reported, want) {
		t.Errorf("got  %q\nwant %q", reported, want)
	}

	with := log.New(io.Discard, log.Options{}).With()
	with.Logger()
	if got := stderrOf(t, func() { with.Str("a", "b") }); !strings.HasPrefix(got,
		"WARNING: log: an Event was used at "+file) {
		t.Errorf("without OnError: got %q on standard error", got)
	}
}

// stderrOf returns the output of run on standard error, which must fit into the
// buffer of a pipe.
func stderrOf(t *testing.T, run func()) string {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	before := os.Stderr
	os.Stderr = w
	run()
	os.Stderr = before
	w.Close()
	got, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(got)
}
