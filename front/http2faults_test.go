package front_test

import (
	"bytes"
	"net/http"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/internal/testkit"
)

// TestHTTP2FaultsHaveOneEvent has clients that end a request in all ways. Each request has one completed
// event, and nothing is left in flight.
func TestHTTP2FaultsHaveOneEvent(t *testing.T) {
	t.Parallel()
	post := func(path string) []string {
		return []string{":method", "POST", ":scheme", "http", ":authority", "a", ":path", path}
	}
	for _, c := range []struct {
		name   string
		status int  // of the event
		whole  bool // the upstream has the request before the fault
		fault  func(h2 *rawHTTP2, stream uint32)
	}{
		{"reset while the upstream works", 499, true, func(h2 *rawHTTP2, stream uint32) {
			h2.framer.WriteRSTStream(stream, http2.ErrCodeCancel)
		}},
		{"reset in the middle of the body", 499, false, func(h2 *rawHTTP2, stream uint32) {
			h2.framer.WriteData(stream, false, []byte("body"))
			h2.framer.WriteRSTStream(stream, http2.ErrCodeCancel)
		}},
		{"end of the connection", 499, true, func(h2 *rawHTTP2, stream uint32) {
			h2.conn.Close()
		}},
		{"end of the connection in the middle of the body", 499, false, func(h2 *rawHTTP2, stream uint32) {
			h2.framer.WriteData(stream, false, []byte("body"))
			h2.conn.Close()
		}},
		{"end of the connection in the middle of a frame", 499, false, func(h2 *rawHTTP2, stream uint32) {
			h2.conn.send("\x00\x10\x00\x00\x00\x00\x00\x00\x01part")
			h2.conn.Close()
		}},
		{"reset of the connection", 499, true, func(h2 *rawHTTP2, stream uint32) {
			h2.conn.SetLinger(0)
			h2.conn.Close()
		}},
		{"half-closed connection", 499, true, func(h2 *rawHTTP2, stream uint32) {
			h2.conn.CloseWrite()
		}},
		{"error of the connection", 499, true, func(h2 *rawHTTP2, stream uint32) {
			h2.framer.WriteRawFrame(http2.FramePing, 0, 0, nil)
		}},
		{"body longer than content-length", 400, false, func(h2 *rawHTTP2, stream uint32) {
			long := h2.begin(false, append(post("/slow"), "content-length", "3")...)
			h2.framer.WriteData(long, false, []byte("body"))
			h2.framer.WriteRSTStream(stream, http2.ErrCodeCancel)
		}},
		{"stalled body", 408, false, func(h2 *rawHTTP2, stream uint32) { h2.framer.WriteData(stream, false, []byte("body")) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			url, received := waitingUpstream(t)
			d := openDoor(t, url, limited(quick))
			h2 := dialHTTP2(t, d.addr)
			h2.framer.WriteWindowUpdate(0, 1<<20)
			stream := h2.begin(false, post("/slow")...)
			testkit.AwaitEqual(t, "in flight", func() float64 { return d.metric(t, "weir_requests_in_flight") }, 1)
			if c.whole {
				h2.framer.WriteData(stream, true, []byte("body"))
				testkit.AwaitEqual(t, "the upstream has it", received.Load, 1)
			}
			c.fault(h2, stream)
			testkit.AwaitEqual(t, "the end", func() float64 { return d.metric(t, "weir_requests_in_flight") }, 0)
			d.close()
			var statuses []int
			for _, e := range d.log.events(t) {
				if e.Event == "http request completed" {
					statuses = append(statuses, e.HTTP.StatusCode)
				}
			}
			if len(statuses) != int(h2.stream+1)/2 || statuses[0] != c.status && statuses[len(statuses)-1] != c.status {
				t.Errorf("%d requests have completed events with the statuses %d, want %d", (h2.stream+1)/2, statuses, c.status)
			}
		})
	}
}

