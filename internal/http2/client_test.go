package http2_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	xhttp2 "golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/weirhq/weir/internal/http2"
	"github.com/weirhq/weir/internal/transport"
)

// A clientOwner is the owner of a client's connection. It keeps the reasons of failures.
type clientOwner struct {
	pingAfter time.Duration
	ended     chan struct{}

	mu      sync.Mutex
	reasons []http2.Reason // guarded by mu
}

func (o *clientOwner) Limits() http2.Limits {
	return http2.Limits{HeaderList: headerList, HeaderTimeout: time.Minute, IdleTimeout: time.Minute,
		PingAfter: o.pingAfter, PingTimeout: o.pingAfter}
}

func (o *clientOwner) Opened(*http2.Stream) {}

func (o *clientOwner) Failed(e *http2.Error, _ bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.reasons = append(o.reasons, e.Reason)
}

func (o *clientOwner) Ended() { close(o.ended) }

// playServer sends SETTINGS, calls play when a stream was opened, and sends what play has written.
// It closes read when the client has read all of it, and then reads until the end of the connection.
func playServer(nc *net.TCPConn, play func(f *xhttp2.Framer, stream uint32), read chan<- struct{}) {
	defer nc.Close()
	mark := [8]byte{'r', 'e', 'a', 'd'}
	var out bytes.Buffer
	f := xhttp2.NewFramer(&out, nc)
	io.ReadFull(nc, make([]byte, len(xhttp2.ClientPreface)))
	f.WriteSettings()
	for {
		nc.Write(out.Next(out.Len()))
		frame, err := f.ReadFrame()
		if err != nil {
			return
		}
		switch frame := frame.(type) {
		case *xhttp2.HeadersFrame:
			play(f, frame.StreamID)
			f.WritePing(false, mark)
		case *xhttp2.PingFrame:
			if frame.IsAck() && frame.Data == mark {
				close(read)
			}
		}
	}
}

// respond writes a header block of pairs.
func respond(f *xhttp2.Framer, stream uint32, end bool, pairs ...string) {
	var b bytes.Buffer
	e := hpack.NewEncoder(&b)
	for i := 0; i < len(pairs); i += 2 {
		e.WriteField(hpack.HeaderField{Name: pairs[i], Value: pairs[i+1]})
	}
	f.WriteHeaders(xhttp2.HeadersFrameParam{StreamID: stream, BlockFragment: b.Bytes(), EndHeaders: true, EndStream: end})
}

// A space is memory for reads.
type space [1 << 10]byte

func (s *space) Space() []byte { return s[:] }
func (s *space) GiveBack()     {}

// readAll reads the final head and the body of a response.
func readAll(s *http2.Stream) (body []byte, err error) {
	for status := 0; status < 200; {
		h, err := s.ReadHead()
		if err != nil {
			return nil, err
		}
		status = h.Status
	}
	var part space
	for {
		n, err := s.ReadInto(&part)
		body = append(body, part[:n]...)
		if err == io.EOF {
			return body, nil
		} else if err != nil {
			return body, err
		}
	}
}

// exchange sends a GET to a server that plays, and returns the body of the response, the reasons of
// the failures and the error.
func exchange(t *testing.T, owner *clientOwner, play func(f *xhttp2.Framer, stream uint32)) (string, []http2.Reason, error) {
	t.Helper()
	conn, peer := netPair(t)
	var served sync.WaitGroup
	played := make(chan struct{})
	served.Go(func() { playServer(peer, play, played) })
	defer served.Wait()
	owner.ended = make(chan struct{})
	c := http2.NewClient(conn, transport.Goroutines, owner)
	if err := c.AwaitSettings(time.Minute); err != nil {
		t.Fatal(err)
	}
	h := http2.NewHead()
	for i := 0; i < len(getFields); i += 2 {
		h.Add(getFields[i], getFields[i+1])
	}
	s := c.Open(h, true, false)
	body, err := readAll(s)
	s.Close()
	select {
	case <-played:
	case <-owner.ended:
	}
	c.Retire()
	<-owner.ended
	owner.mu.Lock()
	defer owner.mu.Unlock()
	return string(body), owner.reasons, err
}

