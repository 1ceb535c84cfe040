package front_test

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A logBook stores the lines that a front door writes.
type logBook struct {
	mu    sync.Mutex    // guards the fields below
	text  bytes.Buffer  // all written bytes
	calls int           // number of calls of Write
	fail  int           // one of this many calls fails; 0 for none
	wrote chan struct{} // closed by the next write
}

func newLogBook() *logBook { return &logBook{wrote: make(chan struct{})} }

// Write implements io.Writer.
func (l *logBook) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.wrote)
	l.wrote = make(chan struct{})
	if l.calls++; l.fail > 0 && l.calls%l.fail == 0 {
		return 0, syscall.EIO
	}
	return l.text.Write(p)
}

// failEvery makes one of every so many calls fail.
func (l *logBook) failEvery(calls int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fail = calls
}

func (l *logBook) size() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Len()
}

// An event is a decoded line.
type event struct {
	raw string

	CreatedAt time.Time `json:"created_at"`
	Namespace string    `json:"namespace"`
	Event     string    `json:"event"`
	TraceID   string    `json:"trace_id"`
	SpanID    string    `json:"span_id"`
	Severity  int       `json:"severity"`
	HTTP      struct {
		StatusCode            int       `json:"status_code"`
		Method                string    `json:"method"`
		Scheme                string    `json:"scheme"`
		Host                  string    `json:"host"`
		Port                  int       `json:"port"`
		Path                  string    `json:"path"`
		Query                 string    `json:"query"`
		StartedAt             time.Time `json:"started_at"`
		EndedAt               time.Time `json:"ended_at"`
		Duration              int64     `json:"duration"`
		ResponseContentLength int64     `json:"response_content_length"`
		Route                 string    `json:"route"`
		Client                string    `json:"client"`
		Protocol              string    `json:"protocol"`
		UserAgent             string    `json:"user_agent"`
		Referer               string    `json:"referer"`
		RequestContentLength  int64     `json:"request_content_length"`
	} `json:"http"`
	Data   map[string]any `json:"data"`
	Errors []struct {
		Message string `json:"message"`
		Stack   []struct {
			File     string `json:"file"`
			Line     int    `json:"line"`
			Function string `json:"function"`
		} `json:"stack_trace"`
	} `json:"errors"`
}

// events decodes all lines. Each must be exactly one event.
func (l *logBook) events(t testing.TB) []event {
	t.Helper()
	_, text := l.state()
	var events []event
	for line := range strings.Lines(text) {
		e := event{raw: line}
		dec := json.NewDecoder(strings.NewReader(line))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&e); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		if _, err := dec.Token(); err != io.EOF {
			t.Fatalf("more than an event in %q", line)
		}
		events = append(events, e)
	}
	return events
}

// wait waits for n events and returns them.
func (l *logBook) wait(t testing.TB, n int) []event {
	t.Helper()
	var events []event
	l.until(t, func() bool {
		events = l.events(t)
		return len(events) >= n
	})
	return events
}

// find waits for the first event for which meant returns true.
func (l *logBook) find(t testing.TB, meant func(event) bool) event {
	t.Helper()
	var found event
	l.until(t, func() bool {
		for _, e := range l.events(t) {
			if meant(e) {
				found = e
				return true
			}
		}
		return false
	})
	return found
}

func (l *logBook) until(t testing.TB, holds func() bool) {
	t.Helper()
	limit := time.After(testTimeout)
	for {
		wrote, _ := l.state() // before meant is called, so that no later write is missed
		if holds() {
			return
		}
		select {
		case <-wrote:
		case <-limit:
			_, text := l.state()
			t.Fatalf("waited in vain; the log is:\n%s", text)
		}
	}
}

// state returns the text so far, and a channel that the next write closes.
func (l *logBook) state() (wrote <-chan struct{}, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.wrote, l.text.String()
}

// keys returns the keys of the object at a place in an event, in their order.
func (e event) keys(t testing.TB, place ...string) []string {
	t.Helper()
	raw := json.RawMessage(e.raw)
	for _, key := range place {
		var object map[string]json.RawMessage
		if err := json.Unmarshal(raw, &object); err != nil {
			t.Fatal(err)
		}
		raw = object[key]
	}
	var keys []string
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.Token() // the opening brace
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, key.(string))
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			t.Fatal(err)
		}
	}
	return keys
}
