package http2_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	xhttp2 "golang.org/x/net/http2"

	"github.com/weirhq/weir/internal/http2"
	"github.com/weirhq/weir/internal/transport"
)

const drainWait = 250 * time.Millisecond

var drainMark = [8]byte{'d', 'r', 'a', 'i', 'n'}

// The ways in which a server ends a connection, and what its client receives.
func TestServerAnnouncesEndOfConnection(t *testing.T) {
	later := func(p *peer, d time.Duration) { // nothing arrives until d has passed
		p.flush()
		before := len(p.got)
		time.Sleep(d - time.Nanosecond)
		p.flush()
		if len(p.got) > before {
			p.t.Errorf("received %q before %v", p.got[before:], d)
		}
		time.Sleep(time.Nanosecond)
	}
	const announced, refused = "GOAWAY 2147483647 NO_ERROR, PING drain", "GOAWAY 1 NO_ERROR"
	for _, c := range []struct {
		name   string
		play   func(p *peer)
		want   string
		reason http2.Reason
	}{
		{"nothing is sent", func(p *peer) { later(p, idleTimeout+slack) }, "GOAWAY 0 NO_ERROR, end", ""},
		{"idle after a request", func(p *peer) {
			time.Sleep(idleTimeout / 2)
			p.get(1, "/")
			later(p, idleTimeout+slack)
		}, okay + ", GOAWAY 1 NO_ERROR, end", ""},
		{"a request takes longer than the idle timeout", func(p *peer) {
			p.get(1, "/hold")
			later(p, 10*idleTimeout)
		}, "", ""},
		{"a part of a frame", func(p *peer) {
			p.out.WriteString("\x00\x00\x08")
			later(p, headerTimeout)
		}, "GOAWAY 0 ENHANCE_YOUR_CALM, end", http2.SlowHead},
		{"a part of a header block, with other streams", func(p *peer) {
			p.get(1, "/hold")
			p.beginHead(3)
			p.flush()
			time.Sleep(headerTimeout / 2)
			p.WriteContinuation(3, false, nil)
			later(p, headerTimeout/2)
		}, "GOAWAY 3 ENHANCE_YOUR_CALM, end", http2.SlowHead},
		{"a client that does not close", func(p *peer) {
			p.WriteRawFrame(xhttp2.FramePing, 0, 0, nil)
			later(p, 500*time.Millisecond)
			p.flush()
		}, badSize + ", close", http2.FrameSize},
		{"drained without a stream", func(p *peer) {
			p.conn.Drain()
			later(p, drainWait)
			p.flush()
			time.Sleep(drainWait)
		}, announced + ", GOAWAY 0 NO_ERROR, end", ""},
		{"drained when the first stream comes", func(p *peer) {
			p.conn.Drain()
			p.get(1, "/")
			p.flush()
			p.WritePing(true, drainMark)
		}, announced + ", " + okay + ", " + refused + ", end", ""},
		{"drained with a stream", func(p *peer) {
			p.get(1, "/hold")
			p.flush()
			p.conn.Drain()
			p.conn.Drain()
			p.get(3, "/") // was sent before GOAWAY arrived
			p.flush()
			p.WritePing(true, drainMark)
			p.get(5, "/") // is not served
			p.flush()
			p.WriteData(5, true, nil)
			p.WriteRSTStream(1, xhttp2.ErrCodeCancel)
		}, announced + ", HEADERS 3 200, DATA 3 hello END_STREAM, GOAWAY 3 NO_ERROR, end", ""},
		{"drained while a header block arrives", func(p *peer) {
			p.get(1, "/")
			p.flush()
			p.conn.Drain()
			p.beginHead(3)
			later(p, drainWait)
			p.flush()
			p.WriteContinuation(3, true, nil)
		}, okay + ", " + announced + ", GOAWAY 3 NO_ERROR, HEADERS 3 200, DATA 3 hello END_STREAM, end", ""},
		{"drained while a malformed header block arrives", func(p *peer) {
			p.get(1, "/")
			p.flush()
			p.conn.Drain()
			p.WriteHeaders(xhttp2.HeadersFrameParam{StreamID: 3, BlockFragment: p.fields(":method", "GET"), EndStream: true})
			later(p, drainWait)
			p.flush()
			p.WriteContinuation(3, true, nil)
		}, okay + ", " + announced + ", GOAWAY 3 NO_ERROR, HEADERS 3 400 0 END_STREAM, RST_STREAM 3 PROTOCOL_ERROR, end", ""},
		{"drained, and the last exchange ends while a header block arrives", func(p *peer) {
			p.side.respond = func(s *http2.Stream) {
				time.Sleep(2 * drainWait)
				respondTo(s)
			}
			p.get(1, "/")
			p.flush()
			p.conn.Drain()
			p.beginHead(3)
			later(p, drainWait)
			later(p, drainWait)
			p.flush()
			p.WriteContinuation(3, true, nil)
			p.flush()
			time.Sleep(2 * drainWait)
		}, announced + ", GOAWAY 3 NO_ERROR, " + okay + ", HEADERS 3 200, DATA 3 hello END_STREAM, end", ""},
		{"drained without a response to PING", func(p *peer) {
			p.get(1, "/hold")
			p.flush()
			p.conn.Drain()
			later(p, drainWait)
		}, announced + ", " + refused, ""},
		{"aborted with a stream", func(p *peer) {
			p.get(1, "/hold")
			p.flush()
			p.conn.Abort()
		}, "reset", ""},
		{"aborted without a stream", func(p *peer) { p.conn.Abort() }, "close", ""},
		{"the client does not read", func(p *peer) {
			p.get(1, "/large")
			p.wire.change(func() { p.wire.space = 10 })
			p.WriteWindowUpdate(0, 1<<20)
			p.WriteWindowUpdate(1, 1<<20)
			later(p, writeTimeout)
		}, "close", http2.SlowReader},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				p := newServer(t)
				c.play(p)
				p.flush()
				p.expect(c.want)
				p.close()
				if got := p.side.fatal; c.reason == "" && got != nil || c.reason != "" && !slices.Equal(got, []http2.Reason{c.reason}) {
					t.Errorf("failed because of %q, want %q", got, c.reason)
				}
			})
		})
	}
}

