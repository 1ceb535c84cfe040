package httplog_test

import (
	"bufio"
	"fmt"
	"io"
	stdlog "log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/httplog"
)

// optional lists the optional interfaces that w has.
func optional(w http.ResponseWriter) (names string) {
	if _, ok := w.(http.Flusher); ok {
		names += "flush "
	}
	if _, ok := w.(http.Hijacker); ok {
		names += "hijack "
	}
	if _, ok := w.(io.ReaderFrom); ok {
		names += "read-from "
	}
	if _, ok := w.(http.Pusher); ok {
		names += "push "
	}
	if _, ok := w.(interface{ CloseNotify() <-chan bool }); ok {
		names += "notify "
	}
	return names
}

// TestOptionalInterfacesArePreserved checks that a handler's ResponseWriter has the optional
// interfaces of the one that net/http made, and no others.
func TestOptionalInterfacesArePreserved(t *testing.T) {
	for _, p := range protocols {
		t.Run(p.name, func(t *testing.T) {
			var inner, outer string
			logger := log.New(io.Discard, log.Options{})
			wrapped := httplog.Middleware(logger, httplog.Options{})(
				http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					outer = optional(w)
				}))
			s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				inner = optional(w)
				wrapped.ServeHTTP(w, r)
			}))
			p.enable(s)
			p.start(s)
			t.Cleanup(s.Close)
			fetch(t, s, "GET", "/")
			if outer != inner {
				t.Errorf("handlers get %s\nnet/http gave  %s", outer, inner)
			}
		})
	}
}

// TestWrappedWriterKeepsItsInterfaces checks the optional interfaces that a handler gets if other
// middleware has wrapped the ResponseWriter, and that http.ResponseController
// reaches the inner writer's Hijack also without http.Hijacker.
func TestWrappedWriterKeepsItsInterfaces(t *testing.T) {
	full := &fullWriter{header: http.Header{}}
	type closeNotifier interface{ CloseNotify() <-chan bool }
	for name, c := range map[string]struct {
		w         http.ResponseWriter
		want      string
		canHijack bool
	}{
		"none": {struct{ http.ResponseWriter }{full}, "", false},
		"flush": {struct {
			http.ResponseWriter
			http.Flusher
		}{full, full}, "flush ", false},
		"flush and hijack": {struct {
			http.ResponseWriter
			http.Flusher
			http.Hijacker
		}{full, full, full}, "flush hijack ", true},
		"hijack": {struct {
			http.ResponseWriter
			http.Hijacker
		}{full, full}, "", true},
		"all but read from": {struct {
			http.ResponseWriter
			http.Flusher
			http.Hijacker
			closeNotifier
		}{full, full, full, full}, "flush hijack ", true},
		"all":         {full, "flush hijack read-from notify ", true},
		"with Unwrap": {unwrapper{full}, "", true},
	} {
		var got string
		var err error
		h := httplog.Middleware(newLogger(io.Discard), completedOnly)(
			http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				got = optional(w)
				_, _, err = http.NewResponseController(w).Hijack()
			}))
		h.ServeHTTP(c.w, newRequest(t))
		if got != c.want || (err == nil) != c.canHijack {
			t.Errorf("%s: got %q, %v; want %q, hijack %t", name, got, err, c.want, c.canHijack)
		}
	}
}

// An unwrapper is a wrapper that only http.ResponseController can look into.
type unwrapper struct{ inner http.ResponseWriter }

func (u unwrapper) Header() http.Header         { return u.inner.Header() }
func (u unwrapper) Write(b []byte) (int, error) { return u.inner.Write(b) }
func (u unwrapper) WriteHeader(status int)      { u.inner.WriteHeader(status) }
func (u unwrapper) Unwrap() http.ResponseWriter { return u.inner }

// TestWriterOfTimeoutHandlerCanOnlyPush checks that a handler inside http.TimeoutHandler, which can
// only push, gets a writer that can only push.
func TestWriterOfTimeoutHandlerCanOnlyPush(t *testing.T) {
	var got string
	h := httplog.Middleware(newLogger(io.Discard), completedOnly)(
		http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			got = optional(w)
		}))
	http.TimeoutHandler(h, time.Minute, "").ServeHTTP(httptest.NewRecorder(), newRequest(t))
	if want := "push "; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestResponseControllerReachesTheWriter checks that each method of http.ResponseController
