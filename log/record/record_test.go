package record_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/weirhq/weir/log/record"
)

const head = `{"created_at":"2026-11-21T09:30:15.128Z","namespace":"n","event":"e"`

// TestOddJSONIsParsed parses JSON that package log does not write, and checks that it
// is written in the usual form.
func TestOddJSONIsParsed(t *testing.T) {
	for _, c := range []struct{ name, line, want string }{
		{"white space and order", ` { "event" : "e" , "namespace":"n", "data": { "a" : [ 1 , 2.50 ], "b":"c d" }, "created_at":"2026-11-21T09:30:15.128Z"}` + "\r\n",
			head + `,"data":{"a":[1,2.50],"b":"c d"}}`},
		{"instants of other zones", `{"created_at":"2026-11-21T10:30:15.128000+01:00","event":"e","namespace":"n"}`, head + `}`},
		{"an instant that is none", `{"created_at":"yesterday","namespace":"n","event":"e"}`, `{"created_at":"yesterday","namespace":"n","event":"e"}`},
		{"unknown keys", head + `,"x":{"y":1},"severity":3,"http":{"z":[],"status_code":200},"auth":{"w":1}}`,
			head + `,"severity":3,"http":{"status_code":200,"z":[]},"auth":{"identity":"","identity_type":"","w":1},"x":{"y":1}}`},
		{"other types", head + `,"trace_id":5,"severity":"info","http":"x","data":[],"errors":["x"],"truncated":"x"}`,
			head + `,"trace_id":5,"severity":"info","http":"x","data":[],"errors":["x"],"truncated":"x"}`},
		{"other types inside", head + `,"http":{"status_code":"200","port":1.5,"duration":1e3,"path":null},"errors":[{"message":1,"stack_trace":[{"x":1}],"data":"d"}]}`,
			head + `,"http":{"status_code":0,"status_code":"200","port":1.5,"duration":1e3,"path":null},"errors":[{"message":"","message":1,"stack_trace":[{"x":1}],"data":"d"}]}`},
		{"keys twice", head + `,"event":"f","data":{"a":1,"a":2},"data":{"b":1}}`, head + `,"data":{"a":1,"a":2},"event":"f","data":{"b":1}}`},
		{"both shapes of errors", head + `,"error":{"error":"a","message":"b"},"errors":[{"message":"c","error":"d"}]}`,
			head + `,"errors":[{"message":"a","message":"b"},{"message":"c","error":"d"}]}`},
		{"error after errors", head + `,"errors":[{"message":"c"}],"error":{"error":"a"}}`, head + `,"errors":[{"message":"c"}],"error":{"error":"a"}}`},
		{"numbers as written", head + `,"data":{"a":1.0,"b":1E+2,"c":-0,"d":123456789012345678901234567890}}`,
			head + `,"data":{"a":1.0,"b":1E+2,"c":-0,"d":123456789012345678901234567890}}`},
		{"escapes", `{"created_at":"2026-11-21T09:30:15.128Z","namespace":"n","\u0065vent":"\u0065","data":{"\u003c":"\u003e\/\u001b\u202e` + "\x7f\u202e\xff" + `"}}`,
			head + `,"data":{"<":">/\u001b\u202e\u007f\u202e` + "\uFFFD" + `"}}`},
		{"truncated stays last", head + `,"truncated":["data.x"],"y":1}`, head + `,"y":1,"truncated":["data.x"]}`},
		{"nothing said", head + `,"trace_id":"","data":{},"errors":[],"truncated":[]}`, head + `}`},
	} {
		r := parse(t, c.line)
		check(t, c.name, string(r.AppendJSON(nil)), c.want+"\n")
	}
}