// The client has sent nothing when the connection is drained. It gets its first response.
func TestDrainWaitsForFirstResponse(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := newPeer(t)
		p.conn = http2.NewServer(p.wire, transport.Goroutines, p.side)
		p.conn.Drain()
		p.conn.Begin([]byte(xhttp2.ClientPreface[:10])) // was read with the beginning of the connection
		go p.conn.Serve()
		p.out.WriteString(xhttp2.ClientPreface[10:])
		p.WriteSettings()
		p.flush()
		p.expect("SETTINGS 3=250 6=4096, WINDOW_UPDATE 0 983041, SETTINGS ACK")
		p.get(1, "/")
		p.flush()
		p.expect("GOAWAY 2147483647 NO_ERROR, PING drain, " + okay)
		p.close()
	})
}

func TestClientWithoutSettingsTimesOut(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := newPeer(t)
		p.serve()
		p.out.WriteString(xhttp2.ClientPreface)
		p.flush()
		p.got = nil
		time.Sleep(headerTimeout)
		p.flush()
		p.expect("GOAWAY 0 ENHANCE_YOUR_CALM, end")
		if got, want := p.close(), []http2.Reason{http2.SlowHead}; !slices.Equal(got, want) {
			t.Errorf("failed because of %q, want %q", got, want)
		}
	})
}