// reaches the writers of net/http.
func TestResponseControllerReachesTheWriter(t *testing.T) {
	for _, p := range protocols {
		t.Run(p.name, func(t *testing.T) {
			s, events := serve(t, p, completedOnly, func(w http.ResponseWriter, _ *http.Request) {
				rc := http.NewResponseController(w)
				later := time.Now().Add(time.Hour)
				for name, err := range map[string]error{
					"SetReadDeadline":  rc.SetReadDeadline(later),
					"SetWriteDeadline": rc.SetWriteDeadline(later),
					"EnableFullDuplex": rc.EnableFullDuplex(),
					"Flush":            rc.Flush(),
				} {
					if err != nil {
						t.Errorf("%s: %v", name, err)
					}
				}
			})
			fetch(t, s, "GET", "/")
			events.completed()
		})
	}
}

// TestFlushReachesClient checks that the client receives flushed bytes while
// the handler still runs.
func TestFlushReachesClient(t *testing.T) {
	for _, p := range protocols {
		t.Run(p.name, func(t *testing.T) {
			seen := make(chan bool)
			s, events := serve(t, p, completedOnly, func(w http.ResponseWriter, _ *http.Request) {
				io.WriteString(w, "a")
				w.(http.Flusher).Flush()
				<-seen
				io.WriteString(w, "b")
			})
			answer, err := s.Client().Get(s.URL)
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			if _, err := io.ReadFull(answer.Body, make([]byte, 1)); err != nil {
				t.Error(err)
			}
			close(seen)
			if rest, err := io.ReadAll(answer.Body); string(rest) != "b" || err != nil {
				t.Errorf("got %q, %v after the flush, want b", rest, err)
			}
			if e := events.completed(); e.HTTP.ResponseContentLength != 2 {
				t.Errorf("%d bytes, want 2", e.HTTP.ResponseContentLength)
			}
		})
	}
}

// A countingListener counts the bytes that reach ReadFrom of its TCP
// connections, which uses sendfile.
type countingListener struct {
	net.Listener
	bytes atomic.Int64
}

type countingConn struct {
	*net.TCPConn
	l *countingListener
}

func (l *countingListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &countingConn{c.(*net.TCPConn), l}, nil
}

func (c *countingConn) ReadFrom(r io.Reader) (int64, error) {
	n, err := c.TCPConn.ReadFrom(r)
	c.l.bytes.Add(n)
	return n, err
}

// TestFileReachesKernel sends a file in two ways and checks that its bytes
// reach the TCP connection's ReadFrom, except for those that net/http reads to
// detect the content type.
func TestFileReachesKernel(t *testing.T) {
	const size = 1 << 20
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, make([]byte, size), 0o600); err != nil {
		t.Fatal(err)
	}
	for way, h := range map[string]http.HandlerFunc{
		"ServeFile": func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, name) },
		"Copy": func(w http.ResponseWriter, r *http.Request) {
			f, err := os.Open(name)
			if err != nil {
				t.Error(err)
				return
			}
			defer f.Close()
			w.Header().Set("Content-Length", fmt.Sprint(size))
			if n, err := io.Copy(w, f); n != size || err != nil {
				t.Errorf("copied %d, %v", n, err)
			}
		},
	} {
		t.Run(way, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			counting := &countingListener{Listener: l}
			s, events := serveOn(t, http1, completedOnly, h, counting)
			if _, body := fetch(t, s, "GET", "/"); len(body) != size {
				t.Errorf("got %d bytes, want %d", len(body), size)
			}
			if e := events.completed(); e.HTTP.ResponseContentLength != size {
				t.Errorf("logged %d bytes, want %d", e.HTTP.ResponseContentLength, size)
			}
			if got := counting.bytes.Load(); got < size-4096 {
				t.Errorf("%d of %d bytes went through ReadFrom", got, size)
			}
		})
	}
}

