package httplog_test

import (
	"bufio"
	"fmt"
	"io"
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

// optional names the optional interfaces that w has.
func optional(w http.ResponseWriter) string {
	_, flush := w.(http.Flusher)
	_, flushError := w.(interface{ FlushError() error })
	_, hijack := w.(http.Hijacker)
	_, readFrom := w.(io.ReaderFrom)
	_, push := w.(http.Pusher)
	_, notify := w.(interface{ CloseNotify() <-chan bool })
	_, text := w.(io.StringWriter)
	return fmt.Sprintf("flush %t, flush error %t, hijack %t, read from %t, push %t, notify %t, string %t",
		flush, flushError, hijack, readFrom, push, notify, text)
}

// TestOptionalInterfaces compares what a handler is given with what net/http
// gave.
func TestOptionalInterfaces(t *testing.T) {
	for _, p := range protocols {
		t.Run(p.name, func(t *testing.T) {
			var inner, outer string
			logger := log.New(io.Discard, log.Options{})
			wrapped := httplog.Middleware(logger, httplog.Options{})(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
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

// TestResponseController has every method that net/http's writers know reach
// them.
func TestResponseController(t *testing.T) {
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

// TestFlushReachesClient has the handler wait until the client has seen what
// was flushed.
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

// A countingListener counts the bytes that reach the ReadFrom of its TCP
// connections, which is where the kernel takes over.
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

// TestFileReachesKernel sends a file in two ways and looks at whether its bytes
// go through the TCP connection's ReadFrom, all but those that net/http reads to
// guess the type.
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

func TestHijack(t *testing.T) {
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
			if answer.StatusCode != 101 || e.status() != c.status || !e.Data.Hijacked || e.Data.Failure != "" || e.Severity != 3 {
				t.Errorf("the client got %d; logged %d, %+v, severity %d; want 101; %d, hijacked, 3",
					answer.StatusCode, e.status(), e.Data, e.Severity, c.status)
			}
		})
	}
}

// answerRaw answers on a hijacked connection, unless net/http has done so, and
// closes it.
func answerRaw(conn net.Conn, buffers *bufio.ReadWriter, err error) {
	if err != nil {
		panic(err)
	}
	buffers.WriteString("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: test\r\n\r\n")
	buffers.Flush()
	conn.Close()
}

// TestHijackRefused asks for what HTTP/2 cannot give: the answer goes on as if
// nobody had asked.
func TestHijackRefused(t *testing.T) {
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