// TestHTTP2EarlyResponseStopsTheBody sends a body to a route that does not exist. The response arrives, the
// client is asked not to send the rest, and the connection can be used again.
func TestHTTP2EarlyResponseStopsTheBody(t *testing.T) {
	t.Parallel()
	d := openDoor(t, upstream(t, hello).URL, func(c *config.Config) {
		c.Routes = []config.Route{config.DefaultRoute("/known", "site")}
	})
	h2 := dialHTTP2(t, d.addr)
	stream := h2.begin(false, ":method", "POST", ":scheme", "http", ":authority", "a", ":path", "/unknown")
	h2.framer.WriteData(stream, false, make([]byte, 1000))
	if status, whole := h2.finish(stream); status != 404 || !whole {
		t.Errorf("status %d, whole %v", status, whole)
	}
	for {
		f, err := h2.framer.ReadFrame()
		if err != nil {
			t.Fatal(err)
		}
		if f, ok := f.(*http2.RSTStreamFrame); ok {
			if f.StreamID != stream || f.ErrCode != http2.ErrCodeNo {
				t.Errorf("%v", f)
			}
			break
		}
	}
	h2.framer.WriteData(stream, true, make([]byte, 1000)) // it was on its way
	if status := h2.get(":method", "GET", ":scheme", "http", ":authority", "a", ":path", "/known"); status != 200 {
		t.Errorf("the next request: %d", status)
	}
}

// TestHTTP2SlowHeadEndsTheConnection sends a part of a head, and then nothing.
func TestHTTP2SlowHeadEndsTheConnection(t *testing.T) {
	t.Parallel()
	d := openDoor(t, upstream(t, hello).URL, func(c *config.Config) { c.Limits.HeaderTimeout = quickly })
	h2 := dialHTTP2(t, d.addr)
	h2.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block(getFields...)})
	if code := h2.goAway(); code != int(http2.ErrCodeEnhanceYourCalm) {
		t.Errorf("GOAWAY %d", code)
	}
	if n := d.metric(t, `weir_limit_refusals_total{limit="header_timeout",route="all"}`); n != 1 {
		t.Errorf("%v refusals by header_timeout", n)
	}
}

// TestHTTP2FramesAreReadDuringRequest sends the preface and a request at once, as browsers do. While the
// request takes longer than a head may, the door reads the frames that follow.
func TestHTTP2FramesAreReadDuringRequest(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	d := openDoor(t, slowUpstream(t, g), limited(func(l *config.Limits) { l.HeaderTimeout = quickly }))
	c := dial(t, d.addr)
	h2 := &rawHTTP2{conn: c, framer: http2.NewFramer(c, c.r)}
	var b bytes.Buffer
	b.WriteString(http2.ClientPreface)
	f := http2.NewFramer(&b, nil)
	f.WriteSettings()
	f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block(getFields...), EndStream: true,
		EndHeaders: true})
	c.send(b.String())
	testkit.AwaitEqual(t, "in flight", func() float64 { return d.metric(t, "weir_requests_in_flight") }, 1)
	time.Sleep(quickly * 3 / 2)
	c.SetReadDeadline(time.Now().Add(testTimeout / 2))
	h2.framer.WritePing(false, [8]byte{1})
	for {
		frame, err := h2.framer.ReadFrame()
		if err != nil {
			t.Fatal("no response to a PING during the request:", err)
		}
		if p, ok := frame.(*http2.PingFrame); ok && p.IsAck() {
			break
		}
	}
}

func TestHTTP2IdleConnectionEnds(t *testing.T) {
	t.Parallel()
	d := openDoor(t, upstream(t, hello).URL, func(c *config.Config) { c.Limits.IdleTimeout = 50 * time.Millisecond })
	h2 := dialHTTP2(t, d.addr)
	if status := h2.get(getFields...); status != 200 {
		t.Fatal(status)
	}
	if code := h2.goAway(); code != int(http2.ErrCodeNo) {
		t.Errorf("GOAWAY %d", code)
	}
}

// TestHTTP2DrainServesALateRequest checks both GOAWAY frames: a request that the client sends between them gets
// its response.
func TestHTTP2DrainServesALateRequest(t *testing.T) {
	t.Parallel()
	const tries = 10
	for i := 1; !answersDuringDrain(t); i++ {
		if i == tries {
			t.Fatalf("of %d requests none was sent in time", tries)
		}
	}
}

