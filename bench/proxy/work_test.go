package proxy

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"
	"time"
)

func TestTryRefusesWrongResponses(t *testing.T) {
	w := Work{Response: 100}
	for name, c := range map[string]struct {
		status int
		body   string
	}{
		"status":      {500, body(100)},
		"length":      {200, body(99)},
		"wrong bytes": {200, strings.ToUpper(body(100))},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(c.status)
			fmt.Fprint(w, c.body)
		}))
		if err := w.try(t.Context(), server.URL); err == nil {
			t.Errorf("%s: got no error", name)
		}
		server.Close()
	}
}

// TestLongRequestsAreLong makes a request of a browser's length.
func TestLongRequestsAreLong(t *testing.T) {
	var got *http.Request
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		fmt.Fprint(w, body(bodySize))
	}))
	defer server.Close()
	if err := (Work{Long: true}).try(t.Context(), server.URL); err != nil {
		t.Fatal(err)
	}
	if len(got.URL.Path) != 160 {
		t.Errorf("the path has %d bytes, want 160", len(got.URL.Path))
	}
	for _, f := range browserFields {
		if got.Header.Get(f[0]) != f[1] {
			t.Errorf("%s is %q, want %q", f[0], got.Header.Get(f[0]), f[1])
		}
	}
}

// TestBackendChecksUploads sends the backend uploads that a proxy has changed.
func TestBackendChecksUploads(t *testing.T) {
	b := openBench(t)
	for name, c := range map[string]struct {
		path, body string
		want       int
	}{
		"all":         {"/uploads/65536", body(65536), 200},
		"checked":     {checkedPath + "/uploads/65536", body(65536), 200},
		"short":       {"/uploads/65536", body(65535), 400},
		"short, too":  {checkedPath + "/uploads/65536", body(65535), 400},
		"wrong bytes": {checkedPath + "/uploads/65536", body(65000) + strings.Repeat("x", 536), 400},
	} {
		res, err := http.Post("http://"+local(b.port)+c.path, "text/plain", strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != c.want {
			t.Errorf("%s: got status %d, want %d", name, res.StatusCode, c.want)
		}
	}
}

// TestPassRefusesWrongDoors runs passes with nginx configured to respond correctly while it starts, when each connection
// has one request, and wrongly later.
func TestPassRefusesWrongDoors(t *testing.T) {
	b := openBench(t)
	for name, c := range map[string]struct {
		work   Work
		server string // directives of its server
		want   string
	}{
		"short responses": {Work{Response: 16 << 10}, `if ($http_connection != close) { return 200 "short"; }`,
			"wrk read"},
		"refused uploads":    {Work{Upload: 64 << 10}, `if ($http_connection != close) { return 400; }`, "Non-2xx"},
		"closed connections": {Work{Idle: true}, `keepalive_requests 1;`, "closes the connection"},
	} {
		c.work.Connections, c.work.Log, c.work.Load = 4, Off, time.Second
		wrong := Door{Name: name, command: func(t Tools, s site) (command, error) {
			return nginx(t, s, "1", fmt.Sprintf(`access_log off;
				server { listen %s; %s location / { proxy_pass http://%s; } }`,
				local(s.port), c.server, local(s.upstream)))
		}}
		if _, err := b.Pass(t.Context(), wrong, c.work); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want an error with %q", name, err, c.want)
		}
	}
}

func TestParsePrivateAddsPages(t *testing.T) {
	const rollup = "55-7f ---p 00000000 00:00 0    [rollup]\nRss:  6808 kB\n" +
		"Private_Clean:   3 kB\nPrivate_Dirty:  164 kB\n"
	if got, err := parsePrivate([]byte(rollup)); err != nil || got != 167<<10 {
		t.Errorf("got %d, %v, want 167 KiB", got, err)
	}
	if got, err := parsePrivate([]byte("Rss: 6808 kB\n")); err == nil {
		t.Errorf("got %d without private memory, want an error", got)
	}
}

// openBench opens a bench until the end of the test, or skips the test.
func openBench(t *testing.T) *Bench {
	t.Helper()
	file, err := exec.LookPath("nginx")
	if err != nil {
		t.Skip("needs nginx: apt-get install nginx-light")
	}
	if _, err := exec.LookPath("wrk"); err != nil {
		t.Skip("needs wrk: apt-get install wrk")
	}
	b := &Bench{Tools: Tools{Nginx: file}, Dir: t.TempDir()}
	if err := b.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}