// TestOddLTSVIsParsed parses pairs that package log does not write.
func TestOddLTSVIsParsed(t *testing.T) {
	const head, jsonHead = "time:2026-11-21T09:30:15.128000Z\tnamespace:n\tevent:e", `{"created_at":"2026-11-21T09:30:15.128Z","namespace":"n","event":"e"`
	for _, c := range []struct{ name, line, want string }{
		{"order", "event:e\ta:b\tnamespace:n\ttime:2026-11-21T09:30:15.128Z", jsonHead + `,"data":{"a":"b"}}`},
		{"types", head + "\ta:1.50\tb:true\tc:null\td:[1,\"x\"]\te:{}\tf:x y\tg:01\th:[1, 2]\ti:\tj:NaN\tk:{\"l\":1}",
			jsonHead + `,"data":{"a":1.50,"b":true,"c":null,"d":[1,"x"],"e":{},"f":"x y","g":"01","h":"[1, 2]","i":"","j":"NaN","k":"{\"l\":1}"}}`},
		{"reserved keys", head + "\tdata.status:x\tdata.other:y\tstack:z", jsonHead + `,"data":{"status":"x","data.other":"y","stack":"z"}}`},
		{"other values", head + "\tstatus:x\tstatus:200\treqtime:-\tlevel:Loud\tport:1.5", jsonHead + `,"http":{"status_code":200},"data":{"status":"x","reqtime":"-","level":"Loud","port":1.5}}`},
		{"labels twice", head + "\tevent:f\tstatus:1\tstatus:2", jsonHead + `,"http":{"status_code":1},"data":{"event":"f","status":2}}`},
		{"durations", head + "\treqtime:1.5", jsonHead + `,"http":{"status_code":0,"duration":1500000000}}`},
		{"negative durations", head + "\treqtime:-0.000001", jsonHead + `,"http":{"status_code":0,"duration":-1000}}`},
		{"foreign backslashes", head + "\ta:C:\\dir\\u12\\uD800\\", jsonHead + `,"data":{"a":"C:\\dir\\u12\\uD800\\"}}`},
		{"escapes", head + `	a:\\n\n\t\r\u001b`, jsonHead + `,"data":{"a":"\\n\n\t\r\u001b"}}`},
		{"frames", head + "\terr:x\tk:1\tstack:a.f@/a b/c.go:3 a.(*T).g@/c@d:4.go:5\terr:y\tk:2",
			jsonHead + `,"errors":[{"message":"x","stack_trace":[{"file":"/a b/c.go","line":3,"function":"a.f"},{"file":"/c@d:4.go","line":5,"function":"a.(*T).g"}],"data":{"k":1}},{"message":"y","data":{"k":2}}]}`},
		{"no frames", head + "\terr:x\tstack:!ERROR: why", jsonHead + `,"errors":[{"message":"x","stack_trace":[{"file":"","line":0,"function":"!ERROR: why"}]}]}`},
		{"a frame that was cut", head + "\terr:x\tstack:a.f@/a.go:3 a.g@/b c", jsonHead + `,"errors":[{"message":"x","stack_trace":[{"file":"/a.go","line":3,"function":"a.f"},{"file":"","line":0,"function":"a.g@/b c"}]}]}`},
		{"invalid UTF-8", head + "\ta\xff:b\xff\xfe", jsonHead + `,"data":{"a` + "\uFFFD" + `":"b` + "\uFFFD\uFFFD" + `"}}`},
	} {
		r := parse(t, c.line+"\n")
		check(t, c.name, string(r.AppendJSON(nil)), c.want+"\n")
	}
}

func TestOtherLinesAreNoEvents(t *testing.T) {
	for line, want := range map[string]string{
		"":                            "not an event: neither a JSON object nor LTSV",
		"panic: runtime error":        `not an event: no text "event"`,
		"no colon\there":              "not an event: neither a JSON object nor LTSV",
		"[1]":                         "not an event: neither a JSON object nor LTSV",
		`{"a":1`:                      "not an event: no JSON from byte 6 on",
		`{"created_at":"x"}`:          `not an event: no text "event"`,
		`{"event":1}`:                 `not an event: no text "event"`,
		`{"event":"x"}`:               `not an event: no text "created_at"`,
		"time:x\tlevel:Info":          `not an event: no text "event"`,
		`{"event":"x"} {"event":"y"}`: "not an event: no JSON from byte 14 on",
	} {
		_, err := record.Parse([]byte(line))
		if got := fmt.Sprint(err); got != want {
			t.Errorf("%q: got %q want %q", line, got, want)
		}
	}
}

