package front_test

import (
	"bytes"
	"testing"

	"github.com/quic-go/quic-go"

	"github.com/weirhq/weir/internal/testkit"
)

var getFields3 = []string{":method", "GET", ":scheme", "https", ":authority", "localhost", ":path", "/slow"}

// TestHTTP3FloodsEndTheConnection sends streams and frames that cost the door more than the client. Each flood ends its
// connection, is counted by its reason and logged once. Another connection is served.
func TestHTTP3FloodsEndTheConnection(t *testing.T) {
	t.Parallel()
	url, received := waitingUpstream(t)
	d := openHTTP3Door(t, url)
	get := fields3(getFields3...)
	const cancelled, loads = 0x10c, 0x107 // H3_REQUEST_CANCELLED, H3_EXCESSIVE_LOAD
	cancel := func(h3 *rawHTTP3, frames []byte) bool {
		s, err := h3.open()
		if err != nil {
			return false
		}
		s.Write(frames)
		s.CancelWrite(cancelled)
		s.CancelRead(cancelled)
		return true
	}
	repeated := func(n int, frame []byte) []byte { return bytes.Repeat(frame, n) }
	for _, c := range []struct {
		reason, name string
		code         quic.ApplicationErrorCode
		send         func(h3 *rawHTTP3)
	}{
		{"resets", "rapid reset", loads, func(h3 *rawHTTP3) {
			for range 5000 {
				if !cancel(h3, get) {
					return
				}
			}
		}},
		{"resets", "streams without a head", loads, func(h3 *rawHTTP3) {
			for range 5000 {
				if !cancel(h3, get[:1]) {
					return
				}
			}
		}},
		{"resets", "malformed requests", loads, func(h3 *rawHTTP3) {
			for range 5000 {
				s, err := h3.open()
				if err != nil {
					return
				}
				s.Write(fields3(":method", "GET"))
				s.Close()
				s.CancelRead(cancelled)
			}
		}},
		{"other_frames", "unknown", loads, func(h3 *rawHTTP3) {
			if s, err := h3.open(); err == nil {
				s.Write(repeated(20_000, frame3(0x21, nil)))
			}
		}},
		{"empty_frames", "", loads, func(h3 *rawHTTP3) {
			if s, err := h3.open(); err == nil {
				s.Write(append(get, repeated(20_000, frame3(0, nil))...))
			}
		}},
		{"protocol", "SETTINGS in a request", 0x105, func(h3 *rawHTTP3) {
			if s, err := h3.open(); err == nil {
				s.Write(frame3(4, nil))
			}
		}},
		{"protocol", "a second control stream", 0x103, func(h3 *rawHTTP3) {
			if s, err := h3.conn.OpenUniStream(); err == nil {
				s.Write([]byte{0})
			}
		}},
		{"compression", "", 0x200, func(h3 *rawHTTP3) {
			if s, err := h3.open(); err == nil {
				s.Write(frame3(1, []byte{0xff, 0xff, 0xff}))
			}
		}},
	} {
		t.Run(c.reason+" "+c.name, func(t *testing.T) {
			series := `weir_http3_errors_total{of="connection",reason="` + c.reason + `"}`
			before, events := d.metric(t, series), len(d.log.events(t))
			h3 := d.dialHTTP3(t)
			c.send(h3)
			if code := h3.closedWith(); code != c.code {
				t.Errorf("the connection ends with %#x, want %#x", uint64(code), uint64(c.code))
			}
			if after := d.metric(t, series); after != before+1 {
				t.Errorf("%s: %v after %v", series, after, before)
			}
			testkit.Await(t, "the event", func() bool {
				logged := 0
				for _, e := range d.log.events(t)[events:] {
					if e.Event == "http/3 connection failed" && e.Data["reason"] == c.reason {
						logged++
					}
				}
				return logged == 1
			})
			fields := append(getFields3[:6:6], ":path", "/")
			if status := d.dialHTTP3(t).send(fields3(fields...)); status != 200 {
				t.Errorf("another connection gets %d", status)
			}
		})
	}
	t.Logf("the upstream has got %d requests", received.Load())
}

// TestHTTP3AllowsCancellationsOfBrowsers cancels as many requests on a connection as a browser may, and serves others
// between them.
func TestHTTP3AllowsCancellationsOfBrowsers(t *testing.T) {
	t.Parallel()
	url, _ := waitingUpstream(t)
	d := openHTTP3Door(t, url)
	h3 := d.dialHTTP3(t)
	for i := range 10 {
		for range 40 {
			s, err := h3.open()
			if err != nil {
				t.Fatal(err)
			}
			s.Write(fields3(getFields3...))
			s.CancelWrite(0x10c)
			s.CancelRead(0x10c)
		}
		if status := h3.send(fields3(append(getFields3[:6:6], ":path", "/")...)); status != 200 {
			t.Fatalf("request %d gets %d", i, status)
		}
	}
	testkit.AwaitEqual(t, "no request", func() float64 { return d.metric(t, "weir_requests_in_flight") }, 0)
}
