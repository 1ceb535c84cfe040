package http2_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	xhttp2 "golang.org/x/net/http2"

	"github.com/weirhq/weir/internal/http2"
)

// A flood consists of frames that cost the receiver more than the sender.
type flood struct {
	reason    http2.Reason
	name      string
	most      int // how many are allowed at one moment: the burst, and the number of a second
	perSecond int // 0 if time does not matter
	send      func(p *peer, i int)
}

// id returns the number of the client's stream i.
func id(i int) uint32 { return uint32(2*i + 1) }

// anySide are floods that do not need a stream.
var anySide = []flood{
	{http2.Pings, "PING", 3000, 1000, func(p *peer, _ int) { p.WritePing(false, [8]byte{}) }},
	{http2.Pings, "PING with ACK", 3000, 1000, func(p *peer, _ int) { p.WritePing(true, [8]byte{}) }},
	{http2.SettingsFlood, "SETTINGS", 109, 10, func(p *peer, _ int) { p.WriteSettings() }}, // and the first frame
	{http2.SettingsFlood, "SETTINGS with ACK", 109, 10, func(p *peer, _ int) { p.WriteSettingsAck() }},
	{http2.WindowUpdates, "WINDOW_UPDATE", 20000, 10000, func(p *peer, _ int) { p.WriteWindowUpdate(0, 1) }},
	{http2.OtherFrames, "PRIORITY", 2500, 500, func(p *peer, _ int) { p.WritePriority(1, xhttp2.PriorityParam{StreamDep: 3}) }},
	{http2.OtherFrames, "GOAWAY", 2500, 500, func(p *peer, _ int) { p.WriteGoAway(1, xhttp2.ErrCodeNo, nil) }},
	{http2.OtherFrames, "frames of an unknown type", 2500, 500, func(p *peer, _ int) { p.WriteRawFrame(0x20, 0, 0, nil) }},
	{http2.Output, "PING whose responses are not read", 1001, 0, func(p *peer, _ int) { // one is being written
		p.wire.change(func() { p.wire.space = 0 })
		p.WritePing(false, [8]byte{})
	}},
	{http2.Continuations, "frames of a header block", 100, 0, func(p *peer, i int) {
		if i == 0 {
			p.WriteHeaders(xhttp2.HeadersFrameParam{StreamID: 1})
		} else {
			p.WriteContinuation(1, false, nil)
		}
	}},
	{http2.HeaderList, "KiB of a header block", 2 * headerList >> 10, 0, func(p *peer, i int) {
		block := make([]byte, 1<<10)
		for i := range block {
			block[i] = 0x90 // an indexed field
		}
		if i == 0 {
			p.WriteHeaders(xhttp2.HeadersFrameParam{StreamID: 1, BlockFragment: block})
		} else {
			p.WriteContinuation(1, false, block)
		}
	}},
}

var ofClients = []flood{
	{http2.Resets, "requests that are cancelled", 550, 50, func(p *peer, i int) {
		p.get(id(i), "/hold")
		p.WriteRSTStream(id(i), xhttp2.ErrCodeCancel)
	}},
	{http2.Resets, "malformed requests", 550, 50, func(p *peer, i int) { p.head(id(i), true, ":method", "GET") }},
	{http2.Resets, "requests with a window of more than 2^31-1", 550, 50, func(p *peer, i int) {
		p.get(id(i), "/hold")
		p.WriteWindowUpdate(id(i), 1<<31-1)
	}},
	{http2.Resets, "requests with a WINDOW_UPDATE of 0", 550, 50, func(p *peer, i int) {
		p.get(id(i), "/hold")
		p.WriteRawFrame(xhttp2.FrameWindowUpdate, 0, id(i), make([]byte, 4))
	}},
	{http2.Resets, "requests with trailers that are not valid", 550, 50, func(p *peer, i int) {
		p.post(id(i), "/")
		p.head(id(i), true, ":path", "/")
	}},
	{http2.Resets, "requests that depend on themselves", 550, 50, func(p *peer, i int) {
		p.WritePriority(id(i), xhttp2.PriorityParam{StreamDep: id(i)})
	}},
	{http2.Resets, "WINDOW_UPDATE of 0 after the end", 550, 50, func(p *peer, i int) {
		if i == 0 {
			p.get(1, "/hold")
		}
		p.WriteRawFrame(xhttp2.FrameWindowUpdate, 0, 1, make([]byte, 4))
	}},
	{http2.Resets, "requests beyond MAX_CONCURRENT_STREAMS", http2.MaxStreams + 550, 0, func(p *peer, i int) {
		p.get(id(i), "/hold")
	}},
	{http2.EmptyFrames, "DATA", 550, 50, func(p *peer, i int) {
		if i == 0 {
			p.post(1, "/hold")
		}
		p.WriteData(1, false, nil)
	}},
}

// Stream 1 waits for a response.
var ofServers = []flood{
	{http2.Resets, "RST_STREAM", 550, 50, func(p *peer, _ int) { p.WriteRSTStream(1, xhttp2.ErrCodeCancel) }},
	{http2.EmptyFrames, "DATA", 550, 50, func(p *peer, i int) {
		if i == 0 {
			p.head(1, false, ":status", "200")
		}
		p.WriteData(1, false, nil)
	}},
}

