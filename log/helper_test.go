package log_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/weirhq/weir/log"
)

var instant = time.Date(2026, 11, 21, 2, 6, 14, 123456000, time.UTC)

// long is true if the tests use their long sizes, which take minutes: every
// code point, values of 10 MiB, 20,000 lines, 10,000 secrets.
var long = os.Getenv("WEIR_LONG") != ""

// sized returns the short or the long size of a test.
func sized[T any](short, ifLong T) T {
	if long {
		return ifLong
	}
	return short
}

// lineOf returns the line of one event, at a fixed time.
func lineOf(t testing.TB, add func(log.Event) log.Event) string {
	t.Helper()
	return lineWith(t, log.Options{Namespace: "test"}, add)
}

func lineWith(t testing.TB, o log.Options, add func(log.Event) log.Event) string {
	t.Helper()
	var w lineWriter
	o.OnError = func(err error) { t.Errorf("OnError: %v", err) }
	add(log.New(&w, o).Info("event").At(instant)).Send()
	if len(w.lines) != 1 {
		t.Fatalf("%d calls of Write, want 1", len(w.lines))
	}
	return w.lines[0]
}

// A lineWriter keeps the bytes of each Write.
type lineWriter struct{ lines []string }

func (w *lineWriter) Write(p []byte) (int, error) {
	w.lines = append(w.lines, string(p))
	return len(p), nil
}

// dataOf returns the fields of a line, decoded by encoding/json.
func dataOf(t testing.TB, line string) map[string]any {
	t.Helper()
	var event struct{ Data map[string]any }
	if err := json.Unmarshal([]byte(line), &event); err != nil {
		t.Fatalf("%v in %s", err, line)
	}
	return event.Data
}

// plainJSON returns the JSON of v, encoded by encoding/json with
// SetEscapeHTML(false).
func plainJSON(t testing.TB, v any) string {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
