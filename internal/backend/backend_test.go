package backend_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirhq/weir/internal/backend"
	"github.com/weirhq/weir/internal/machine"
	"github.com/weirhq/weir/internal/testkit"
)

// serve starts a backend and returns its URL.
func serve(t *testing.T, o backend.Options) string {
	t.Helper()
	s := testkit.Serve(t, backend.Handler(o))
	return s.URL
}

func do(t *testing.T, method, url, body string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return testkit.Do(t, http.DefaultClient, req)
}

func TestResponsesFollowTheirOptions(t *testing.T) {
	header := http.Header{"Cache-Control": {"no-store"}, "Set-Cookie": {"a=1", "b=2"}}
	for _, c := range []struct {
		name    string
		options backend.Options
		method  string
		query   string
		status  int
		length  int64 // of the body; -1 for the text about the request
	}{
		{name: "the zero options", method: "GET", status: 200, length: -1},
		{name: "a size", options: backend.Options{Size: 1000}, method: "GET", status: 200, length: 1000},
		{name: "a size by query", method: "GET", query: "?size=70000", status: 200, length: 70000},
		{name: "a size by query before the option", options: backend.Options{Size: 5}, method: "POST", query: "?size=6",
			status: 200, length: 6},
		{name: "the text by query", options: backend.Options{Size: 5}, method: "GET", query: "?size=0",
			status: 200, length: -1},
		{name: "one byte", options: backend.Options{Size: 1}, method: "GET", status: 200, length: 1},
		{name: "a status", options: backend.Options{Status: 503, Size: 3}, method: "GET", status: 503, length: 3},
		{name: "a status by query", options: backend.Options{Status: 503, Size: 3}, method: "GET", query: "?status=404",
			status: 404, length: 3},
		{name: "a status without body", options: backend.Options{Size: 3}, method: "GET", query: "?status=204",
			status: 204},
		{name: "not modified", options: backend.Options{Size: 3}, method: "GET", query: "?status=304", status: 304},
		{name: "HEAD", options: backend.Options{Size: 3, Stall: time.Hour}, method: "HEAD", status: 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.options.Header = header
			resp, body := do(t, c.method, serve(t, c.options)+"/some/path"+c.query, "")
			if resp.StatusCode != c.status {
				t.Errorf("status %d, want %d", resp.StatusCode, c.status)
			}
			if c.length >= 0 && int64(len(body)) != c.length {
				t.Errorf("a body of %d bytes, want %d", len(body), c.length)
			}
			if first := c.method + " /some/path" + c.query + " HTTP/1.1\n"; c.length < 0 &&
				!strings.HasPrefix(body, first) {
				t.Errorf("body %q, want it to begin with %q", body, first)
			}
			for name, want := range header {
				if got := resp.Header[name]; strings.Join(got, ",") != strings.Join(want, ",") {
					t.Errorf("%s: %q, want %q", name, got, want)
				}
			}
		})
	}
}

func TestHeadHasTheLengthOfGet(t *testing.T) {
	resp, _ := do(t, "HEAD", serve(t, backend.Options{Size: 1 << 30}), "")
	if resp.ContentLength != 1<<30 {
		t.Errorf("Content-Length %d, want %d", resp.ContentLength, 1<<30)
	}
}

func TestResponseShowsTheRequest(t *testing.T) {
	url := serve(t, backend.Options{})
	_, body := do(t, "PUT", url+"/x?y=z", strings.Repeat("b", 100_000))
	for _, want := range []string{
		"PUT /x?y=z HTTP/1.1\n",
		"\nHost: " + strings.TrimPrefix(url, "http://") + "\n",
		"\nUser-Agent: Go-http-client/1.1\r\n",
		"\n(a body of 100000 bytes)\n",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("%q is not in %q", want, body)
		}
	}
}

func TestInvalidQueriesAreRejected(t *testing.T) {
	url := serve(t, backend.Options{})
	for _, query := range []string{
		"size=x", "size=-1", "size=1.5", "size=99999999999999", "size=99999999999999999999",
		"latency=5", "latency=-5ms", "burn=20", "burn=-1us", "stall=soon", "stall=-1s", "status=99", "status=199",
		"status=600", "status=ok",
	} {
		resp, body := do(t, "GET", url+"/?"+query, "")
		key, _, _ := strings.Cut(query, "=")
		if resp.StatusCode != 400 || !strings.Contains(body, key) {
			t.Errorf("?%s: %d %q, want 400 and a word on %s", query, resp.StatusCode, body, key)
		}
	}
}

// TestFillerRepeats reads a body across the boundaries of its blocks.
func TestFillerRepeats(t *testing.T) {
	const line = "The river runs through the weir, and the weir counts every drop.\n"
	const size = 3*512*len(line) + 10
	_, body := do(t, "GET", serve(t, backend.Options{Size: int64(size)}), "")
	if want := strings.Repeat(line, size/len(line)+1)[:size]; body != want {
		t.Errorf("the body of %d bytes is not the line over and over", len(body))
	}
}

// A timeline records when the parts of a response were written.
type timeline struct {
	began   time.Time
	header  http.Header
	headAt  time.Duration
	bytesAt map[time.Duration]int
}

func newTimeline() *timeline {
	return &timeline{began: time.Now(), header: http.Header{}, bytesAt: map[time.Duration]int{}}
}

func (l *timeline) Header() http.Header { return l.header }
func (l *timeline) WriteHeader(int)     { l.headAt = time.Since(l.began) }
func (l *timeline) Flush()              {}
func (l *timeline) Write(p []byte) (int, error) {
	l.bytesAt[time.Since(l.began)] += len(p)
	return len(p), nil
}