// TestParseKeepsNothing changes a line after it was parsed.
func TestParseKeepsNothing(t *testing.T) {
	line := []byte(head + `,"data":{"a":"b"}}`)
	r, err := record.Parse(line)
	if err != nil {
		t.Fatal(err)
	}
	want := string(r.AppendJSON(nil))
	for i := range line {
		line[i] = 'x'
	}
	check(t, "after the line has changed", string(r.AppendJSON(nil)), want)
}

func TestAppendHumanShowsEvents(t *testing.T) {
	berlin := time.FixedZone("", 3600)
	for _, c := range []struct {
		line string
		o    record.HumanOptions
		want string
	}{
		{head + `}`, record.HumanOptions{Location: berlin}, "10:30:15.128 -     e\n"},
		{head + `,"severity":2}`, record.HumanOptions{Location: time.UTC, Color: true}, "09:30:15.128 \x1b[33mWARN\x1b[0m  e\n"},
		{`{"created_at":"a \"day\"","event":"a \"b\" \\","data":{"c":"\"d\""},"errors":[{"message":"open \"C:\\x\"\u001b: \\u001b","stack_trace":[{"function":"f","file":"C:\\f.go","line":1}]}]}`,
			record.HumanOptions{}, `a "day" -     a "b" \ c="\"d\""` + "\n" + `    error: open "C:\x"\u001b: \u001b` + "\n" + `        f C:\f.go:1` + "\n"},
		{`{"created_at":"\u001b[2J","event":"\u001b[2J"}`, record.HumanOptions{}, `\u001b[2J -     \u001b[2J` + "\n"},
		{head + `,"http":{"status_code":0,"duration":-9223372036854775808}}`, record.HumanOptions{Location: time.UTC}, "09:30:15.128 -     e -9223372036s\n"},
	} {
		r := parse(t, c.line)
		check(t, c.line, string(r.AppendHuman(nil, c.o)), c.want)
	}
}

// TestAppendHumanColorsStatusAndKeys checks the colours of the status classes and of keys.
func TestAppendHumanColorsStatusAndKeys(t *testing.T) {
	const line = head + `,"trace_id":"kQmzRzXbTdWv","severity":3,"http":{"status_code":%d,"method":"GET"},` +
		`"data":{"a":{"b":"c d"}},"errors":[{"message":"m","data":{"e":1}}]}`
	const dim, end = "\x1b[2m", "\x1b[0m"
	for status, color := range map[int]string{
		101: "", 200: "\x1b[32m", 304: "\x1b[36m", 404: "\x1b[33m", 503: "\x1b[31m", 600: "",
	} {
		shown := fmt.Sprint(status)
		if color != "" {
			shown = color + shown + end
		}
		r := parse(t, fmt.Sprintf(line, status))
		check(t, shown, string(r.AppendHuman(nil, record.HumanOptions{Location: time.UTC, Color: true})),
			"09:30:15.128 \x1b[32mINFO\x1b[0m  e GET "+shown+" "+dim+"a.b="+end+`"c d" `+dim+"#kQmzRzXb"+end+"\n"+
				"    error: m "+dim+"e="+end+"1\n")
	}
}

func TestAppendPrintableEscapesControls(t *testing.T) {
	for line, want := range map[string]string{
		"plain \"text\" C:\\dir\tx":   "plain \"text\" C:\\dir\tx",
		"\x1b[31mred\x07\r\x7f\u009b": `\u001b[31mred\u0007\r\u007f\u009b`,
		"日本語 \u202e\xff":              "日本語 \\u202e\uFFFD",
	} {
		check(t, line, string(record.AppendPrintable(nil, []byte(line))), want)
	}
}

