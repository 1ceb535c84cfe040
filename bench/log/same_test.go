package log

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
	"time"
)

// wantThree and wantTen are the values that every row's lines have to hold, written down by hand. created_at is
// checked apart.
var (
	wantThree = []string{
		`{"namespace":"front-door","event":"http request received","trace_id":"kQmzRzXbTdWvPqLs","severity":3,
			"http":{"status_code":0,"method":"GET","scheme":"http","host":"www.example.org","port":20000,
				"path":"/economy/inflationandpriceindices/bulletins/consumerpriceinflation/september2026","query":"page=2&filter=all",
				"started_at":"2026-11-21T09:30:15.123456789Z"}}`,
		`{"namespace":"front-door","event":"proxying request","trace_id":"kQmzRzXbTdWvPqLs","severity":3,
			"http":{"status_code":0,"method":"GET","scheme":"http","host":"www.example.org","port":20000,
				"path":"/economy/inflationandpriceindices/bulletins/consumerpriceinflation/september2026","query":"page=2&filter=all"},
			"data":{"destination":"http://127.0.0.1:8080","proxy_name":"babbage"}}`,
		`{"namespace":"front-door","event":"http request completed","trace_id":"kQmzRzXbTdWvPqLs","severity":3,
			"http":{"status_code":200,"method":"GET","scheme":"http","host":"www.example.org","port":20000,
				"path":"/economy/inflationandpriceindices/bulletins/consumerpriceinflation/september2026","query":"page=2&filter=all",
				"started_at":"2026-11-21T09:30:15.123456789Z","ended_at":"2026-11-21T09:30:15.128765432Z","duration":5308643,
				"response_content_length":48213}}`,
	}
	wantTen = []string{
		`{"namespace":"front-door","event":"dataset filtered","severity":3,"dataset":"cpih01","edition":"time-series",
			"version":"42","dimension":"geography","rows":58213,"attempt":3,"bytes":2147483648,"ratio":0.3125,"cached":true,
			"took":1532000}`,
	}
)

func TestEveryRowSaysTheSame(t *testing.T) {
	for _, c := range contenders {
		t.Run(c.name+" "+c.note, func(t *testing.T) {
			var out bytes.Buffer
			l := c.open(&out)
			start := time.Now()
			l.threeEvents(proxied)
			checkLines(t, c, out.Bytes(), wantThree, start)
			out.Reset()
			l.tenFields(ten)
			checkLines(t, c, out.Bytes(), wantTen, start)
			out.Reset()
			if l.disabled != nil {
				l.disabled()
			}
			if out.Len() != 0 {
				t.Errorf("an event below the level was written: %s", out.Bytes())
			}
		})
	}
}

func checkLines(t *testing.T, c contender, out []byte, want []string, start time.Time) {
	t.Helper()
	lines := bytes.SplitAfter(out, []byte("\n"))
	if len(lines) != len(want)+1 || len(lines[len(want)]) != 0 {
		t.Fatalf("got %d lines, want %d whole ones:\n%s", len(lines)-1, len(want), out)
	}
	for i, w := range want {
		got, expected := parse(t, lines[i]), parse(t, []byte(w))
		commonNames(got)
		if !c.bare {
			checkCreated(t, got["created_at"], start)
		}
		delete(got, "created_at")
		if !reflect.DeepEqual(got, expected) {
			t.Errorf("line %d:\n got  %v\n want %v", i, got, expected)
		}
	}
}

func parse(t *testing.T, line []byte) map[string]any {
	t.Helper()
	var event map[string]any
	if err := json.Unmarshal(line, &event); err != nil {
		t.Fatalf("not JSON: %v: %s", err, line)
	}
	return event
}

// commonNames undoes the freedoms that the rows have: another key for the time, the severity or the message, the
// severity as a word, and the ten fields at the top instead of in data.
func commonNames(event map[string]any) {
	for theirs, ours := range map[string]string{"time": "created_at", "msg": "event", "level": "severity"} {
		if v, ok := event[theirs]; ok {
			event[ours] = v
			delete(event, theirs)
		}
	}
	if word := event["severity"]; word == "info" || word == "INFO" {
		event["severity"] = 3.0
	}
	data, _ := event["data"].(map[string]any)
	if _, ok := data["dataset"]; !ok {
		return
	}
	delete(event, "data")
	for k, v := range data {
		event[k] = v
	}
}

// checkCreated wants an instant of this test's run, at least as precise as a millisecond.
func checkCreated(t *testing.T, value any, start time.Time) {
	t.Helper()
	text, _ := value.(string)
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Errorf("created_at: %v", err)
	}
	if at.Before(start.Add(-time.Millisecond)) || at.After(time.Now()) {
		t.Errorf("created_at is %v, want an instant since %v", at, start)
	}
}