// The operations of a stream of a server, and what its client receives.
func TestStreamOperationsReachTheClient(t *testing.T) {
	head := func(s *http2.Stream, status int) *http2.Head {
		h := s.NewHead()
		h.Status(status)
		return h
	}
	now := func() time.Time { return time.Now() }
	for _, c := range []struct {
		name     string
		exchange func(s *http2.Stream) string
		play     func(p *peer) // after the head of a POST
		want     string
		result   string
	}{
		{"an informational response, and one too late", func(s *http2.Stream) string {
			errs := []error{s.SendInterim(head(s, 103)), s.SendHead(head(s, 200), true), s.SendInterim(head(s, 103))}
			return fmt.Sprint(errs)
		}, func(*peer) {}, "HEADERS 1 103, HEADERS 1 200 END_STREAM, RST_STREAM 1 NO_ERROR", "[<nil> <nil> <nil>]"},
		{"a write after the end", func(s *http2.Stream) string {
			s.SendHead(head(s, 200), true)
			n, err := s.Write([]byte("a"), true)
			return fmt.Sprint(n, err, s.SendHead(head(s, 200), true))
		}, func(*peer) {}, "HEADERS 1 200 END_STREAM, RST_STREAM 1 NO_ERROR",
			"0 http/2: the stream was ended by this side http/2: the stream was ended by this side"},
		{"no response", func(*http2.Stream) string { return "" }, func(*peer) {}, "RST_STREAM 1 INTERNAL_ERROR", ""},
		{"a reset", func(s *http2.Stream) string {
			s.Reset(xhttp2.ErrCodeEnhanceYourCalm)
			return fmt.Sprint(s.SendHead(head(s, 200), true))
		}, func(*peer) {}, "RST_STREAM 1 ENHANCE_YOUR_CALM", http2.ErrClosed.Error()},
		{"a read whose deadline passes", func(s *http2.Stream) string {
			s.SetReadDeadline(now().Add(time.Second))
			_, err := readBody(s)
			return fmt.Sprint(errors.Is(err, os.ErrDeadlineExceeded))
		}, func(*peer) { time.Sleep(time.Second) }, "RST_STREAM 1 INTERNAL_ERROR", "true"},
		{"a write whose deadline passes, for the window of the stream", func(s *http2.Stream) string {
			s.SetWriteDeadline(now().Add(time.Second))
			n, err := s.Write(make([]byte, 70_000), true)
			return fmt.Sprint(n, errors.Is(err, os.ErrDeadlineExceeded))
		}, func(*peer) { time.Sleep(time.Second) },
			"DATA 1 16384, DATA 1 16384, DATA 1 16384, DATA 1 16383, RST_STREAM 1 INTERNAL_ERROR", "65535 true"},
		{"a write whose deadline passes, for the window of the connection", func(s *http2.Stream) string {
			s.SetWriteDeadline(now().Add(time.Second))
			n, err := s.Write(make([]byte, 70_000), true)
			return fmt.Sprint(n, errors.Is(err, os.ErrDeadlineExceeded))
		}, func(p *peer) {
			p.WriteWindowUpdate(1, 1<<20)
			p.flush()
			time.Sleep(time.Second)
		}, "DATA 1 16384, DATA 1 16384, DATA 1 16384, DATA 1 16383, RST_STREAM 1 INTERNAL_ERROR", "65535 true"},
		{"room as far as the windows allow", func(s *http2.Stream) string {
			first, err := s.Room()
			s.Write(make([]byte, first), false)
			s.Flush()
			rest, err2 := s.Room()
			s.Write(make([]byte, rest), false)
			s.SetWriteDeadline(now().Add(time.Second))
			_, err3 := s.Room()
			return fmt.Sprint(first, err, rest, err2, errors.Is(err3, os.ErrDeadlineExceeded))
		}, func(*peer) { time.Sleep(time.Second) },
			"DATA 1 16384, DATA 1 16384, DATA 1 16384, DATA 1 16383, RST_STREAM 1 INTERNAL_ERROR",
			"49152 <nil> 16383 <nil> true"},
		{"room after a reset of the client", func(s *http2.Stream) string {
			readBody(s)
			_, err := s.Room()
			return fmt.Sprint(err, s.Flush())
		}, func(p *peer) { p.WriteRSTStream(1, xhttp2.ErrCodeCancel) }, "",
			http2.ErrReset.Error() + " " + http2.ErrReset.Error()},
		{"data that has arrived", func(s *http2.Stream) string {
			_, ok, _ := s.TryRead(make([]byte, 2))
			before := fmt.Sprint(ok, s.Ended())
			time.Sleep(time.Second)
			var got []string
			for range 3 {
				b := make([]byte, 2)
				n, ok, err := s.TryRead(b)
				got = append(got, fmt.Sprintf("%s %v %v", b[:n], ok, err))
			}
			return fmt.Sprint(before, " ", got, s.Ended())
		}, func(p *peer) {
			p.WriteData(1, true, []byte("abc"))
			p.flush()
			time.Sleep(time.Second)
		}, "RST_STREAM 1 INTERNAL_ERROR", "false false [ab true <nil> c true <nil>  true <nil>] true"},
		{"a head of several frames", func(s *http2.Stream) string {
			h := head(s, 200)
			h.Add("x-long", strings.Repeat("~", 20<<10)) // longer in a Huffman code
			return fmt.Sprint(s.SendHead(h, true))
		}, func(p *peer) { p.in.ReadMetaHeaders = nil },
			"HEADERS 1 16384 END_STREAM, CONTINUATION 1 4109, RST_STREAM 1 NO_ERROR", "<nil>"},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				p := newServer(t)
				var result string
				p.side.respond = func(s *http2.Stream) { result = c.exchange(s) }
				p.post(1, "/")
				p.wire.change(func() { p.wire.in = append(p.wire.in, p.out.Bytes()...) })
				p.out.Reset()
				synctest.Wait()
				c.play(p)
				p.flush()
				p.expect(c.want)
				if p.close(); result != c.result {
					t.Errorf("%q, want %q", result, c.result)
				}
			})
		})
	}
}

