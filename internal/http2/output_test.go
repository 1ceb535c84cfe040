package http2_test

import (
	"sync"
	"testing"
	"time"

	xhttp2 "golang.org/x/net/http2"

	"github.com/weirhq/weir/internal/http2"
	"github.com/weirhq/weir/internal/transport"
)

// A failures keeps the errors of a connection.
type failures struct {
	recorder
	reasons []http2.Reason
}

func (f *failures) Failed(e *http2.Error, connection bool) {
	if connection {
		f.reasons = append(f.reasons, e.Reason)
	}
}

// A responder sends a response on every stream, in a task, when all streams are open.
type responder struct {
	recorder
	size int
	open sync.WaitGroup // of the streams that are not open
}

func (r *responder) Opened(s *http2.Stream) {
	r.open.Done()
	go func() {
		r.open.Wait()
		h := http2.NewHead()
		h.Status(200)
		s.SendHead(h, false)
		s.Write(make([]byte, r.size), true)
		s.Close()
	}()
}

// Each stream gets a part of the window of the connection before the response of another one is complete.
func TestStreamsShareTheWindow(t *testing.T) {
	const streams, size = 8, 1 << 20
	server, client := netPair(t)
	owner := &responder{size: size}
	owner.open.Add(streams)
	served := make(chan struct{})
	go func() {
		defer close(served)
		c := http2.NewServer(server, transport.Goroutines, owner)
		c.Begin(nil)
		c.Serve()
	}()
	client.Write([]byte(xhttp2.ClientPreface))
	f := xhttp2.NewFramer(client, client)
	f.WriteSettings(xhttp2.Setting{ID: xhttp2.SettingInitialWindowSize, Val: size})
	get := []byte{0x82, 0x86, 0x84, 0x41, 1, 'a'} // GET http / and the authority a
	for i := range uint32(streams) {
		f.WriteHeaders(xhttp2.HeadersFrameParam{StreamID: 2*i + 1, BlockFragment: get, EndHeaders: true, EndStream: true})
	}
	received := make(map[uint32]int)
	least, total := 0, 0 // least when the first response was complete
	heads, owed := 0, 0
	for ended := 0; ended < streams; {
		client.SetReadDeadline(time.Now().Add(10 * time.Second))
		frame, err := f.ReadFrame()
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := frame.(*xhttp2.HeadersFrame); ok {
			heads++
		}
		data, ok := frame.(*xhttp2.DataFrame)
		if ok {
			received[data.StreamID] += len(data.Data())
			total += len(data.Data())
			owed += len(data.Data())
		}
		if heads == streams && owed > 0 {
			f.WriteWindowUpdate(0, uint32(owed))
			owed = 0
		}
		if !ok {
			continue
		}
		if data.StreamEnded() {
			if ended++; ended == 1 {
				least = size
				for i := range uint32(streams) {
					least = min(least, received[2*i+1])
				}
			}
		}
	}
	if total != streams*size || len(received) != streams || least == 0 {
		t.Errorf("%d bytes; when the first response was complete, another had %d of %d", total, least, size)
	}
	client.Close()
	<-served
}
