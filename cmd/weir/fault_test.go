package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/testkit"
)

// TestKilledBackendCutsTheResponse kills the backend in the middle of a response.
func TestKilledBackendCutsTheResponse(t *testing.T) {
	t.Parallel()
	const half = 1 << 20
	b := start(t, "backend", "--listen", "127.0.0.1:0", "--size", fmt.Sprint(2*half), "--stall", "1h")
	p := door(t, allTo(b.url()))
	c := client(t)
	resp, err := c.Get(p.url() + "/cut")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if n, err := io.CopyN(io.Discard, resp.Body, half); err != nil {
		t.Fatalf("the first half: %d bytes, %v", n, err)
	}
	b.signal(syscall.SIGKILL)
	if n, err := io.Copy(io.Discard, resp.Body); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("the second half: %d bytes, %v; want a response that is visibly broken", n, err)
	}
	<-b.exited

	e := p.awaitEvent(completed, "/cut")
	if e.status() != 200 || e.HTTP.ResponseContentLength != half || e.Data["cut"] != true || *e.Severity != 1 {
		t.Errorf("want severity 1, status 200, %d bytes and cut:\n%s", half, e.line)
	}
	if kind := e.Data["failure"]; kind != "truncated" && kind != "reset" {
		t.Errorf("failure %v, want truncated or reset:\n%s", kind, e.line)
	}
	if len(e.Errors) != 1 || !strings.Contains(e.Errors[0].Message, strings.TrimPrefix(b.url(), "http://")) {
		t.Errorf("the error does not name the server:\n%s", e.line)
	}

	a := get(t, c, p.url()+"/next")
	if a.StatusCode != 502 {
		t.Errorf("the next request: %s, want 502", a.Status)
	}
	if e := p.awaitEvent(completed, "/next"); e.status() != 502 || e.Data["failure"] != "refused" {
		t.Errorf("want status 502 and the failure refused:\n%s", e.line)
	}
	if n := metric(t, p.admin(), "weir_upstream_errors_total", `upstream="site"`); n != 2 {
		t.Errorf("weir_upstream_errors_total = %v, want 2", n)
	}
	p.alive()
}

// An endless upstream starts a response, or does not, and then waits until its
// client closes the connection.
type endless struct {
	*httptest.Server
	reached chan struct{} // receives a value for each request
	left    chan struct{} // receives a value for each closed connection
}

func newEndless(t *testing.T) *endless {
	t.Helper()
	u := &endless{reached: make(chan struct{}, 100), left: make(chan struct{}, 100)}
	u.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/whole":
			return
		case "/upload":
			io.ReadFull(r.Body, make([]byte, len(halfUpload)))
		case "/middle":
			io.WriteString(w, firstLine)
			http.NewResponseController(w).Flush()
		}
		u.reached <- struct{}{}
		io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
		u.left <- struct{}{}
	}))
	t.Cleanup(u.Close)
	return u
}

const firstLine = "the first line\n"

// halfUpload is the part of an upload that is sent.
var halfUpload = strings.Repeat("half of it\n", 10_000)

// TestLostClientEndsItsRequest closes the client's connection in the middle of an upload, and
// before and in the middle of a response that the upstream would never end.
func TestLostClientEndsItsRequest(t *testing.T) {
	t.Parallel()
	const n = 20
	for _, c := range []struct {
		path    string
		status  int
		began   bool
		bytes   int64
		failure string
	}{
		{"/upload", 499, false, 0, "client_gone"},
		{"/before", 499, false, 0, "client_gone"},
		{"/middle", 200, true, int64(len(firstLine)), "client_gone"},
	} {
		t.Run(c.path[1:], func(t *testing.T) {
			t.Parallel()
			u := newEndless(t)
			p := door(t, allTo(u.URL))
			get(t, client(t), p.url()+"/whole")
			before := testkit.Descriptors(t, p.cmd.Process.Pid)
			for range n {
				leave(t, p.url(), c.path, c.began, u)
			}
			for _, e := range p.events(3 * (n + 1)) {
				if e.Event != completed || e.HTTP.Path != c.path {
					continue
				}
				if e.status() != c.status || e.HTTP.ResponseContentLength != c.bytes ||
					e.Data["failure"] != c.failure ||
					e.Data["cut"] != c.began || *e.Severity != 2 {
					t.Errorf("want severity 2, status %d, %d bytes, failure %s, cut %v:\n%s", c.status, c.bytes,
						c.failure, c.began, e.line)
				}
			}
			if got := metric(t, p.admin(), "weir_upstream_errors_total"); got != 0 {
				t.Errorf("weir_upstream_errors_total = %v, want 0: the upstream did nothing wrong", got)
			}
			testkit.AwaitEqual(t, "no request in flight",
				func() float64 { return metric(t, p.admin(), "weir_requests_in_flight") }, 0)
			testkit.Await(t, fmt.Sprintf("%d open files or less", before), func() bool { return testkit.Descriptors(t, p.cmd.Process.Pid) <= before })
		})
	}
}

