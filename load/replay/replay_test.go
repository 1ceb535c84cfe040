package replay_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/load/replay"
)

// readAll returns all requests of a log.
func readAll(t *testing.T, l *replay.Log) (all []replay.Request) {
	t.Helper()
	for {
		r, err := l.Next()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
}

func open(t *testing.T, text string, o replay.Options) *replay.Log {
	t.Helper()
	o.Name = "a.log"
	l, err := replay.Open(strings.NewReader(text), o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

const weirLine = `{"created_at":"2026-11-21T09:30:15.9Z","namespace":"w","event":"http request completed","severity":3,` +
	`"http":{"status_code":200,"method":"GET","scheme":"http","host":"a.example","port":8080,"path":"/b%20c","query":"x=1&y",` +
	`"started_at":"2026-11-21T09:30:15.5Z","ended_at":"2026-11-21T09:30:15.9Z","duration":400000000}}`

func TestLinesOfEachFormatAreRead(t *testing.T) {
	for _, c := range []struct{ name, line, method, host, target string }{
		{"weir", weirLine, "GET", "a.example:8080", "/b%20c?x=1&y"},
		{"weir in LTSV", "time:2026-11-21T09:30:15.900000Z\tlevel:Info\tnamespace:w\tevent:http request completed\t" +
			"host:127.0.0.1:1\tmethod:HEAD\turi:/a?b=\\\\c\tscheme:https\tvhost:a.example\tport:443\tstatus:200\t" +
			"reqtime:0.400000\tstarted_at:2026-11-21T09:30:15.500000Z", "HEAD", "a.example", `/a?b=\c`},
		{"LTSV of another server", "time:[21/Nov/2026:09:30:15 +0000]\thost:1.2.3.4\tmethod:GET\turi:/x\tstatus:200",
			"GET", "", "/x"},
		{"nginx", `1.2.3.4 - bob [21/Nov/2026:09:30:15 +0000] "GET /a\x22b?c=\xE4 HTTP/1.1" 200 5 "-" "curl"`,
			"GET", "", `/a"b?c=%E4`},
		{"Apache", `::1 - - [21/Nov/2026:09:30:15 +0000] "OPTIONS /a\"b\\ HTTP/1.0" 200 -`, "OPTIONS", "", `/a"b\`},
		{"Apache with hosts", `a.example:443 ::1 - - [21/Nov/2026:09:30:15 +0000] "GET / HTTP/2.0" 200 5 "-" "x"`, "GET",
			"a.example", "/"},
		{"a request to a proxy", `::1 - - [21/Nov/2026:09:30:15 +0000] "GET http://b.example:81?q HTTP/1.1" 200 5`, "GET",
			"b.example:81", "/?q"},
		{"Caddy", `{"level":"info","ts":1763717415.9,"logger":"http.log.access","msg":"handled request","request":` +
			`{"remote_ip":"127.0.0.1","proto":"HTTP/1.1","method":"GET","host":"localhost:8080","uri":"/a?b","headers":{}},` +
			`"duration":0.4,"size":3,"status":200}`, "GET", "localhost:8080", "/a?b"},
		{"Caddy with texts", `{"ts":"2026-11-21T09:30:15.900Z","request":{"method":"GET","host":"h","uri":"/"},"duration":"400ms"}`,
			"GET", "h", "/"},
		{"bytes beyond ASCII, spaces and #", `1.1.1.1 - - [21/Nov/2026:09:30:15 +0000] "GET /ä b#c HTTP/1.1" 200 5`, "GET", "",
			"/%C3%A4%20b%23c"},
	} {
		got := readAll(t, open(t, "\n# a comment\n"+c.line+"\r\n", replay.Options{}))
		want := []replay.Request{{Method: c.method, Host: c.host, Target: c.target}}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, want %+v", c.name, got, want)
		}
	}
}

func TestRequestsComeInTheOrderInWhichTheyBegan(t *testing.T) {
	// Written when they ended; the first one has taken two seconds.
	const caddy = `{"ts":%v,"duration":%v,"request":{"method":"GET","uri":"/%d"}}` + "\n"
	text := fmt.Sprintf(caddy+caddy+caddy, 1001.0, 0.5, 2, 1002.5, 0.25, 3, 1002.75, 2.75, 1)
	got := readAll(t, open(t, text, replay.Options{}))
	var order []string
	for _, r := range got {
		order = append(order, fmt.Sprint(r.Target, " ", r.At))
	}
	if want := []string{"/1 0s", "/2 500ms", "/3 2.25s"}; !reflect.DeepEqual(order, want) {
		t.Errorf("got %q, want %q", order, want)
	}
}

func TestRequestsOfOneSecondAreSpreadOverIt(t *testing.T) {
	var text strings.Builder
	for _, second := range []int{10, 10, 10, 10, 12} {
		fmt.Fprintf(&text, "1.1.1.1 - - [21/Nov/2026:09:30:%d +0000] \"GET / HTTP/1.1\" 200 5\n", second)
	}
	var at []time.Duration
	for _, r := range readAll(t, open(t, text.String(), replay.Options{})) {
		at = append(at, r.At)
	}
	ms := time.Millisecond
	if want := []time.Duration{0, 250 * ms, 500 * ms, 750 * ms, 2000 * ms}; !reflect.DeepEqual(at, want) {
		t.Errorf("got %v, want %v", at, want)
	}
}

func TestUnsafeMethodsAreLeftOut(t *testing.T) {
	var text strings.Builder
	for _, method := range []string{"GET", "POST", "HEAD", "DELETE", "OPTIONS", "TRACE", "CONNECT"} {
		fmt.Fprintf(&text, "1.1.1.1 - - [21/Nov/2026:09:30:15 +0000] \"%s / HTTP/1.1\" 200 5\n", method)
	}
	for all, want := range map[bool]string{false: "GET HEAD OPTIONS", true: "GET POST HEAD DELETE OPTIONS TRACE"} {
		l := open(t, text.String(), replay.Options{AllMethods: all})
		var methods []string
		for _, r := range readAll(t, l) {
			methods = append(methods, r.Method)
		}
		if got := strings.Join(methods, " "); got != want {
			t.Errorf("all methods %v: got %s, want %s", all, got, want)
		}
		if c := l.Counts(); !all && c.Unsafe != 3 || c.Others != 1 || c.Lines != 7 {
			t.Errorf("all methods %v: got %+v", all, c)
		}
	}
}

func TestUnreadableLinesAreCountedAndTheFirstIsNamed(t *testing.T) {
	text := weirLine + "\n" + `{"event":"proxying request","http":{"method":"GET"}}` + "\n" +
		"garbage\n" + `{"event":` + "\n" + `1.1.1.1 - - [21/Nov/2026:09:30:15 +0000] "\x16\x03" 400 5` + "\n" +
		strings.Replace(weirLine, "x=1", "token=[redacted]", 1) + "\n"
	l := open(t, text, replay.Options{})
	if n := len(readAll(t, l)); n != 2 {
		t.Errorf("%d requests, want 2", n)
	}
	c := l.Counts()
	if c.Lines != 6 || c.Requests != 2 || c.Unreadable != 2 || c.Others != 2 || c.Redacted != 1 {
		t.Errorf("got %+v", c)
	}
	if want := "a.log:3: there is no time in brackets; a line is such as"; !strings.HasPrefix(c.FirstUnreadable, want) {
		t.Errorf("the first mistake is %q, want it to begin with %q", c.FirstUnreadable, want)
	}
}

func TestMistakesOfALineAreExplained(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{`1.1.1.1 - - [21/Nov/2026] "GET / HTTP/1.1" 200 5`, `"21/Nov/2026" is not a time such as`},
		{`1.1.1.1 - - [21/Nov/2026:09:30:15 +0000] GET / 200`, "there is no request in quotes"},
		{`1.1.1.1 - - [21/Nov/2026:09:30:15 +0000] "GET a HTTP/1.1" 200`, `"a" is not a path`},
		{`1.1.1.1 - - [21/Nov/2026:09:30:15 +0000] "G(T / HTTP/1.1" 200`, `"G(T" is not a method`},
		{`{"event":"http request completed","http":{"method":"GET","path":"/"}}`, "the event has no http.started_at"},
		{`{"ts":"yesterday","request":{"method":"GET","uri":"/"}}`, `ts is "yesterday"`},
		{`{"ts":1,"duration":true,"request":{"method":"GET","uri":"/"}}`, "duration is true"},
		{"time:x\tmethod:GET\turi:/", `"x" is not a time`},
		{"time:2026-11-21T09:30:15Z\turi:/", "the line has no method or no uri"},
		{strings.Replace(weirLine, `"http":`, `"truncated":["http.path"],"http":`, 1), "has shortened the path"},
		{strings.Repeat("x", 2<<20), "the line has more than 1048576 bytes"},
	} {
		_, err := replay.Open(strings.NewReader("\n"+c.line+"\n"), replay.Options{Name: "b.log"})
		if err == nil || !strings.Contains(err.Error(), "b.log:2: "+c.want) && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.80s: got %v, want b.log:2 and %q", c.line, err, c.want)
		}
	}
}

func TestLogsWithoutRequestsAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "c.log is empty",
		"# nothing\n":               "c.log has no completed request in 1 lines",
		`{"event":"a"}`:             "c.log has no completed request in 1 lines",
		"hello\n":                   "c.log has no request in a known format (JSON and LTSV of weir,",
		"\x1f\x8bnothing like that": "c.log: gzip: invalid header",
		`1.1.1.1 - - [21/Nov/2026:09:30:15 +0000] "POST / HTTP/1.1" 200`: "c.log has only requests of methods that change something (1)",
	} {
		if _, err := replay.Open(strings.NewReader(text), replay.Options{Name: "c.log"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}

func TestCompressedLogsAreRead(t *testing.T) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	io.WriteString(w, weirLine)
	w.Close()
	cut := b.Bytes()[:b.Len()-4]
	if got := readAll(t, open(t, b.String(), replay.Options{})); len(got) != 1 {
		t.Errorf("got %+v", got)
	}
	if _, err := replay.Open(bytes.NewReader(cut), replay.Options{Name: "d.gz"}); err == nil {
		t.Error("a file that was cut is accepted")
	}
}

// A generator writes a log without an end. Its requests began up to a second before their line.
type generator struct {
	n       int
	pending bytes.Buffer
}

func (g *generator) Read(b []byte) (int, error) {
	for g.pending.Len() < len(b) {
		ended := 1e9 + float64(g.n)/100
		fmt.Fprintf(&g.pending, `{"ts":%.3f,"duration":%.3f,"request":{"method":"GET","uri":"/%d"}}`+"\n", ended,
			rand.Float64(), g.n)
		g.n++
	}
	return g.pending.Read(b)
}

func TestLongLogsAreReadAsAStream(t *testing.T) {
	g := &generator{}
	l, err := replay.Open(g, replay.Options{Name: "e.log"})
	if err != nil {
		t.Fatal(err)
	}
	last := time.Duration(0)
	const n = 20_000
	for range n {
		r, err := l.Next()
		if err != nil || r.At < last {
			t.Fatalf("got %v after %v, and error %v", r.At, last, err)
		}
		last = r.At
	}
	if read := l.Counts().Lines; read > n+61*100+100 { // a minute at 100 per second
		t.Errorf("%d lines were read for %d requests", read, n)
	}
	if n := l.Counts().Displaced; n != 0 {
		t.Errorf("%d requests are late", n)
	}
}

func TestRequestsThatTookLongerThanTheWindowAreCounted(t *testing.T) {
	const caddy = `{"ts":%d,"duration":%d,"request":{"method":"GET","uri":"/%d"}}` + "\n"
	var text strings.Builder
	for i := range 200 {
		fmt.Fprintf(&text, caddy, 1000+i, 0, i)
	}
	fmt.Fprintf(&text, caddy, 1200, 190, 999)
	l := open(t, text.String(), replay.Options{})
	last, n := time.Duration(0), 0
	for _, r := range readAll(t, l) {
		if r.At < last {
			t.Errorf("%s at %v, after %v", r.Target, r.At, last)
		}
		last = r.At
		n++
	}
	if c := l.Counts(); n != 201 || c.Displaced != 1 {
		t.Errorf("%d requests, and %+v", n, c)
	}
}