func TestSeveritiesHaveNames(t *testing.T) {
	for s, want := range map[record.Severity]string{record.SeverityNone: "", record.SeverityFatal: "Fatal", record.SeverityDebug: "Debug", 6: "", -1: ""} {
		if got := s.String(); got != want {
			t.Errorf("severity %d: got %q want %q", int(s), got, want)
		}
	}
}

func TestValuesBecomeGoValues(t *testing.T) {
	r := parse(t, head+`,"data":{"o":{"a":[1,2.5,"x\n",true,null],"a":9223372036854775808},"s":"x\n"}}`)
	o, s := r.Data[0].Value, r.Data[1].Value
	if got, want := o.Any(), any(map[string]any{"a": 9223372036854775808.0}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %#v want %#v", got, want)
	}
	if got, want := o.Fields()[0].Value.Any(), any([]any{int64(1), 2.5, "x\n", true, nil}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %#v want %#v", got, want)
	}
	check(t, "a text", s.Text(), "x\n")
	check(t, "the text of an object", record.Value(`{"a":1}`).Text(), `{"a":1}`)
	check(t, "a value of a text", string(record.StringValue("\x1b\"")), `"\u001b\""`)
	if got := s.Fields(); got != nil {
		t.Errorf("members of a text: got %v", got)
	}
}

func TestInstantsBecomeTimes(t *testing.T) {
	at, ok := record.Instant("2026-11-21T09:30:15.128Z").Time()
	if want := time.Date(2026, 11, 21, 9, 30, 15, 128e6, time.UTC); !ok || !at.Equal(want) {
		t.Errorf("got %v, %v want %v", at, ok, want)
	}
	if at, ok := record.Instant("yesterday").Time(); ok {
		t.Errorf("got %v for what is no instant", at)
	}
}

// FuzzParse parses any bytes. It compares events with encoding/json, writes
// them in each form and parses them again.
func FuzzParse(f *testing.F) {
	f.Add([]byte(head + `,"trace_id":"t","severity":1,"http":{"status_code":200,"started_at":"2026-11-21T09:30:15+01:00","duration":5},"auth":{"identity":"i"},"data":{"a":{"b":[1,{}]},"a":"\u2028"},"errors":[{"message":"m","stack_trace":[{"file":"f","line":1,"function":"g"}],"data":{}}],"truncated":["x"]}`))
	f.Add([]byte(head + `,"error":{"error":"m"},"errors":[],"event":"f"}`))
	f.Add([]byte("time:2026-11-21T09:30:15.128000Z\tlevel:Info\tevent:e\tnamespace:n\turi:/a?b\treqtime:0.001\tstatus:1\terr:m\tk:[1]\tstack:f@g:1 h@i j:2\ttruncated:a,b"))
	f.Add([]byte("time:\tevent:\ta:\\u202e\xff\\"))
	f.Add([]byte("{\"event\":\"\x1b\u009b\",\"created_at\":\"\\u001b\"}"))
	f.Fuzz(func(t *testing.T, line []byte) {
		if raw := rawControl(record.AppendPrintable(nil, line)); raw != "" {
			t.Errorf("%q as it is shown has %s", line, raw)
		}
		r, err := record.Parse(line)
		if err != nil {
			return
		}
		if json.Valid(line) {
			checkSame(t, line, r.AppendJSON(nil))
		}
		for _, names := range [][]string{{}, {"severity", "http.duration"}, {"data", "http.path"}, {"errors", "auth.identity", "truncated"}} {
			checkReader(t, line, &r, names)
		}
		asJSON := r.AppendJSON(nil)
		again := parse(t, string(asJSON))
		if !reflect.DeepEqual(again, r) {
			t.Errorf("%q:\ngot  %#v\nwant %#v", asJSON, again, r)
		}
		asLTSV := r.AppendLTSV(nil)
		again = parse(t, string(asLTSV))
		if second := again.AppendLTSV(nil); string(second) != string(settled(t, second)) {
			t.Errorf("LTSV read and written again: got %q want %q", settled(t, second), second)
		}
		for _, out := range [][]byte{asJSON, asLTSV, r.AppendHuman(nil, record.HumanOptions{Location: time.UTC})} {
			if raw := rawControl(out); raw != "" {
				t.Errorf("%q has %s", out, raw)
			}
		}
	})
}

