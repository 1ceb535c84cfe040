package proxying_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/proxying"
	"github.com/weirhq/weir/internal/testkit"
)

// A broken is a body whose read fails with err after some bytes.
type broken struct {
	io.Reader
	err error
}

func (f broken) Read(p []byte) (int, error) {
	n, err := f.Reader.Read(p)
	if err == io.EOF {
		err = f.err
	}
	return n, err
}

// TestFaultyBodiesOfMiddlewareAreRejected checks the status of requests whose body middleware has
// replaced, and that no server counts a complete request that is not one.
func TestFaultyBodiesOfMiddlewareAreRejected(t *testing.T) {
	t.Parallel()
	const long = proxying.ShortBody + 100_000
	for _, length := range []int{10, long} {
		for name, test := range map[string]struct {
			body   io.Reader
			length int // declared
			kind   proxying.Kind
			status int
		}{
			"as declared": {strings.NewReader(strings.Repeat("x", length)), length, "", 200},
			"longer":      {strings.NewReader(strings.Repeat("x", length+1)), length, proxying.ClientBody, 400},
			"much longer": {strings.NewReader(strings.Repeat("x", 2*length+600)), length, proxying.ClientBody, 400},
			"shorter":     {strings.NewReader(strings.Repeat("x", length-1)), length, proxying.ClientBody, 400},
			"too large":   {broken{strings.NewReader("x"), &http.MaxBytesError{Limit: 1}}, -1, proxying.TooLarge, 413},
			"not in time": {broken{strings.NewReader("x"), fmt.Errorf("slow: %w", os.ErrDeadlineExceeded)}, length,
				proxying.ClientSlow, 408},
			"disconnected": {broken{strings.NewReader("x"), io.ErrUnexpectedEOF}, length, proxying.ClientGone, 499},
		} {
			t.Run(fmt.Sprintf("%s/%d", name, length), func(t *testing.T) {
				t.Parallel()
				var complete atomic.Int64
				origin := testkit.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if n, err := io.Copy(io.Discard, r.Body); err == nil {
						complete.Store(n)
					}
				}))
				up := openUpstream(t, proxying.Options{}, origin.URL)
				t.Cleanup(up.Close)
				var got outcome
				p := &proxying.Proxy{Upstream: up, Hook: func(x *proxying.Exchange, e proxying.Event) {
					if e == proxying.Done {
						got = outcomeOf(x)
					}
				}}
				r := httptest.NewRequest("POST", "/", test.body)
				r.ContentLength = int64(test.length)
				func() {
					defer func() {
						if v := recover(); v != nil && !errors.Is(v.(error), http.ErrAbortHandler) {
							panic(v)
						}
					}()
					p.ServeHTTP(httptest.NewRecorder(), r)
				}()
				if got.kind != test.kind || got.status != test.status {
					t.Errorf("status %d, kind %q (%v), want %d, %q", got.status, got.kind, got.err, test.status, test.kind)
				}
				origin.Close()
				if want := map[bool]int64{true: int64(test.length)}[test.status == 200]; complete.Load() != want {
					t.Errorf("the upstream got a complete body of %d bytes, want %d", complete.Load(), want)
				}
			})
		}
	}
}

// threeHundred is an endless body that arrives 300 bytes at a time.
type threeHundred struct{}

func (threeHundred) Read(p []byte) (int, error) { return min(len(p), 300), nil }

// TestBodyLongerThanItsLengthFails checks that the body of an Exchange fails if it is longer than
// Length in the middle of a small read.
func TestBodyLongerThanItsLengthFails(t *testing.T) {
	t.Parallel()
	o := openOrigin(t, answering(ok, nil))
	up := openUpstream(t, proxying.Options{}, o.url)
	var x proxying.Exchange
	fill(&x, new(sink))
	x.Method, x.Length, x.Body = "POST", 20_000, threeHundred{}
	(&proxying.Proxy{Upstream: up}).Serve(&x)
	if got := outcomeOf(&x); got.kind != proxying.ClientBody || got.bodyRead > x.Length {
		t.Errorf("kind %q (%v), %d bytes of the body", got.kind, got.err, got.bodyRead)
	}
}

// A cancelling is a body that arrives partly. Its last read cancels the context of the request before it fails with err,
// as that of net/http does. Without err it waits until the body is closed.
type cancelling struct {
	io.Reader
	cancel context.CancelFunc
	gone   <-chan struct{} // closed when the upstream has lost its connection
	closed chan struct{}
	err    error
}