// leave sends a request and closes the connection when the upstream has the
// request and, if there is a response, its first line has arrived. It returns when
// the upstream has seen its own connection closed.
func leave(t *testing.T, url, path string, begins bool, u *endless) {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(patience))
	if path == "/upload" {
		fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: test\r\nContent-Length: %d\r\n\r\n%s", path,
			2*len(halfUpload), halfUpload)
	} else {
		fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: test\r\n\r\n", path)
	}
	testkit.Receive(t, "the request at the upstream", u.reached)
	for r := bufio.NewReader(c); begins; {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		begins = line != firstLine
	}
	c.Close()
	testkit.Receive(t, "the end of the upstream's connection", u.left)
}

// TestReloadReplacesTheRoutes changes the routes of a running process, and then makes the file
// invalid.
func TestReloadReplacesTheRoutes(t *testing.T) {
	t.Parallel()
	old := start(t, "backend", "--listen", "127.0.0.1:0", "--header", "X-Answered-By: old")
	young := start(t, "backend", "--listen", "127.0.0.1:0", "--header", "X-Answered-By: new")
	file := configFile(t, allTo(old.url()))
	p := start(t, "serve", "--config", file)
	c := client(t)
	answeredBy := func(want string) {
		t.Helper()
		if a := get(t, c, p.url()+"/"); a.StatusCode != 200 || a.Header.Get("X-Answered-By") != want {
			t.Errorf("%s by %q, want 200 by %q", a.Status, a.Header.Get("X-Answered-By"), want)
		}
	}
	p.url()
	answeredBy("old")

	writeConfig(t, file, "engine: goroutines\n"+allTo(young.url()))
	p.signal(syscall.SIGHUP)
	p.says("weir: reloaded ")
	p.says(`weir: hint: only a new process changes .*engine`)
	answeredBy("new")

	writeConfig(t, file, strings.Replace(allTo(old.url()), "to: site", "to: sight", 1))
	p.signal(syscall.SIGHUP)
	p.says(`weir: error: reload: `)
	p.says(`weir\.yaml:4:\d+: .*"sight"`)
	failed := regexp.MustCompile(
		`"event":"configuration reload failed","severity":1,"errors":\[{"message":"[^"]*weir\.yaml:4:\d+: .*sight`)
	testkit.Await(t, "the event of the failed reload", func() bool {
		log, err := os.ReadFile(p.stdout)
		return err == nil && failed.Match(log)
	})
	answeredBy("new")

	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	p.signal(syscall.SIGHUP)
	p.says(`weir: error: reload: .*no such file`)
	answeredBy("new")

	writeConfig(t, file, allTo(old.url()))
	p.signal(syscall.SIGHUP)
	testkit.AwaitEqual(t, "the reloads to succeed twice",
		func() int { return strings.Count(p.stderr.String(), "weir: reloaded ") }, 2)
	answeredBy("old")
}

func TestReloadNeedsConfig(t *testing.T) {
	t.Parallel()
	p := start(t, "serve", "--listen", "127.0.0.1:0", "--admin", "off")
	p.url()
	p.signal(syscall.SIGHUP)
	p.says("weir: reload: .*--config")
	if a := get(t, client(t), p.url()+"/"); a.StatusCode != 200 {
		t.Errorf("after the signal: %s", a.Status)
	}
}

// TestReloadLosesNothing reloads repeatedly while requests arrive.
func TestReloadLosesNothing(t *testing.T) {
	t.Parallel()
	const reloads = 20
	b := start(t, "backend", "--listen", "127.0.0.1:0", "--size", "1000")
	file := configFile(t, allTo(b.url()))
	p := start(t, "serve", "--config", file)
	url := p.url()
	stop := make(chan struct{})
	failed := make(chan error, 4)
	for range cap(failed) {
		c := client(t)
		go func() {
			for {
				select {
				case <-stop:
					failed <- nil
					return
				default:
				}
				resp, err := c.Get(url + "/")
				if err == nil {
					var n int64
					if n, err = io.Copy(io.Discard, resp.Body); err == nil && (n != 1000 || resp.StatusCode != 200) {
						err = fmt.Errorf("%s with %d bytes", resp.Status, n)
					}
					resp.Body.Close()
				}
				if err != nil {
					failed <- err
					return
				}
			}
		}()
	}
	for i := range reloads {
		p.signal(syscall.SIGHUP)
		testkit.Await(t, "the reload", func() bool { return strings.Count(p.stderr.String(), "weir: reloaded ") > i })
	}
	close(stop)
	for range cap(failed) {
		if err := <-failed; err != nil {
			t.Error(err)
		}
	}
}