// checkReader compares the Record of a Reader for some members with r, which
// Parse returned. It parses another line before, because the Reader uses its
// memory again.
func checkReader(t *testing.T, line []byte, r *record.Record, names []string) {
	t.Helper()
	reader := record.NewReader(names...)
	reader.Parse([]byte(head + `,"http":{"path":"/old","duration":7},"auth":{"identity":"old"},"data":{"old":1}}`))
	got, err := reader.Parse(line)
	if err != nil {
		t.Fatalf("%q: a Reader of %v: %v", line, names, err)
	}
	want := *r
	if len(got.Data) == 0 {
		got.Data = nil
	}
	if len(names) == 0 {
		if !reflect.DeepEqual(*got, want) {
			t.Errorf("%q: a Reader\ngot  %#v\nwant %#v", line, *got, want)
		}
		return
	}
	for _, name := range names {
		if g, w := member(got, name), member(&want, name); !reflect.DeepEqual(g, w) {
			t.Errorf("%q: a Reader of %v: %s: got %#v want %#v", line, names, name, g, w)
		}
	}
}

// member returns a member that checkReader compares, or nil if its object is
// missing.
func member(r *record.Record, name string) any {
	switch {
	case name == "severity":
		return r.Severity
	case name == "http.duration" && r.HTTP != nil:
		return r.HTTP.Duration
	case name == "http.path" && r.HTTP != nil:
		return r.HTTP.Path
	case name == "auth.identity" && r.Auth != nil:
		return r.Auth.Identity
	case name == "data":
		return r.Data
	case name == "errors":
		return r.Errors
	case name == "truncated":
		return r.Truncated
	}
	return nil
}

func settled(t *testing.T, line []byte) []byte {
	r := parse(t, string(line))
	return r.AppendLTSV(nil)
}

