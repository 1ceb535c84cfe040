package log

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// want holds the values that every row of a case must write, defined by hand. created_at is checked separately.
var want = map[string][]string{
	ThreeEvents: wantThree,
	LTSV:        wantThree,
	Onslog:      wantThree,
	Journal:     wantJournal(),
	TenFields:   {wantTen},
	Carried:     {wantTen},
	Slog:        {wantTen},
	Static:      {`{"namespace":"front-door","event":"dataset filtered","severity":3}`},
	Disabled:    {},
	Asked:       {},
	Escaped: {
		`{"namespace":"front-door","event":"search refused","severity":3,
			"agent":"Mozilla/5.0 (\"compatible\"; Über-Bot/2.1; +https://example.org/bot)",
			"query":"q=caf\ufffd+au+lait&city=M\ufffdnchen",
			"title":"消費者物価指数 – Verbraucherpreisindex für September",
			"lines":"first line\r\n\tsecond line, indented\n",
			"markup":"<a href=\"/economy?page=2&filter=all\" title=\"it's here\">",
			"file":"C:\\reports\\2026\\november.csv"}`,
	},
	ErrorStack: {`{"namespace":"front-door","event":"could not render page","severity":1}`},
}

var (
	wantThree = []string{
		`{"namespace":"front-door","event":"http request received","trace_id":"kQmzRzXbTdWvPqLs","severity":3,
			"http":{"status_code":0,"method":"GET","scheme":"http","host":"www.example.org","port":20000,
				"path":"/economy/inflationandpriceindices/bulletins/consumerpriceinflation/september2026","query":"page=2&filter=all",
				"started_at":"2026-11-21T09:30:15.123456789Z"}}`,
		`{"namespace":"front-door","event":"proxying request","trace_id":"kQmzRzXbTdWvPqLs","severity":3,
			"http":{"status_code":0,"method":"GET","scheme":"http","host":"www.example.org","port":20000,
				"path":"/economy/inflationandpriceindices/bulletins/consumerpriceinflation/september2026","query":"page=2&filter=all"},
			"destination":"http://127.0.0.1:8080","proxy_name":"babbage"}`,
		`{"namespace":"front-door","event":"http request completed","trace_id":"kQmzRzXbTdWvPqLs","severity":3,
			"http":{"status_code":200,"method":"GET","scheme":"http","host":"www.example.org","port":20000,
				"path":"/economy/inflationandpriceindices/bulletins/consumerpriceinflation/september2026","query":"page=2&filter=all",
				"started_at":"2026-11-21T09:30:15.123456789Z","ended_at":"2026-11-21T09:30:15.128765432Z","duration":5308643,
				"response_content_length":48213}}`,
	}
	wantTen = `{"namespace":"front-door","event":"dataset filtered","severity":3,"dataset":"cpih01","edition":"time-series",
		"version":"42","dimension":"geography","rows":58213,"attempt":3,"bytes":2147483648,"ratio":0.3125,"cached":true,
		"took":1532000}`

	// wantLTSV holds the expected lines of the first three cases without their times. LTSV has microseconds.
	wantLTSV = []string{
		"level:Info\tnamespace:front-door\tevent:http request received\ttrace_id:kQmzRzXbTdWvPqLs\tmethod:GET\t" +
			"uri:/economy/inflationandpriceindices/bulletins/consumerpriceinflation/september2026?page=2&filter=all\t" +
			"scheme:http\tvhost:www.example.org\tport:20000\tstatus:0\tstarted_at:2026-11-21T09:30:15.123456Z\n",
		"level:Info\tnamespace:front-door\tevent:proxying request\ttrace_id:kQmzRzXbTdWvPqLs\tmethod:GET\t" +
			"uri:/economy/inflationandpriceindices/bulletins/consumerpriceinflation/september2026?page=2&filter=all\t" +
			"scheme:http\tvhost:www.example.org\tport:20000\tstatus:0\tdestination:http://127.0.0.1:8080\tproxy_name:babbage\n",
		"level:Info\tnamespace:front-door\tevent:http request completed\ttrace_id:kQmzRzXbTdWvPqLs\tmethod:GET\t" +
			"uri:/economy/inflationandpriceindices/bulletins/consumerpriceinflation/september2026?page=2&filter=all\t" +
			"scheme:http\tvhost:www.example.org\tport:20000\tstatus:200\tsize:48213\treqtime:0.005308\t" +
			"started_at:2026-11-21T09:30:15.123456Z\tended_at:2026-11-21T09:30:15.128765Z\n",
	}
)

// wantJournal is wantThree with the data of Journal.
func wantJournal() []string {
	var lines []string
	for _, line := range wantThree {
		line = strings.Replace(line, proxied.Path, longPaths[0], 1)
		lines = append(lines, strings.Replace(line, `"http://127.0.0.1:8080"`, `{"Scheme":"http","Opaque":"","User":null,
			"Host":"127.0.0.1:8080","Path":"`+longPaths[0]+`","RawPath":"","OmitHost":false,"ForceQuery":false,
			"RawQuery":"page=2&filter=all","Fragment":"","RawFragment":""}`, 1))
	}
	return lines
}