// TestSlowReaderGetsAllResponses sends responses to a client that reads slowly. Its other requests wait for space in
// the output. When the exchanges have ended, the client still gets the output, also if it takes longer than the idle
// timeout or the server ends.
func TestSlowReaderGetsAllResponses(t *testing.T) {
	for _, drain := range []bool{false, true} {
		t.Run(fmt.Sprint("drain: ", drain), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				p := newServer(t)
				p.wire.change(func() { p.wire.space = 0 })
				p.WriteWindowUpdate(0, 1<<24)
				p.WriteSettings(xhttp2.Setting{ID: xhttp2.SettingInitialWindowSize, Val: 1 << 20})
				for i := range uint32(4) {
					p.get(2*i+1, "/large")
				}
				p.flush()
				if drain {
					p.conn.Drain()
				}
				for range 4 * large / 1000 {
					time.Sleep(writeTimeout / 10)
					p.wire.change(func() { p.wire.space += 1100 })
				}
				p.flush()
				if ends := strings.Count(strings.Join(p.got, ","), "END_STREAM"); ends != 4 {
					t.Errorf("%d responses have ended, want 4: %q", ends, p.got)
				}
				if p.got[len(p.got)-1] != "close" || !slices.Contains(p.got, "GOAWAY 7 NO_ERROR") {
					t.Errorf("the connection has not ended after the responses: %q", p.got)
				}
				if got := p.close(); got != nil {
					t.Errorf("failed because of %q", got)
				}
			})
		})
	}
}

// TestErrorsNameTheirReason checks that errors name their reason, and not only a code.
func TestErrorsNameTheirReason(t *testing.T) {
	e := &http2.Error{Code: xhttp2.ErrCodeProtocol, Reason: http2.Malformed, Detail: "a detail"}
	if got, want := e.Error(), "http/2: malformed: a detail"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
