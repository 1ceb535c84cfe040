package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/testkit"
)

// The events of a proxied request.
const (
	received  = "http request received"
	proxying  = "proxying request"
	completed = "http request completed"
)

// event is a line of the log. It has every key that the format defines for a front
// door, and no other.
type event struct {
	CreatedAt time.Time `json:"created_at"`
	Namespace string    `json:"namespace"`
	Event     string    `json:"event"`
	TraceID   string    `json:"trace_id"`
	Severity  *int      `json:"severity"`
	HTTP      *struct {
		StatusCode            *int      `json:"status_code"`
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
		Message    string            `json:"message"`
		StackTrace []json.RawMessage `json:"stack_trace"`
		Data       map[string]any    `json:"data"`
	} `json:"errors"`

	line string
}

// status returns the status code, or -1 if there is none.
func (e event) status() int {
	if e.HTTP == nil || e.HTTP.StatusCode == nil {
		return -1
	}
	return *e.HTTP.StatusCode
}

// events waits until the process has written n lines to stdout, and returns them.
func (p *process) events(n int) []event {
	p.t.Helper()
	return eventsIn(p.t, p.stdout, n)
}

// totals is the event with the log's own counts. It is written periodically and at
// the end.
const totals = "log totals"

// eventsIn waits until a log has n complete lines, parses them and checks the
// rules for every event. The log's totals do not count.
func eventsIn(t *testing.T, file string, n int) []event {
	t.Helper()
	var log []byte
	testkit.Await(t, fmt.Sprintf("%d lines in the log", n), func() bool {
		log, _ = os.ReadFile(file) // the file may not exist yet
		return bytes.Count(log, []byte("\n"))-bytes.Count(log, []byte(totals)) >= n
	})
	var list []event
	for line := range strings.Lines(string(log)) {
		if e := parseEvent(t, line); e.Event != totals {
			list = append(list, e)
		}
	}
	if len(list) != n {
		t.Fatalf("%d lines in the log, want %d:\n%s", len(list), n, log)
	}
	return list
}

func parseEvent(t *testing.T, line string) event {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(line))
	dec.DisallowUnknownFields()
	e := event{line: line}
	if err := dec.Decode(&e); err != nil {
		t.Fatalf("%v in the line %q", err, line)
	}
	if e.CreatedAt.IsZero() || e.Namespace == "" || e.Event == "" || e.Severity == nil ||
		!strings.HasSuffix(line, "}\n") {
		t.Errorf("no whole event: %q", line)
	}
	return e
}

// awaitEvent waits for an event with this name and path.
func (p *process) awaitEvent(name, path string) event {
	p.t.Helper()
	var found event
	testkit.Await(p.t, fmt.Sprintf("%q for %s", name, path), func() bool {
		log, err := os.ReadFile(p.stdout)
		if err != nil {
			p.t.Fatal(err)
		}
		for line := range strings.Lines(string(log)) {
			if !strings.HasSuffix(line, "\n") {
				return false
			}
			if e := parseEvent(p.t, line); e.Event == name && e.HTTP != nil && e.HTTP.Path == path {
				found = e
				return true
			}
		}
		return false
	})
	return found
}

// keys returns the keys of a JSON object in order.
func keys(t *testing.T, object string) []string {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(object))
	if start, err := dec.Token(); err != nil || start != json.Delim('{') {
		t.Fatalf("%q is no object: %v", object, err)
	}
	var names []string
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, name.(string))
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			t.Fatal(err)
		}
	}
	return names
}

// member returns the text of one member of a JSON object.
func member(t *testing.T, object, name string) string {
	t.Helper()
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(object), &members); err != nil {
		t.Fatal(err)
	}
	return string(members[name])
}