var getFields = []string{":method", "GET", ":scheme", "http", ":authority", "a", ":path", "/"}

// TestFaultyServer checks that a client refuses frames that a server must not send, and that floods
// end the connection.
func TestFaultyServer(t *testing.T) {
	times := func(n int, write func(f *xhttp2.Framer, stream uint32)) func(*xhttp2.Framer, uint32) {
		return func(f *xhttp2.Framer, stream uint32) {
			for range n {
				write(f, stream)
			}
		}
	}
	for _, c := range []struct {
		name string
		play func(f *xhttp2.Framer, stream uint32)
		want http2.Reason // "" for a valid response
	}{
		{"a response", func(f *xhttp2.Framer, stream uint32) {
			respond(f, stream, false, ":status", "103")
			respond(f, stream, false, ":status", "200", "content-length", "4")
			f.WriteDataPadded(stream, false, []byte("body"), make([]byte, 9))
			respond(f, stream, true, "x-sum", "a")
			f.WriteData(stream, true, []byte("late"))
		}, ""},
		{"a push", func(f *xhttp2.Framer, stream uint32) {
			f.WritePushPromise(xhttp2.PushPromiseParam{StreamID: stream, PromiseID: 2, EndHeaders: true})
		}, http2.Protocol},
		{"HEADERS on an idle stream", func(f *xhttp2.Framer, stream uint32) {
			respond(f, stream+2, true, ":status", "200")
		}, http2.Protocol},
		{"HEADERS on a stream of the server", func(f *xhttp2.Framer, stream uint32) {
			respond(f, stream+1, true, ":status", "200")
		}, http2.Protocol},
		{"DATA on an idle stream", func(f *xhttp2.Framer, stream uint32) { f.WriteData(stream+2, true, nil) }, http2.Protocol},
		{"WINDOW_UPDATE on an idle stream", func(f *xhttp2.Framer, stream uint32) {
			f.WriteWindowUpdate(stream+2, 1)
		}, http2.Protocol},
		{"RST_STREAM on an idle stream", func(f *xhttp2.Framer, stream uint32) { f.WriteRSTStream(stream+2, 0) },
			http2.Protocol},
		{"a window that is too large", func(f *xhttp2.Framer, stream uint32) {
			f.WriteSettings(xhttp2.Setting{ID: xhttp2.SettingInitialWindowSize, Val: 1 << 31})
		}, http2.FlowControl},
		{"DATA before the head", func(f *xhttp2.Framer, stream uint32) { f.WriteData(stream, false, []byte("body")) },
			http2.Malformed},
		{"trailers that do not end the stream", func(f *xhttp2.Framer, stream uint32) {
			respond(f, stream, false, ":status", "200")
			respond(f, stream, false, "x-sum", "a")
		}, http2.Trailers},
		{"a pseudo-header field in the trailers", func(f *xhttp2.Framer, stream uint32) {
			respond(f, stream, false, ":status", "200")
			respond(f, stream, true, ":status", "200")
		}, http2.Trailers},
		{"101", func(f *xhttp2.Framer, stream uint32) { respond(f, stream, false, ":status", "101") }, http2.Malformed},
		{"103 that ends the stream", func(f *xhttp2.Framer, stream uint32) { respond(f, stream, true, ":status", "103") },
			http2.Malformed},
		{"a body that is too long", func(f *xhttp2.Framer, stream uint32) {
			respond(f, stream, false, ":status", "200", "content-length", "3")
			f.WriteData(stream, true, []byte("body"))
		}, http2.BodyLength},
		{"a body that is too short", func(f *xhttp2.Framer, stream uint32) {
			respond(f, stream, false, ":status", "200", "content-length", "5")
			f.WriteData(stream, true, []byte("body"))
		}, http2.BodyLength},
		{"a header list that is too long", func(f *xhttp2.Framer, stream uint32) {
			respond(f, stream, true, ":status", "200", "x-a", strings.Repeat("a", headerList))
		}, http2.HeaderList},
		{"many RST_STREAM", func(f *xhttp2.Framer, stream uint32) {
			times(1000, func(f *xhttp2.Framer, stream uint32) { f.WriteRSTStream(stream, xhttp2.ErrCodeCancel) })(f, stream)
		}, http2.Resets},
		{"many PING", times(4000, func(f *xhttp2.Framer, _ uint32) { f.WritePing(true, [8]byte{}) }), http2.Pings},
		{"many SETTINGS", times(200, func(f *xhttp2.Framer, _ uint32) { f.WriteSettings() }), http2.SettingsFlood},
		{"many empty DATA", func(f *xhttp2.Framer, stream uint32) {
			respond(f, stream, false, ":status", "200")
			times(1000, func(f *xhttp2.Framer, stream uint32) { f.WriteData(stream, false, nil) })(f, stream)
		}, http2.EmptyFrames},
		{"many WINDOW_UPDATE", times(40_000, func(f *xhttp2.Framer, _ uint32) { f.WriteWindowUpdate(0, 1) }),
			http2.WindowUpdates},
		{"many CONTINUATION", func(f *xhttp2.Framer, stream uint32) {
			f.WriteHeaders(xhttp2.HeadersFrameParam{StreamID: stream})
			times(1000, func(f *xhttp2.Framer, stream uint32) { f.WriteContinuation(stream, false, nil) })(f, stream)
		}, http2.Continuations},
		{"many PRIORITY", times(4000, func(f *xhttp2.Framer, stream uint32) {
			f.WritePriority(stream, xhttp2.PriorityParam{})
		}), http2.OtherFrames},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			body, reasons, err := exchange(t, new(clientOwner), c.play)
			if c.want == "" {
				if body != "body" || err != nil || reasons != nil {
					t.Errorf("%q, %v, %v", body, err, reasons)
				}
			} else if !slices.Contains(reasons, c.want) {
				t.Errorf("the reasons are %q, want %q; the error is %v", reasons, c.want, err)
			}
		})
	}
}