func TestLatencyAndStallDelayTheResponse(t *testing.T) {
	for _, c := range []struct {
		name           string
		options        backend.Options
		query          string
		latency, stall time.Duration
	}{
		{"neither", backend.Options{Size: 1001}, "", 0, 0},
		{"options", backend.Options{Size: 1001, Latency: time.Second, Stall: time.Minute}, "",
			time.Second, time.Minute},
		{"query", backend.Options{Size: 1001, Latency: time.Hour, Stall: time.Hour}, "?latency=20ms&stall=3s",
			20 * time.Millisecond, 3 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // in the bubble, time advances only while all goroutines wait
				l := newTimeline()
				backend.Handler(c.options).ServeHTTP(l, httptest.NewRequest("GET", "/"+c.query, nil))
				if l.headAt != c.latency {
					t.Errorf("the head was written after %v, want %v", l.headAt, c.latency)
				}
				want := map[time.Duration]int{c.latency: 1001}
				if c.stall > 0 {
					want = map[time.Duration]int{c.latency: 500, c.latency + c.stall: 501}
				}
				for at, n := range want {
					if l.bytesAt[at] != n {
						t.Errorf("bytes by time: %v, want %v", l.bytesAt, want)
					}
				}
			})
		})
	}
}

// TestDelayEndsWithTheClient checks that a delay of an hour ends when the client
// disconnects.
func TestDelayEndsWithTheClient(t *testing.T) {
	for _, query := range []string{"?latency=1h", "?stall=1h"} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			l := newTimeline()
			backend.Handler(backend.Options{Size: 100}).ServeHTTP(l, httptest.NewRequestWithContext(ctx,
				"GET", "/"+query, nil))
			if took := time.Since(l.began); took != time.Second {
				t.Errorf("%s: returned after %v, want %v", query, took, time.Second)
			}
		})
	}
}

// TestBodyIsReadBeforeTheResponse sends an incomplete body, and checks that the response
// reports its length.
func TestBodyIsReadBeforeTheResponse(t *testing.T) {
	body := io.MultiReader(bytes.NewReader(make([]byte, 300)), brokenReader{})
	w := httptest.NewRecorder()
	backend.Handler(backend.Options{}).ServeHTTP(w, httptest.NewRequest("POST", "/", body))
	if got := w.Body.String(); w.Code != 200 || !strings.Contains(got, "(a body of 300 bytes)") {
		t.Errorf("%d %q, want 200 and a body of 300 bytes", w.Code, got)
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestParseHeaderReadsNameAndValue(t *testing.T) {
	for _, c := range []struct{ line, name, value string }{
		{"Retry-After: 5", "Retry-After", "5"},
		{"X-Empty:", "X-Empty", ""},
		{"X-Colon: a:b", "X-Colon", "a:b"},
		{"x:\t y ", "x", "y"},
	} {
		name, value, err := backend.ParseHeader(c.line)
		if name != c.name || value != c.value || err != nil {
			t.Errorf("ParseHeader(%q) = %q, %q, %v; want %q, %q", c.line, name, value, err, c.name, c.value)
		}
	}
	for _, line := range []string{"", "Nonsense", ": x", "A B: x", "A : x", "Ä: x", "A: x\r\nB: y",
		"A\n: x", "A: \x7f"} {
		if name, value, err := backend.ParseHeader(line); err == nil {
			t.Errorf("ParseHeader(%q) = %q, %q, want an error", line, name, value)
		}
	}
}

// cost returns the CPU time of the thread for a response: the minimum of
// several, because the time of an interrupt is charged to the interrupted
// thread.
func cost(t *testing.T, h http.Handler, query string) time.Duration {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	least := time.Hour
	for range 20 {
		w, r := httptest.NewRecorder(), httptest.NewRequest("GET", "/"+query, nil)
		began := machine.ThreadCPU()
		h.ServeHTTP(w, r)
		least = min(least, machine.ThreadCPU()-began)
		if w.Code != 200 {
			t.Fatalf("answered %d %s", w.Code, w.Body)
		}
	}
	return least
}

// TestBurnUsesTheCPU measures with the thread's clock, which does not advance while the
// thread waits for a CPU.
func TestBurnUsesTheCPU(t *testing.T) {
	if machine.ThreadCPU() == 0 {
		t.Skip("needs a clock of a thread's CPU time")
	}
	h := backend.Handler(backend.Options{Burn: 2 * time.Millisecond})
	free := cost(t, h, "?burn=0s")
	for _, c := range []struct {
		query string
		want  time.Duration
	}{
		{"", 2 * time.Millisecond},
		{"?burn=200us", 200 * time.Microsecond},
		{"?burn=5ms", 5 * time.Millisecond},
	} {
		got := cost(t, h, c.query)
		if got < c.want || got > c.want+free+c.want/4 {
			t.Errorf("%q: a response costs %v, want %v and what it costs without, %v", c.query, got, c.want, free)
		}
	}
}

// TestBurnEndsWithTheClient sends a request whose client has already
// disconnected.
func TestBurnEndsWithTheClient(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w := httptest.NewRecorder()
	backend.Handler(backend.Options{Burn: time.Hour}).ServeHTTP(w, httptest.NewRequestWithContext(ctx, "GET", "/", nil))
	if w.Body.Len() > 0 {
		t.Errorf("wrote %q to a disconnected client", w.Body)
	}
}
