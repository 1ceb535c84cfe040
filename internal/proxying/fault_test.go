package proxying_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/proxying"
	"github.com/weirhq/weir/internal/testkit"
)

// A fault is one way for an upstream to fail.
type fault struct {
	name string
	play func(w *wire) // runs after the request's head was read; the connection is closed afterwards
	kind proxying.Kind
	// The expected response: the status of a response of the proxy itself, or
	// else 0 and the length of the body before the fault.
	status int
	sent   int64
}

// stall holds the connection open until the proxy closes it.
func stall(w *wire) { w.r.ReadByte() }

var faults = []fault{
	{"close without a response", func(w *wire) {}, proxying.Closed, 502, 0},
	{"reset without a response", func(w *wire) { w.reset() }, proxying.Reset, 502, 0},
	{"silence", stall, proxying.Timeout, 504, 0},
	{"half a head", func(w *wire) { w.say("HTTP/1.1 200 OK\r\nContent-Le") }, proxying.Closed, 502, 0},
	{"half a head, then silence", func(w *wire) { w.say("HTTP/1.1 200 OK\r\nContent-Le"); stall(w) },
		proxying.Timeout, 504, 0},
	{"garbage", func(w *wire) { w.say("SSH-2.0-OpenSSH_9.2\r\n"); stall(w) }, proxying.BadResponse, 502, 0},
	{"bare line feeds", func(w *wire) { w.say("HTTP/1.1 200 OK\nContent-Length: 2\n\nok"); stall(w) },
		proxying.BadResponse, 502, 0},
	{"two lengths", func(w *wire) { w.say("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nokk") },
		proxying.BadResponse, 502, 0},
	{"a length that is none", func(w *wire) { w.say("HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nok") },
		proxying.BadResponse, 502, 0},
	{"a length and chunks", func(w *wire) {
		w.say("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n")
	}, proxying.BadResponse, 502, 0},
	{"an unknown coding", func(w *wire) { w.say("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n") },
		proxying.BadResponse, 502, 0},
	{"a folded field", func(w *wire) { w.say("HTTP/1.1 200 OK\r\nA: b\r\n c\r\nContent-Length: 0\r\n\r\n") },
		proxying.BadResponse, 502, 0},
	{"a space before the colon", func(w *wire) { w.say("HTTP/1.1 200 OK\r\nContent-Length : 0\r\n\r\n") },
		proxying.BadResponse, 502, 0},
	{"an oversized head", func(w *wire) {
		w.sayf("HTTP/1.1 200 OK\r\n%s\r\n", strings.Repeat("A: "+strings.Repeat("b", 1000)+"\r\n", 80))
		stall(w)
	}, proxying.BadResponse, 502, 0},
	{"too many fields", func(w *wire) {
		w.sayf("HTTP/1.1 200 OK\r\n%s\r\n", strings.Repeat("A: b\r\n", 300))
		stall(w)
	}, proxying.BadResponse, 502, 0},
	{"too many options", func(w *wire) {
		w.sayf("HTTP/1.1 200 OK\r\nConnection: a%s\r\nContent-Length: 0\r\n\r\n", strings.Repeat(",a", 64))
	}, proxying.BadResponse, 502, 0},
	{"101 unasked", func(w *wire) {
		w.say("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
		stall(w)
	}, proxying.BadResponse, 502, 0},

	{"close amid a body of known length", func(w *wire) { w.say("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello") },
		proxying.Truncated, 0, 5},
	{"reset amid a body of known length", func(w *wire) {
		w.say("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello")
		w.r.Peek(1) // returns after the client has received the bytes, so that the reset does not overtake them
		w.reset()
	}, proxying.Truncated, 0, 5},
	{"reset amid a body until close", func(w *wire) {
		w.say("HTTP/1.1 200 OK\r\n\r\nhello")
		w.r.Peek(1)
		w.reset()
	}, proxying.Truncated, 0, 5},
	{"stall amid a body", func(w *wire) { w.say("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello"); stall(w) },
		proxying.Timeout, 0, 5},
	{"stall amid chunks", func(w *wire) {
		w.say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
		stall(w)
	}, proxying.Timeout, 0, 5},
	{"close amid a chunk", func(w *wire) { w.say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10\r\nhello") },
		proxying.Truncated, 0, 5},
	{"close before the last chunk", func(w *wire) {
		w.say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
	}, proxying.Truncated, 0, 5},
	{"close amid the last chunk", func(w *wire) {
		w.say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n")
	}, proxying.Truncated, 0, 5},
	{"a bad chunk size amid a body", func(w *wire) {
		w.say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
		w.r.Peek(1) // returns after the client has received the bytes
		w.say("xyz\r\n")
	}, proxying.BadResponse, 0, 5},
	{"a bad trailer amid a body", func(w *wire) {
		w.say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
		w.r.Peek(1) // returns after the client has received the bytes
		w.say("0\r\nA b\r\n\r\n")
	}, proxying.BadResponse, 0, 5},
}

// TestUpstreamFaultsNeverLookComplete checks that a fault before the response gets 502 or 504 in
// plain text. A later fault breaks the client's connection or stream, so that
// no truncated response looks complete. The hook gets the kind of fault and the
// number of bytes sent. (D6)
func TestUpstreamFaultsNeverLookComplete(t *testing.T) {
	t.Parallel()
	for _, f := range faults {
		for _, protocol := range []string{"HTTP/1.0", "HTTP/1.1", "HTTP/2"} {
			t.Run(f.name+" to "+protocol, func(t *testing.T) {
				t.Parallel()
				seen := make(chan struct{})
				o := openOrigin(t, func(w *wire) {
					if _, err := w.readHead(); err != nil {
						return
					}
					if strings.HasPrefix(f.name, "reset amid") || strings.HasSuffix(f.name, "amid a body") &&
						f.kind == proxying.BadResponse {
						whenClosed(seen, w)
					}
					f.play(w)
				})
				timeout := patience
				if f.kind == proxying.Timeout {
					timeout = brief
				}
				d := openDoor(t, func(p *proxying.Proxy) { p.Timeout = timeout }, o.url)
				f.check(t, d, ask(t, d, protocol, seen))
			})
		}
	}
}

// whenClosed unblocks a read of the script once the client has received the
// bytes.
func whenClosed(seen <-chan struct{}, w *wire) {
	go func() {
		select {
		case <-seen:
		case <-time.After(patience):
		}
		w.SetReadDeadline(time.Unix(1, 0))
	}()
}

// received is the response as received by a client.
type received struct {
	status int
	body   string
	err    error // from reading the response
}

// ask sends a GET over the given protocol. It closes seen when a body begins.
func ask(t *testing.T, d *door, protocol string, seen chan struct{}) received {
	if protocol == "HTTP/1.0" {
		return askHTTP10(t, d, seen)
	}
	major := int(protocol[len("HTTP/")] - '0')
	resp, err := d.client(major).Get(d.URL)
	if err != nil {
		return received{err: err}
	}
	defer resp.Body.Close()
	body, err := readNoting(resp.Body, seen)
	return received{resp.StatusCode, body, err}
}

func askHTTP10(t *testing.T, d *door, seen chan struct{}) received {
	c := d.dial()
	c.say("GET / HTTP/1.0\r\nHost: a\r\n\r\n")
	h, err := c.readHead()
	if err != nil {
		return received{err: err}
	}
	var got received
	if _, err := fmt.Sscanf(h.first, "HTTP/1.1 %d ", &got.status); err != nil {
		if _, err := fmt.Sscanf(h.first, "HTTP/1.0 %d ", &got.status); err != nil {
			t.Fatalf("status line %q", h.first)
		}
	}
	got.body, got.err = readNoting(c.r, seen)
	return got
}

func readNoting(r io.Reader, seen chan struct{}) (string, error) {
	first := make([]byte, 1)
	if _, err := io.ReadFull(r, first); err != nil {
		close(seen)
		return "", err
	}
	close(seen)
	rest, err := io.ReadAll(r)
	return string(first) + string(rest), err
}

func (f *fault) check(t *testing.T, d *door, got received) {
	t.Helper()
	o := d.outcome()
	if o.kind != f.kind || o.bodySent != f.sentOr(o.bodySent) || o.cut != (f.status == 0) {
		t.Errorf("outcome: %v (kind %q), %d bytes sent, cut %v; want kind %q, %d bytes",
			o.err, o.kind, o.bodySent, o.cut, f.kind, f.sent)
	}
	if o.err != nil && o.err.ByClient() {
		t.Errorf("the client is blamed: %v", o.err)
	}
	switch {
	case f.status == 0 && got.err == nil:
		t.Errorf("the client took %q for a whole answer", got.body)
	case f.status != 0 && got.err != nil:
		t.Errorf("the client failed: %v; want %d", got.err, f.status)
	case f.status != 0 && (got.status != f.status || !strings.Contains(got.body, http.StatusText(f.status))):
		t.Errorf("answer %d %q; want %d", got.status, got.body, f.status)
	}
}

// sentOr returns the number of bytes that must have been sent. The proxy's own
// text is not fixed, so n applies to it.
func (f *fault) sentOr(n int64) int64 {
	if f.status != 0 {
		return n
	}
	return f.sent
}

// TestCutToHTTP10IsReset checks that a truncated response to HTTP/1.0 ends in a
// reset and not in a FIN, because such a response ends with its connection.
func TestCutToHTTP10IsReset(t *testing.T) {
	t.Parallel()
	o := openOrigin(t, func(w *wire) {
		if _, err := w.readHead(); err == nil {
			w.say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
		}
	})
	d := openDoor(t, nil, o.url)
	c := d.dial()
	c.say("GET / HTTP/1.0\r\nHost: a\r\n\r\n")
	if _, err := io.ReadAll(c.r); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the client read to the end: %v; want a reset", err)
	}
}

func TestRefusedConnectionGets502(t *testing.T) {
	t.Parallel()
	_, refusing := testkit.BoundSocket(t)
	f := fault{kind: proxying.Refused, status: 502}
	for _, protocol := range []string{"HTTP/1.0", "HTTP/1.1", "HTTP/2"} {
		d := openDoor(t, nil, "http://"+refusing)
		f.check(t, d, ask(t, d, protocol, make(chan struct{})))
	}
}

// TestFailoverPassesOverUnreachableServer checks that a server that cannot be reached is passed over, and
// is not tried again for a while.
func TestFailoverPassesOverUnreachableServer(t *testing.T) {
	t.Parallel()
	_, refusing := testkit.BoundSocket(t)
	o := openOrigin(t, answering(ok, nil))
	passedOver := 0 // one exchange at a time
	d := openDoor(t, func(p *proxying.Proxy) {
		told := p.Hook
		p.Hook = func(x *proxying.Exchange, e proxying.Event) {
			if failure, ok := x.Err.(*proxying.Error); e == proxying.PassedOver && ok && failure.Kind == proxying.Refused {
				passedOver++
			}
			told(x, e)
		}
	}, "http://"+refusing, o.url)
	c := d.dial()
	for i := range 20 {
		method := []string{"GET", "POST"}[i%2]
		if m := c.roundTrip(t, method+" / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n"); m.body != "ok" {
			t.Fatalf("exchange %d: %q", i, m.raw)
		}
		if got := d.outcome(); got.server != o.url || got.err != nil {
			t.Errorf("exchange %d: server %s, %v", i, got.server, got.err)
		}
	}
	if passedOver == 0 {
		t.Error("no word of the server that was passed over")
	}
}

func TestServersAreUsedInTurn(t *testing.T) {
	t.Parallel()
	var urls []string
	for range 3 {
		urls = append(urls, openOrigin(t, answering(ok, nil)).url)
	}
	d := openDoor(t, nil, urls...)
	c := d.dial()
	served := make(map[string]int)
	for range 30 {
		c.roundTrip(t, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
		served[d.outcome().server]++
	}
	for _, u := range urls {
		if served[u] != 10 {
			t.Errorf("%s served %d of 30", u, served[u])
		}
	}
}