// flow sends n frames of a flood in each round, and returns the reasons why the connection has failed.
func (f *flood) flow(p *peer, rounds, n int, pause time.Duration) []http2.Reason {
	sent := 0
	for range rounds {
		for left := n; left > 0; left -= 100 { // fewer than the streams that may be open
			for range min(left, 100) {
				f.send(p, sent)
				sent++
			}
			p.flush()
			time.Sleep(pause * 100 / time.Duration(max(n, 100)))
		}
	}
	p.close()
	return p.side.fatal
}

// TestFloodsEndTheConnection sends frames at one moment of virtual time: as many as are allowed, and one more, which
// ends the connection. Then it sends frames for three seconds at the rate that is allowed.
func TestFloodsEndTheConnection(t *testing.T) {
	for _, side := range []struct {
		name   string
		begin  func(t *testing.T) *peer
		floods []flood
	}{
		{"server", newServer, slices.Concat(anySide, ofClients)},
		{"client", func(t *testing.T) *peer {
			p := newClient(t)
			p.open("GET", true, readResponse)
			return p
		}, slices.Concat(anySide, ofServers)},
	} {
		for _, f := range side.floods {
			t.Run(side.name+" "+f.name, func(t *testing.T) {
				check := func(rounds, n int, pause time.Duration, want ...http2.Reason) {
					bubble(t, func(t *testing.T) {
						if got := f.flow(side.begin(t), rounds, n, pause); !slices.Equal(got, want) {
							t.Errorf("%d times %d: failed because of %q, want %q", rounds, n, got, want)
						}
					})
				}
				check(1, f.most, 0)
				check(1, f.most+1, 0, f.reason)
				if f.perSecond > 0 {
					check(3, f.perSecond, time.Second)
				}
			})
		}
	}
}

// TestEarlyResponsesAreNotAFlood sends complete responses before the ends of their requests, and stops these requests,
// before or after the client has closed their streams. This happens more often than resets are allowed, at one moment of
// virtual time.
func TestEarlyResponsesAreNotAFlood(t *testing.T) {
	for _, closed := range []bool{false, true} {
		t.Run(fmt.Sprint("closed before: ", closed), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				p := newClient(t)
				next := make(chan struct{})
				for i := range 551 {
					got := p.open("POST", false, func(s *http2.Stream) string {
						r := readResponse(s)
						if !closed {
							<-next
						}
						return r
					})
					p.head(id(i), true, ":status", "413")
					if closed {
						p.flush()
					}
					p.WriteRSTStream(id(i), xhttp2.ErrCodeNo)
					p.flush()
					if !closed {
						next <- struct{}{}
					}
					if p.side.running.Wait(); *got != `413 ""` {
						t.Fatalf("the response is %s", *got)
					}
				}
				if reasons := p.close(); reasons != nil {
					t.Errorf("failed because of %q", reasons)
				}
			})
		})
	}
}

// TestDataEarnsControlFrames sends frames that belong to data of the other side, more than a second and a burst allow,
// at one moment of virtual time.
func TestDataEarnsControlFrames(t *testing.T) {
	send := func(s *http2.Stream) { // until the window is closed
		s.Write(make([]byte, 16<<20), true)
	}
	echo := func(s *http2.Stream) { // ten bytes for each byte, in a frame of their own
		for in := new(space); ; {
			n, err := s.ReadInto(in)
			if err != nil {
				return
			}
			for range n {
				s.Write([]byte("0123456789"), false)
			}
			s.Flush()
		}
	}
	for _, c := range []struct {
		name     string
		exchange func(s *http2.Stream)
		n        int
		play     func(p *peer)
		want     []http2.Reason
	}{
		{"two WINDOW_UPDATE for each 512 bytes", send, 11_000, func(p *peer) {
			p.WriteWindowUpdate(1, 512)
			p.WriteWindowUpdate(0, 512)
		}, nil},
		{"PING for each KiB", send, 3500, func(p *peer) {
			p.WriteWindowUpdate(1, 1<<10)
			p.WriteWindowUpdate(0, 1<<10)
			p.WritePing(false, [8]byte{})
		}, nil},
		{"PING for each small message", echo, 3500, func(p *peer) {
			p.WriteData(1, false, []byte("a"))
			p.WritePing(false, [8]byte{})
		}, nil},
		{"WINDOW_UPDATE for each byte", send, 21_000, func(p *peer) { p.WriteWindowUpdate(1, 1) },
			[]http2.Reason{http2.WindowUpdates}},
	} {
		for _, side := range []struct {
			name  string
			begin func(t *testing.T) *peer // with stream 1, open in both directions
		}{
			{"server", func(t *testing.T) *peer {
				p := newServer(t)
				p.side.respond = func(s *http2.Stream) {
					h := s.NewHead()
					h.Status(200)
					s.SendHead(h, false)
					c.exchange(s)
				}
				p.post(1, "/")
				return p
			}},
			{"client", func(t *testing.T) *peer {
				p := newClient(t)
				p.open("POST", false, func(s *http2.Stream) string {
					c.exchange(s)
					return ""
				})
				p.head(1, false, ":status", "200")
				return p
			}},
		} {
			t.Run(side.name+" "+c.name, func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					p := side.begin(t)
					p.WriteWindowUpdate(0, 1<<20)
					for i := range c.n {
						if c.play(p); i%100 == 0 {
							p.flush()
						}
					}
					p.flush()
					if p.close(); !slices.Equal(p.side.fatal, c.want) {
						t.Errorf("failed because of %q, want %q", p.side.fatal, c.want)
					}
				})
			})
		}
	}
}
