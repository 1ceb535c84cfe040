package http2_test

import (
	"bytes"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	xhttp2 "golang.org/x/net/http2"

	"github.com/weirhq/weir/internal/http2"
	"github.com/weirhq/weir/internal/transport"
)

// A holder does not respond to requests.
type holder struct {
	failures
	streams []*http2.Stream
}

func (h *holder) Opened(s *http2.Stream) { h.streams = append(h.streams, s) }

func (h *holder) closeAll() {
	for _, s := range h.streams {
		s.Close()
	}
	h.streams = nil
}

// A pausedConn is a memoryConn that waits before each part of its input.
type pausedConn struct {
	memoryConn
	pause func()
}

func (c *pausedConn) ReadInto(s transport.Space) (int, error) {
	c.pause()
	return c.memoryConn.ReadInto(s)
}

// TestFloods sends frames that cost the server more than the client, at one moment of virtual time: as many as are
// allowed, and one more, which ends the connection. Then it sends frames for three seconds at the rate that is allowed.
func TestFloods(t *testing.T) {
	get, post := []byte{0x82, 0x86, 0x84, 0x41, 1, 'a'}, []byte{0x83, 0x86, 0x84, 0x41, 1, 'a'} // GET, POST http / and the authority a
	open := func(f *xhttp2.Framer, i int, block []byte, end bool) uint32 {
		id := uint32(2*i + 1)
		f.WriteHeaders(xhttp2.HeadersFrameParam{StreamID: id, BlockFragment: block, EndHeaders: true, EndStream: end})
		return id
	}
	for _, c := range []struct {
		reason    http2.Reason
		name      string
		most      int // the burst, and the number of a second
		perSecond int
		closes    bool // requests that the client has cancelled
		send      func(f *xhttp2.Framer, i int)
	}{
		{http2.Resets, "cancelled requests", 550, 50, true, func(f *xhttp2.Framer, i int) {
			f.WriteRSTStream(open(f, i, get, true), xhttp2.ErrCodeCancel)
		}},
		{http2.Resets, "malformed requests", 550, 50, false, func(f *xhttp2.Framer, i int) { open(f, i, get[:1], true) }},
		{http2.EmptyFrames, "", 550, 50, false, func(f *xhttp2.Framer, i int) {
			if i == 0 {
				open(f, 0, post, false)
			}
			f.WriteData(1, false, nil)
		}},
		{http2.Pings, "", 3000, 1000, false, func(f *xhttp2.Framer, _ int) { f.WritePing(false, [8]byte{}) }},
		{http2.Pings, "acknowledgements", 3000, 1000, false, func(f *xhttp2.Framer, _ int) { f.WritePing(true, [8]byte{}) }},
		{http2.SettingsFlood, "", 110, 10, false, func(f *xhttp2.Framer, _ int) { f.WriteSettings() }},
		{http2.SettingsFlood, "acknowledgements", 110, 10, false, func(f *xhttp2.Framer, _ int) { f.WriteSettingsAck() }},
		{http2.WindowUpdates, "", 20000, 10000, false, func(f *xhttp2.Framer, _ int) { f.WriteWindowUpdate(0, 1) }},
		{http2.OtherFrames, "PRIORITY", 2500, 500, false, func(f *xhttp2.Framer, _ int) {
			f.WritePriority(1, xhttp2.PriorityParam{StreamDep: 3})
		}},
		{http2.OtherFrames, "GOAWAY", 2500, 500, false, func(f *xhttp2.Framer, _ int) { f.WriteGoAway(0, xhttp2.ErrCodeNo, nil) }},
		{http2.OtherFrames, "unknown", 2500, 500, false, func(f *xhttp2.Framer, _ int) { f.WriteRawFrame(0x20, 0, 0, nil) }},
	} {
		t.Run(string(c.reason)+" "+c.name, func(t *testing.T) {
			sent := 0
			var part bytes.Buffer
			f := xhttp2.NewFramer(&part, nil)
			next := func(n int) []byte {
				for range n {
					c.send(f, sent)
					sent++
				}
				defer part.Reset()
				return bytes.Clone(part.Bytes())
			}
			// serve sends n frames in each round, and returns the reasons of the failure.
			serve := func(rounds, n int, pause time.Duration) []http2.Reason {
				sent = 0
				part.WriteString(xhttp2.ClientPreface)
				f.WriteSettings()
				in := [][]byte{next(0)}
				for range rounds {
					for left := n; left > 0; left -= 100 { // fewer than the streams that may be open
						in = append(in, next(min(left, 100)))
					}
				}
				owner := new(holder)
				server := http2.NewServer(&pausedConn{memoryConn{in: in}, func() {
					if c.closes {
						owner.closeAll()
					}
					time.Sleep(pause * 100 / time.Duration(max(n, 100)))
				}}, transport.Goroutines, owner)
				server.Begin(nil)
				server.Serve()
				owner.closeAll()
				return owner.reasons
			}
			synctest.Test(t, func(t *testing.T) {
				most := c.most
				if c.reason == http2.SettingsFlood {
					most-- // the first frame of the connection
				}
				if got := serve(1, most, 0); got != nil {
					t.Errorf("failed because of %v with %d", got, most)
				}
				if got := serve(1, most+1, 0); !slices.Equal(got, []http2.Reason{c.reason}) {
					t.Errorf("failed because of %v with %d", got, most+1)
				}
				if got := serve(3, c.perSecond, time.Second); got != nil {
					t.Errorf("failed because of %v at %d per second", got, c.perSecond)
				}
			})
		})
	}
}