// checkSame compares a line with the line that was written from it, both parsed
// by encoding/json. It skips lines in which keys repeat or differ from the
// format's in case only, because encoding/json has other rules for them.
func checkSame(t *testing.T, line, written []byte) {
	t.Helper()
	if !json.Valid(written) {
		t.Fatalf("%q is no JSON", written)
	}
	var got, want map[string]any
	if json.Unmarshal(line, &want) != nil || json.Unmarshal(written, &got) != nil {
		return // for example a number out of range
	}
	for _, twice := range []string{"data", "event", "namespace"} {
		if strings.Count(string(line), twice)+strings.Count(string(line), `\`) > 1 {
			return
		}
	}
	for _, key := range []string{"data", "event", "namespace", "x"} {
		w, ok := want[key]
		if g := got[key]; ok && !reflect.DeepEqual(g, w) && fmt.Sprint(w) != "map[]" {
			t.Errorf("%q:\n%s: got %#v want %#v", line, key, g, w)
		}
	}
}

// rawControl describes the first character that must be escaped, or returns "".
func rawControl(out []byte) string {
	if !utf8.Valid(out) {
		return "invalid UTF-8"
	}
	const forbidden = "\u061C\u200E\u200F\u2028\u2029\u202A\u202B\u202C\u202D\u202E\u2066\u2067\u2068\u2069"
	for i, c := range string(out) {
		if c < ' ' && c != '\n' && c != '\t' || c > '~' && c < '\u00A0' || strings.ContainsRune(forbidden, c) {
			return fmt.Sprintf("%U at %d", c, i)
		}
	}
	return ""
}

var line = []byte(`{"created_at":"2026-11-21T09:30:15.128456789Z","namespace":"front-door","event":"http request completed","trace_id":"kQmzRzXbTdWv","severity":3,"http":{"status_code":200,"method":"GET","scheme":"http","host":"www.example.com","path":"/economy/inflationandpriceindices","query":"page=2","started_at":"2026-11-21T09:30:15.123148Z","ended_at":"2026-11-21T09:30:15.128456Z","duration":5308000,"response_content_length":51234,"route":"/{path...}","client":"192.0.2.7","protocol":"HTTP/1.1","user_agent":"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36"},"data":{"destination":"http://127.0.0.1:20001","rows":3,"user":{"name":"x","id":7}}}` + "\n")

func BenchmarkParse(b *testing.B) {
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := record.Parse(line); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReader(b *testing.B) {
	for _, names := range [][]string{nil, {"http.status_code", "http.duration"}, {"data"}} {
		b.Run(strings.Join(names, "+"), func(b *testing.B) {
			reader := record.NewReader(names...)
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := reader.Parse(line); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestReaderAllocatesNothing checks that a Reader does not allocate after its first line.
func TestReaderAllocatesNothing(t *testing.T) {
	reader := record.NewReader()
	if allocs := testing.AllocsPerRun(100, func() { reader.Parse(line) }); allocs > 0 {
		t.Errorf("%v allocations per line want 0", allocs)
	}
	if allocs := testing.AllocsPerRun(100, func() { reader.Nodes(line) }); allocs > 0 {
		t.Errorf("%v allocations per line of Nodes want 0", allocs)
	}
}

func BenchmarkAppendHuman(b *testing.B) {
	r, err := record.Parse(line)
	if err != nil {
		b.Fatal(err)
	}
	var dst []byte
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		dst = r.AppendHuman(dst[:0], record.HumanOptions{Location: time.UTC})
	}
}

func ExampleParse() {
	r, err := record.Parse([]byte(`{"created_at":"2026-11-21T09:30:15.128Z","namespace":"n","event":"imported","severity":3,"data":{"rows":3}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Event, r.Severity, r.Data[0].Key, r.Data[0].Value.Any())
	// Output: imported Info rows 3
}

func ExampleRecord_AppendHuman() {
	r, err := record.Parse([]byte(`{"created_at":"2026-11-21T09:30:15.128Z","namespace":"n","event":"imported","severity":3,"data":{"rows":3,"note":"two words"}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s", r.AppendHuman(nil, record.HumanOptions{Location: time.UTC}))
	// Output: 09:30:15.128 INFO  imported rows=3 note="two words"
}

func ExampleRecord_AppendLTSV() {
	r, err := record.Parse([]byte(`{"created_at":"2026-11-21T09:30:15.128Z","namespace":"n","event":"imported","severity":3,"data":{"rows":3}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%q", r.AppendLTSV(nil))
	// Output: "time:2026-11-21T09:30:15.128000Z\tlevel:Info\tnamespace:n\tevent:imported\trows:3\n"
}

// TestHostileLinesAreParsedInLinearTime parses lines of a megabyte that would take very long in a
// parser of quadratic time.
func TestHostileLinesAreParsedInLinearTime(t *testing.T) {
	const size = 1 << 20
	head := "time:x\tevent:e\terr:m\tstack:"
	for _, line := range []string{
		head + "f@" + strings.Repeat(":", size),
		head + "f@" + strings.Repeat(":1", size/2),
		head + strings.Repeat("f@g:1 ", size/6),
		head + strings.Repeat("@", size),
		"time:x\tevent:e" + strings.Repeat("\ta:", size/3),
		`{"event":"e","created_at":"x","data":{"` + strings.Repeat("k", 1020) + `":{` + strings.Repeat(`"a":1,`, 10_000) + `"a":1}}}`,
		`{"event":"e","created_at":"x","data":` + strings.Repeat(`{"k":`, 900) + `1` + strings.Repeat("}", 900) + `}`,
		`{"event":"e","created_at":"x"` + strings.Repeat(`,"event":"e"`, size/12) + `}`,
	} {
		r := parse(t, line)
		again := parse(t, string(r.AppendJSON(nil)))
		if !reflect.DeepEqual(again, r) {
			t.Errorf("%.60q is not read again as it was", line)
		}
		r.AppendLTSV(nil)
		r.AppendHuman(nil, record.HumanOptions{})
	}
}