// TestSilentServer checks that a server that does not respond to PING fails its streams.
func TestSilentServer(t *testing.T) {
	t.Parallel()
	owner := &clientOwner{pingAfter: 50 * time.Millisecond}
	_, _, err := exchange(t, owner, func(*xhttp2.Framer, uint32) {})
	if !errors.Is(err, http2.ErrSilent) {
		t.Errorf("the error is %v", err)
	}
}

// TestPingsAreShared sends two PINGs to a server that does not respond. The second call waits for the response to the
// first.
func TestPingsAreShared(t *testing.T) {
	t.Parallel()
	conn, peer := netPair(t)
	pings := make(chan int)
	go func() {
		defer peer.Close()
		n := 0
		f := xhttp2.NewFramer(peer, peer)
		io.ReadFull(peer, make([]byte, len(xhttp2.ClientPreface)))
		f.WriteSettings()
		for {
			frame, err := f.ReadFrame()
			if err != nil {
				pings <- n
				return
			}
			if _, ok := frame.(*xhttp2.PingFrame); ok {
				n++
			}
		}
	}()
	owner := &clientOwner{ended: make(chan struct{})}
	c := http2.NewClient(conn, transport.Goroutines, owner)
	if err := c.AwaitSettings(time.Minute); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := c.Ping(10 * time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("a server that does not respond: %v", err)
		}
	}
	c.Retire()
	if n := <-pings; n != 1 {
		t.Errorf("%d PINGs were sent, want one", n)
	}
	<-owner.ended
}
