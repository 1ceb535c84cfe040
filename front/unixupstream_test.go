package front_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/internal/testkit"
)

// openUnix starts a server at a Unix socket.
func openUnix(t *testing.T, h http.HandlerFunc) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "app.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(h)
	s.Listener.Close()
	s.Listener = l
	s.Start()
	t.Cleanup(s.Close)
	return path
}

// showTarget responds with the target and the Host of a request, and its body.
func showTarget(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Target", r.Method+" "+r.RequestURI)
	w.Header().Set("X-Got-Host", r.Host)
	w.Header().Set("Location", "/login")
	body, _ := io.ReadAll(r.Body) // completely, because net/http's server stops reading when the response begins
	w.Write(body)
}

// TestUnixSocketServesRequests checks requests, uploads, events and metrics of a server at a Unix socket,
// with a base path.
func TestUnixSocketServesRequests(t *testing.T) {
	t.Parallel()
	url := "unix:" + openUnix(t, showTarget) + ":/app"
	d := openDoor(t, url)
	for _, size := range []int{0, 10, 100_000, 1 << 20} {
		body := strings.Repeat("x", size)
		resp, err := http.Post(d.url("/a?b=c"), "text/plain", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || string(got) != body || resp.Header.Get("X-Target") != "POST /app/a?b=c" ||
			resp.Header.Get("X-Got-Host") != d.addr {
			t.Errorf("%d bytes: %d bytes returned, %v, %v", size, len(got), err, resp.Header)
		}
	}
	if e := d.events(3)[1]; e.Data["destination"] != url {
		t.Errorf("the destination in the event is %v, want %q", e.Data["destination"], url)
	}
	series := `weir_upstream_duration_seconds_count{server="` + url + `",upstream="site"}`
	testkit.AwaitEqual(t, series, func() float64 { return d.metric(t, series) }, 4)
}

// awaitErrors waits until one failure of the upstream "site" with the kind was counted.
func (d *testDoor) awaitErrors(t *testing.T, kind string) {
	t.Helper()
	series := `weir_upstream_errors_total{kind="` + kind + `",upstream="site"}`
	testkit.AwaitEqual(t, series, func() float64 { return d.metric(t, series) }, 1)
}

// TestMissingUnixSocketGives502 checks the response while no process listens at a Unix socket.
func TestMissingUnixSocketGives502(t *testing.T) {
	t.Parallel()
	d := openDoor(t, "unix:"+filepath.Join(t.TempDir(), "none.sock"))
	resp, err := http.Get(d.url("/"))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != 502 {
		t.Errorf("status %d, want 502", resp.StatusCode)
	}
	d.awaitErrors(t, "refused")
}

// TestBasePathPrecedesTheTarget checks that the path of a server's URL is put before the paths of requests, and
// that a response is not changed.
func TestBasePathPrecedesTheTarget(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(showTarget))
	defer s.Close()
	d := openDoor(t, s.URL+"/app/v1", func(c *config.Config) {
		r := config.DefaultRoute("/old/{path...}", "site")
		r.Rewrite.StripPrefix = "/old"
		c.Routes = append(c.Routes, r)
	})
	for request, want := range map[string]string{
		"GET /":             "GET /app/v1/",
		"GET /a%2Fb/?c=/d":  "GET /app/v1/a%2Fb/?c=/d",
		"DELETE /old/b?c":   "DELETE /app/v1/b?c",
		"OPTIONS /":         "OPTIONS /app/v1/",
		"GET //double/path": "GET /app/v1//double/path",
	} {
		resp, _ := ask(t, d.addr, request+" HTTP/1.1\r\nHost: example.com\r\n\r\n")
		if got := resp.Header.Get("X-Target"); got != want {
			t.Errorf("%s reached the upstream as %q, want %q", request, got, want)
		}
		if got := resp.Header.Get("Location"); got != "/login" {
			t.Errorf("%s: Location %q", request, got)
		}
	}
}
