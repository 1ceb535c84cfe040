package proxying_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/proxying"
	"github.com/weirhq/weir/internal/testkit"
)

// startOn starts a server on a bound socket.
func startOn(t *testing.T, fd int) {
	if err := syscall.Listen(fd, 64); err != nil {
		t.Error(err)
		return
	}
	dup, err := syscall.Dup(fd)
	if err != nil {
		t.Error(err)
		return
	}
	file := os.NewFile(uintptr(dup), "listener")
	defer file.Close()
	l, err := net.FileListener(file)
	if err != nil {
		t.Error(err)
		return
	}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Write(append([]byte(r.Method+" "), body...))
	}))
	s.Listener.Close()
	s.Listener = l
	s.Start()
	t.Cleanup(s.Close)
}

// waiting opens a door with ConnectRetry, and calls then when an exchange waits
// for a connection.
func waiting(t *testing.T, retry time.Duration, then func(*proxying.Exchange), urls ...string) *door {
	return openDoor(t, func(p *proxying.Proxy) {
		p.Upstream = openUpstream(t, proxying.Options{ConnectRetry: retry}, urls...)
		told := p.Hook
		p.Hook = func(x *proxying.Exchange, e proxying.Event) {
			if e == proxying.Waiting {
				then(x)
			}
			told(x, e)
		}
	})
}

// TestConnectRetryWaitsForRestart checks that a request waits for a server that is being
// restarted, with any method and any length of its body.
func TestConnectRetryWaitsForRestart(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"", "short", strings.Repeat("long", 100_000)} {
		for _, method := range []string{"GET", "POST"} {
			fd, addr := testkit.BoundSocket(t)
			_, refusing := testkit.BoundSocket(t)
			waits := 0
			d := waiting(t, patience, func(x *proxying.Exchange) {
				waits++
				if failure, ok := x.Err.(*proxying.Error); !ok || failure.Kind != proxying.Refused {
					t.Errorf("the hook is told %v, want a refused connection", x.Err)
				}
				startOn(t, fd)
			}, "http://"+addr, "http://"+refusing)
			req, err := http.NewRequest(method, d.URL, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			resp, err := d.client(1).Do(req)
			if err != nil {
				t.Fatal(err)
			}
			got, _ := io.ReadAll(resp.Body)
			resp.Body.Close()
			if want := method + " " + body; resp.StatusCode != 200 || string(got) != want {
				t.Errorf("%s of %d bytes: %d and %.20q", method, len(body), resp.StatusCode, got)
			}
			if o := d.outcome(); waits != 1 || o.err != nil || o.server != "http://"+addr {
				t.Errorf("%s of %d bytes: %d waits, %v, server %s", method, len(body), waits, o.err, o.server)
			}
		}
	}
}

// TestConnectRetryEndsInTime checks that a request waits no longer than ConnectRetry
// and its own timeout.
func TestConnectRetryEndsInTime(t *testing.T) {
	t.Parallel()
	_, refusing := testkit.BoundSocket(t)
	for _, c := range []struct{ retry, timeout time.Duration }{{30 * time.Millisecond, patience},
		{time.Hour, 30 * time.Millisecond}} {
		d := waiting(t, c.retry, func(*proxying.Exchange) {}, "http://"+refusing)
		d.Config.Handler.(*proxying.Proxy).Timeout = c.timeout
		resp, err := d.client(1).Get(d.URL)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if o := d.outcome(); resp.StatusCode != 502 || o.kind != proxying.Refused {
			t.Errorf("retry %v, timeout %v: %d, kind %q", c.retry, c.timeout, resp.StatusCode, o.kind)
		}
	}
}

// TestConnectRetryEndsWithTheClient checks that the wait ends when the client
// disconnects.
func TestConnectRetryEndsWithTheClient(t *testing.T) {
	t.Parallel()
	_, refusing := testkit.BoundSocket(t)
	d := waiting(t, time.Hour, (*proxying.Exchange).Cancel, "http://"+refusing)
	c := d.dial()
	c.say("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
	if o := d.outcome(); o.kind != proxying.ClientGone || o.status != 499 {
		t.Errorf("status %d, kind %q; want 499 and a client that is gone", o.status, o.kind)
	}
}
