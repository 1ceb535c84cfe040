package http2_test

import (
	"bytes"
	"io"
	"testing"

	xhttp2 "golang.org/x/net/http2"

	"github.com/weirhq/weir/internal/http2"
	"github.com/weirhq/weir/internal/transport"
)

// A windowClient sends as much data as the windows of its streams allow, each time that its connection is read.
type windowClient struct {
	memoryConn
	failures
	t       *testing.T
	streams []*http2.Stream
	open    map[uint32]int // windows
	unread  int
	rounds  int // that are left
	most    int // the highest value of unread
	read    bool
}

func (w *windowClient) Opened(s *http2.Stream) { w.streams = append(w.streams, s) }

// ReadInto implements transport.Conn.
func (w *windowClient) ReadInto(s transport.Space) (int, error) {
	if len(w.in) == 0 && w.rounds > 0 {
		w.rounds--
		w.in = [][]byte{w.send()}
	}
	return w.memoryConn.ReadInto(s)
}

// send has the server read all streams if it does that, and returns the frames of a round.
func (w *windowClient) send() []byte {
	for _, s := range w.streams {
		for buf := make([]byte, 1<<20); w.read; {
			n, _, _ := s.TryRead(buf)
			if w.unread -= n; n == 0 {
				break
			}
		}
	}
	var b bytes.Buffer
	f := xhttp2.NewFramer(&b, &w.out)
	for {
		frame, err := f.ReadFrame()
		if err == io.EOF {
			break
		} else if err != nil {
			w.t.Fatal(err)
		}
		if u, ok := frame.(*xhttp2.WindowUpdateFrame); ok && u.StreamID > 0 {
			w.open[u.StreamID] += int(u.Increment)
		}
	}
	for id, n := range w.open {
		for w.unread += n; n > 0; {
			part := min(n, 16<<10)
			f.WriteData(id, false, make([]byte, part))
			n -= part
		}
		w.open[id] = 0
	}
	w.most = max(w.most, w.unread)
	return b.Bytes()
}

// The streams of a client share the growth of their windows, and bodies that are not read do not use up the window of
// the connection.
func TestStreamsShareGrowthOfWindows(t *testing.T) {
	const window = 65535
	for _, c := range []struct {
		name    string
		streams int
		read    bool
		most    int // data that is not read
	}{
		{"no stream is read", http2.MaxStreams, false, http2.MaxStreams * window},
		{"one stream is read", 1, true, 256 << 10},
		{"eight streams are read", 8, true, 8*window + 1<<20},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &windowClient{t: t, open: make(map[uint32]int), rounds: 10, read: c.read}
			var b bytes.Buffer
			b.WriteString(xhttp2.ClientPreface)
			f := xhttp2.NewFramer(&b, nil)
			f.WriteSettings()
			post := []byte{0x83, 0x86, 0x84, 0x41, 1, 'a'} // POST http / and the authority a
			for i := range uint32(c.streams) {
				f.WriteHeaders(xhttp2.HeadersFrameParam{StreamID: 2*i + 1, BlockFragment: post, EndHeaders: true})
				w.open[2*i+1] = window
			}
			w.in = [][]byte{b.Bytes()}
			conn := http2.NewServer(w, transport.Goroutines, w)
			conn.Begin(nil)
			conn.Serve()
			if w.most != c.most || w.reasons != nil {
				t.Errorf("%d bytes were sent and not read, want %d; failures %v", w.most, c.most, w.reasons)
			}
			for _, s := range w.streams {
				s.Close()
			}
		})
	}
}