// answersDuringDrain reports whether the request was sent in the 250 ms that a client has. On a busy machine, it may be
// too late for the second GOAWAY.
func answersDuringDrain(t *testing.T) (inTime bool) {
	t.Helper()
	g := newGate(t)
	d := openDoor(t, slowUpstream(t, g))
	h2 := dialHTTP2(t, d.addr)
	first := h2.begin(true, getFields...)
	testkit.AwaitEqual(t, "in flight", func() float64 { return d.metric(t, "weir_requests_in_flight") }, 1)
	began := time.Now()
	d.drain()
	if last := h2.lastStream(); last != 1<<31-1 {
		t.Errorf("the first GOAWAY has the stream %d", last)
	}
	second := h2.begin(true, getFields...)
	h2.framer.WritePing(true, [8]byte{'d', 'r', 'a', 'i', 'n'})
	inTime = time.Since(began) < 200*time.Millisecond
	if last := h2.lastStream(); last != second && !inTime {
		g.open()
		d.close()
		return false
	} else if last != second {
		t.Errorf("the second GOAWAY has the stream %d, want %d", last, second)
	}
	h2.begin(true, getFields...) // ignored
	g.open()
	statuses := map[uint32]int{}
	for {
		f, err := h2.framer.ReadFrame()
		if err != nil {
			break
		}
		if f, ok := f.(*http2.MetaHeadersFrame); ok {
			statuses[f.StreamID] = statusOf(f)
		}
	}
	if len(statuses) != 2 || statuses[first] != http.StatusOK || statuses[second] != http.StatusOK {
		t.Errorf("the responses are %v", statuses)
	}
	if err := d.close(); err != nil {
		t.Error(err)
	}
	return true
}

// TestHTTP2DrainServesTheFirstStream drains a connection before its first stream, and before the
// first SETTINGS frame. The client may still send a request, which gets its response before
// GOAWAY; if it sends none, GOAWAY ends the connection.
func TestHTTP2DrainServesTheFirstStream(t *testing.T) {
	t.Parallel()
	d := openDoor(t, upstream(t, hello).URL)
	slow := dial(t, d.addr)
	slow.send(http2.ClientPreface)
	used, unused := dialHTTP2(t, d.addr), dialHTTP2(t, d.addr)
	for _, h := range []*rawHTTP2{used, unused} {
		h.send(func(f *http2.Framer) { f.WritePing(false, [8]byte{}) })
		h.awaitPing()
	}
	d.drain()
	if status := used.get(getFields...); status != http.StatusOK {
		t.Errorf("the first request has the status %d", status)
	}
	if last := unused.lastStream(); last != 1<<31-1 {
		t.Errorf("the first GOAWAY has the stream %d", last)
	}
	if last := unused.lastStream(); last != 0 {
		t.Errorf("the second GOAWAY has the stream %d", last)
	}
	late := &rawHTTP2{conn: slow, framer: http2.NewFramer(slow, slow.r)}
	late.framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	late.send(func(f *http2.Framer) { f.WriteSettings() })
	if status := late.get(getFields...); status != http.StatusOK {
		t.Errorf("the first request after late SETTINGS has the status %d", status)
	}
	if err := d.close(); err != nil {
		t.Error(err)
	}
}

// lastStream reads until a GOAWAY frame, and returns its stream.
func (h *rawHTTP2) lastStream() uint32 {
	h.conn.t.Helper()
	for {
		f, err := h.framer.ReadFrame()
		if err != nil {
			h.conn.t.Fatal(err)
		}
		if f, ok := f.(*http2.GoAwayFrame); ok {
			return f.LastStreamID
		}
	}
}

// awaitPing reads until the response to a PING.
func (h *rawHTTP2) awaitPing() {
	h.conn.t.Helper()
	for {
		f, err := h.framer.ReadFrame()
		if err != nil {
			h.conn.t.Fatal(err)
		}
		if f, ok := f.(*http2.PingFrame); ok && f.IsAck() {
			return
		}
	}
}