func TestEveryRowSaysTheSame(t *testing.T) {
	for _, w := range works() {
		for _, r := range w.rows {
			t.Run(w.name+" by "+r.name+" "+r.note, func(t *testing.T) {
				var out bytes.Buffer
				do := r.open(&out)
				start := time.Now()
				do(1, proxied)
				checkLines(t, w, r, out.Bytes(), start)
			})
		}
	}
}

func checkLines(t *testing.T, w work, r row, out []byte, start time.Time) {
	t.Helper()
	want := want[w.name]
	lines := bytes.SplitAfter(out, []byte("\n"))
	if len(lines) != len(want)+1 || len(lines[len(want)]) != 0 {
		t.Fatalf("got %d lines, want %d whole ones:\n%s", len(lines)-1, len(want), out)
	}
	if valid := utf8.Valid(out); valid == r.invalid && !r.bare {
		t.Errorf("valid UTF-8 is %v, and the row says %v:\n%s", valid, !r.invalid, out)
	}
	for i, w := range want {
		if time, rest, ok := cutTime(lines[i]); ok {
			if checkCreated(t, time, start); rest != wantLTSV[i] {
				t.Errorf("line %d:\n got  %s want %s", i, rest, wantLTSV[i])
			}
			continue
		}
		got := parse(t, lines[i])
		commonNames(got)
		if !r.bare {
			checkCreated(t, got["created_at"], start)
		}
		delete(got, "created_at")
		if expected := parse(t, []byte(w)); !reflect.DeepEqual(got, expected) {
			t.Errorf("line %d:\n got  %v\n want %v", i, got, expected)
		}
	}
}

// TestEveryStackSaysTheSame checks that all stacks contain the same functions and lines in the same order. Their
// formats differ.
func TestEveryStackSaysTheSame(t *testing.T) {
	err := failure()
	for _, r := range stackRows() {
		var out bytes.Buffer
		r.open(&out)(1, proxied)
		rest := out.String()
		if !strings.Contains(rest, err.text) {
			t.Errorf("%s (%s) lacks the message: %s", r.name, r.note, rest)
		}
		n := 0
		for f := range err.frames() {
			n++
			for _, part := range inOrder(f.Function, strconv.Itoa(f.Line), rest) {
				_, after, found := strings.Cut(rest, part)
				if !found {
					t.Fatalf("%s (%s) lacks %q, or has it elsewhere, in\n%s", r.name, r.note, part, out.String())
				}
				rest = after
			}
		}
		if n != 8 {
			t.Errorf("the error has %d frames, want 8", n)
		}
	}
}

// inOrder returns the two parts in the order of their first occurrence in text.
func inOrder(a, b, text string) []string {
	if strings.Index(text, b) < strings.Index(text, a) {
		return []string{b, a}
	}
	return []string{a, b}
}

// TestCasesRunRepeatedly checks that a Case can run repeatedly, with another writer than the test's.
func TestCasesRunRepeatedly(t *testing.T) {
	for _, c := range Cases() {
		for _, r := range c.Rows {
			r.Run(2)
		}
	}
}

// cutTime removes the first pair of an LTSV line.
func cutTime(line []byte) (time, rest string, ok bool) {
	text, ok := strings.CutPrefix(string(line), "time:")
	if !ok {
		return "", "", false
	}
	return strings.Cut(text, "\t")
}

func parse(t *testing.T, line []byte) map[string]any {
	t.Helper()
	var event map[string]any
	if err := json.Unmarshal(line, &event); err != nil {
		t.Fatalf("not JSON: %v: %s", err, line)
	}
	return event
}

// commonNames removes the differences that rows may have: the keys of the time, the severity and the message, a
// severity as a word, fields at the top level or in data, and the form of an error, which is checked separately.
func commonNames(event map[string]any) {
	for theirs, ours := range map[string]string{"time": "created_at", "msg": "event", "level": "severity"} {
		if v, ok := event[theirs]; ok {
			event[ours] = v
			delete(event, theirs)
		}
	}
	if word, ok := event["severity"].(string); ok {
		event["severity"] = map[string]float64{"info": 3, "error": 1}[strings.ToLower(word)]
	}
	data, _ := event["data"].(map[string]any)
	delete(event, "data")
	for k, v := range data {
		event[k] = v
	}
	for _, key := range []string{"errors", "error", "stack", "errorVerbose"} {
		delete(event, key)
	}
}

// checkCreated checks that value is a time during this test's run, precise to at least a millisecond, or the time of
// the request.
func checkCreated(t *testing.T, value any, start time.Time) {
	t.Helper()
	text, _ := value.(string)
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Errorf("created_at: %v", err)
	}
	for _, known := range []time.Time{proxied.StartedAt, proxied.EndedAt} {
		if at.Equal(known) || at.Equal(known.Truncate(time.Microsecond)) {
			return
		}
	}
	if at.Before(start.Add(-time.Millisecond)) || at.After(time.Now()) {
		t.Errorf("created_at is %v, want an instant since %v", at, start)
	}
}