func TestHijackedRequestsAreLogged(t *testing.T) {
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		status  int
	}{
		"own bytes": {func(w http.ResponseWriter, _ *http.Request) {
			conn, buffers, err := w.(http.Hijacker).Hijack()
			answerRaw(conn, buffers, err)
		}, 0},
		"header first": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusSwitchingProtocols)
			conn, buffers, err := http.NewResponseController(w).Hijack()
			answerRaw(conn, buffers, err)
		}, 101},
		"written to afterwards": {func(w http.ResponseWriter, _ *http.Request) {
			conn, buffers, err := w.(http.Hijacker).Hijack()
			if _, err := io.WriteString(w, "x"); err != http.ErrHijacked {
				panic(err)
			}
			answerRaw(conn, buffers, err)
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s, events := serve(t, http1, completedOnly, c.handler)
			conn, err := net.Dial("tcp", s.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: test\r\n\r\n")
			answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			answer.Body.Close()
			e := events.completed()
			if answer.StatusCode != 101 || e.status() != c.status || !e.Data.Hijacked || e.Data.Failure != "" ||
				e.Severity != 3 {
				t.Errorf("the client got %d; logged %d, %+v, severity %d; want 101; %d, hijacked, 3",
					answer.StatusCode, e.status(), e.Data, e.Severity, c.status)
			}
		})
	}
}

// answerRaw sends a 101 on a hijacked connection, unless net/http has already
// sent it, and closes the connection.
func answerRaw(conn net.Conn, buffers *bufio.ReadWriter, err error) {
	if err != nil {
		panic(err)
	}
	buffers.WriteString("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: test\r\n\r\n")
	buffers.Flush()
	conn.Close()
}

// TestRequestContinuesAfterRefusedHijack tries to hijack an HTTP/2 request, which is impossible. The
// request then continues as usual.
func TestRequestContinuesAfterRefusedHijack(t *testing.T) {
	s, events := serve(t, http2, completedOnly, func(w http.ResponseWriter, _ *http.Request) {
		if _, _, err := http.NewResponseController(w).Hijack(); err == nil {
			t.Error("hijacked HTTP/2")
		}
	})
	fetch(t, s, "GET", "/")
	if e := events.completed(); e.Data.Hijacked || e.status() != 200 {
		t.Errorf("got %d, hijacked %t, want 200, false", e.status(), e.Data.Hijacked)
	}
}

// TestHiddenMethodsAreRecorded checks that a connection that is hijacked, and a response that is begun by Flush, through
// a wrapper of other middleware that has only Unwrap are logged as such.
func TestHiddenMethodsAreRecorded(t *testing.T) {
	for name, c := range map[string]struct {
		handler  http.HandlerFunc
		status   int
		hijacked bool
	}{
		"hijack": {func(w http.ResponseWriter, _ *http.Request) {
			conn, buffers, err := http.NewResponseController(w).Hijack()
			answerRaw(conn, buffers, err)
		}, 0, true},
		"flush": {func(w http.ResponseWriter, _ *http.Request) {
			if err := http.NewResponseController(w).Flush(); err != nil {
				t.Error(err)
			}
			w.WriteHeader(500) // too late
		}, 200, false},
	} {
		t.Run(name, func(t *testing.T) {
			j := &journal{t, make(chan event, 100)}
			logged := httplog.Middleware(newLogger(j), completedOnly)(c.handler)
			s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				logged.ServeHTTP(unwrapper{w}, r)
			}))
			s.Config.ErrorLog = stdlog.New(io.Discard, "", 0)
			s.Start()
			t.Cleanup(s.Close)
			answer, err := s.Client().Get(s.URL)
			if err != nil {
				t.Fatal(err)
			}
			answer.Body.Close()
			if e := j.completed(); e.status() != c.status || e.Data.Hijacked != c.hijacked {
				t.Errorf("the client got %d; logged %d, hijacked %t; want %d, %t", answer.StatusCode, e.status(),
					e.Data.Hijacked, c.status, c.hijacked)
			}
		})
	}
}