func (b *cancelling) Read(p []byte) (int, error) {
	if n, err := b.Reader.Read(p); err == nil {
		return n, nil
	}
	b.cancel()
	if b.err == nil {
		<-b.closed
		return 0, io.ErrClosedPipe
	}
	select {
	case <-b.gone:
	case <-time.After(50 * time.Millisecond):
	}
	return 0, b.err
}

func (b *cancelling) Close() error {
	close(b.closed)
	return nil
}

// TestBodyErrorDecidesAfterCancel checks that the error of a read decides the kind of the failure if net/http has
// canceled the context before the read returns, and that a context that something else cancels during a read ends the
// exchange.
func TestBodyErrorDecidesAfterCancel(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err  error // of the read; nil if it does not end
		kind proxying.Kind
	}{
		"not in time":  {os.ErrDeadlineExceeded, proxying.ClientSlow},
		"disconnected": {io.ErrUnexpectedEOF, proxying.ClientGone},
		"canceled":     {nil, proxying.ClientGone},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gone := make(chan struct{})
			o := openOrigin(t, func(w *wire) {
				io.Copy(io.Discard, w)
				close(gone)
			})
			up := openUpstream(t, proxying.Options{}, o.url)
			t.Cleanup(up.Close)
			ctx, cancel := context.WithCancel(t.Context())
			r := httptest.NewRequestWithContext(ctx, "POST", "/", &cancelling{
				strings.NewReader(strings.Repeat("x", 100_000)), cancel, gone, make(chan struct{}), test.err,
			})
			r.ContentLength = -1
			got := make(chan outcome, 1)
			p := &proxying.Proxy{Upstream: up, Hook: func(x *proxying.Exchange, e proxying.Event) {
				if e == proxying.Done {
					got <- outcomeOf(x)
				}
			}}
			func() {
				defer func() { recover() }() // of a cut response
				p.ServeHTTP(httptest.NewRecorder(), r)
			}()
			if o := <-got; o.kind != test.kind {
				t.Errorf("kind %q (%v), want %q", o.kind, o.err, test.kind)
			}
		})
	}
}

// TestContextDeadlineGets504 checks that a deadline of the request's context fails the
// exchange with 504 through Fail, in each of its waits, and that the client's
// connection can be used afterwards unless it has sent only a part of a body.
func TestContextDeadlineGets504(t *testing.T) {
	t.Parallel()
	silent := openOrigin(t, func(w *wire) { io.Copy(io.Discard, w) })
	ready := openOrigin(t, answering(ok, nil))
	for name, test := range map[string]struct {
		origin  *origin
		request string
		reused  bool
	}{
		"silent upstream":              {silent, "GET / HTTP/1.1\r\nHost: a\r\n\r\n", true},
		"silent upstream, short body":  {silent, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nab", true},
		"short body that does not end": {ready, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nab", false},
		"long body that does not end":  {ready, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 50000\r\n\r\nab", false},
		"chunks that do not end":       {ready, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := openDoor(t, func(p *proxying.Proxy) {
				p.Fail = func(x *proxying.Exchange, status int, fields []proxying.Field) error {
					return x.Respond(status, "from Fail")
				}
			}, test.origin.url)
			next := d.Config.Handler
			d.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Unlimited") != "" {
					return
				}
				ctx, cancel := context.WithTimeout(r.Context(), 50*time.Millisecond)
				defer cancel()
				next.ServeHTTP(w, r.WithContext(ctx))
			})
			c := d.dial()
			c.say(test.request)
			m, err := c.readMessage()
			if err != nil || m.first != "HTTP/1.1 504 Gateway Timeout" || !strings.Contains(m.body, "from Fail") {
				t.Errorf("the client got %q, %q, %v", m.first, m.body, err)
			}
			if o := d.outcome(); o.kind != proxying.Overdue || o.cut {
				t.Errorf("kind %q, %v", o.kind, o.err)
			}
			if test.reused && m.get("Connection") != "close" {
				again := c.roundTrip(t, "GET / HTTP/1.1\r\nHost: a\r\nUnlimited: 1\r\n\r\n")
				if again.first != "HTTP/1.1 200 OK" {
					t.Errorf("the next request got %q", again.first)
				}
			}
			if !test.reused && m.get("Connection") != "close" {
				t.Error("the connection is kept with a part of a body")
			}
		})
	}
}
