package front_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/internal/testkit"
)

// send writes the frames that f appends, in one write.
func (h *rawHTTP2) send(f func(*http2.Framer)) {
	var b bytes.Buffer
	f(http2.NewFramer(&b, nil))
	h.conn.Write(b.Bytes()) // the door may have closed the connection
}

// goAway reads until a GOAWAY frame, and returns its code. Without one, it returns -1.
func (h *rawHTTP2) goAway() (code int) {
	for {
		f, err := h.framer.ReadFrame()
		if err != nil {
			var stream http2.StreamError
			if errors.As(err, &stream) {
				continue
			}
			return -1
		}
		if f, ok := f.(*http2.GoAwayFrame); ok {
			return int(f.ErrCode)
		}
	}
}

// block returns a header block with alternating names and values.
func block(fields ...string) []byte {
	var b bytes.Buffer
	enc := hpack.NewEncoder(&b)
	for i := 0; i < len(fields); i += 2 {
		enc.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
	}
	return b.Bytes()
}

var (
	getFields  = []string{":method", "GET", ":scheme", "http", ":authority", "a", ":path", "/"}
	postFields = []string{":method", "POST", ":scheme", "http", ":authority", "a", ":path", "/upload"}
)

// TestHTTP2FloodsEndTheConnection sends frames that cost the door more than the client. Each flood ends the
// connection and is counted by its reason. A busy machine reads few of them in a second, so floods
// whose rate may be high, those of PING and WINDOW_UPDATE, are only tested in virtual time, in
// internal/http2.
func TestHTTP2FloodsEndTheConnection(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	d := openDoor(t, slowUpstream(t, g))
	g.open()
	get, post := block(getFields...), block(postFields...)
	open := func(f *http2.Framer, stream uint32, block []byte, ends bool) {
		f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: block, EndHeaders: true, EndStream: ends})
	}
	for _, c := range []struct {
		reason string
		name   string
		code   http2.ErrCode
		send   func(f *http2.Framer)
	}{
		{"resets", "rapid reset", http2.ErrCodeEnhanceYourCalm, func(f *http2.Framer) {
			for i := range uint32(2000) {
				open(f, 2*i+1, get, true)
				f.WriteRSTStream(2*i+1, http2.ErrCodeCancel)
			}
		}},
		{"resets", "streams that the door has to reset", http2.ErrCodeEnhanceYourCalm, func(f *http2.Framer) {
			for i := range uint32(2000) {
				open(f, 2*i+1, get, true)
				f.WriteRawFrame(http2.FrameWindowUpdate, 0, 2*i+1, make([]byte, 4))
			}
		}},
		{"resets", "malformed requests", http2.ErrCodeEnhanceYourCalm, func(f *http2.Framer) {
			for i := range uint32(2000) {
				open(f, 2*i+1, block(":method", "GET"), true)
			}
		}},
		{"settings", "", http2.ErrCodeEnhanceYourCalm, func(f *http2.Framer) {
			for range 1000 {
				f.WriteSettings()
			}
		}},
		{"settings", "acknowledgements", http2.ErrCodeEnhanceYourCalm, func(f *http2.Framer) {
			for range 1000 {
				f.WriteSettingsAck()
			}
		}},
		{"empty_frames", "", http2.ErrCodeEnhanceYourCalm, func(f *http2.Framer) {
			open(f, 1, post, false)
			for range 2000 {
				f.WriteData(1, false, nil)
			}
		}},
		{"other_frames", "PRIORITY", http2.ErrCodeEnhanceYourCalm, func(f *http2.Framer) {
			for range 10000 {
				f.WritePriority(1, http2.PriorityParam{StreamDep: 3})
			}
		}},
		{"other_frames", "GOAWAY", http2.ErrCodeEnhanceYourCalm, func(f *http2.Framer) {
			for range 10000 {
				f.WriteGoAway(0, http2.ErrCodeNo, nil)
			}
		}},
		{"other_frames", "unknown", http2.ErrCodeEnhanceYourCalm, func(f *http2.Framer) {
			for range 10000 {
				f.WriteRawFrame(0x20, 0, 0, nil)
			}
		}},
		{"continuations", "", http2.ErrCodeEnhanceYourCalm, func(f *http2.Framer) {
			f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: get})
			for range 1000 {
				f.WriteContinuation(1, false, nil)
			}
		}},
		{"header_list", "CONTINUATION", http2.ErrCodeEnhanceYourCalm, func(f *http2.Framer) {
			f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: get})
			for range 50 {
				f.WriteContinuation(1, false, block("x", strings.Repeat("\"", 8000)))
			}
		}},
		{"header_list", "a long string", http2.ErrCodeEnhanceYourCalm, func(f *http2.Framer) {
			f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: []byte{0x40, 1, 'x', 0x7f, 0xff, 0xff, 0x7f}})
		}},
		{"compression", "", http2.ErrCodeCompression, func(f *http2.Framer) { open(f, 1, []byte{0xff, 0xff}, true) }},
		{"flow_control", "window of the connection", http2.ErrCodeFlowControl, func(f *http2.Framer) {
			f.WriteWindowUpdate(0, 1<<31-1)
		}},
		{"flow_control", "initial window", http2.ErrCodeFlowControl, func(f *http2.Framer) {
			f.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1 << 31})
		}},
		{"protocol", "no increment", http2.ErrCodeProtocol, func(f *http2.Framer) {
			f.WriteRawFrame(http2.FrameWindowUpdate, 0, 0, make([]byte, 4))
		}},
		{"protocol", "push", http2.ErrCodeProtocol, func(f *http2.Framer) {
			f.WritePushPromise(http2.PushPromiseParam{StreamID: 1, PromiseID: 2, BlockFragment: get, EndHeaders: true})
		}},
		{"frame_size", "", http2.ErrCodeFrameSize, func(f *http2.Framer) {
			f.WriteRawFrame(http2.FrameData, 0, 1, make([]byte, 1<<14+1))
		}},
	} {
		t.Run(c.reason+" "+c.name, func(t *testing.T) {
			series := `weir_http2_errors_total{of="connection",reason="` + c.reason + `"}`
			before := d.metrics(t)[series]
			h2 := dialHTTP2(t, d.addr)
			go h2.send(c.send)
			if code := h2.goAway(); code != int(c.code) {
				t.Errorf("GOAWAY %v, want %v", http2.ErrCode(code), c.code)
			}
			if after := d.metrics(t)[series]; after != before+1 {
				t.Errorf("%s: %v after %v", series, after, before)
			}
		})
	}
}

// waitingUpstream responds to requests for /slow when their client has left. It counts the
// requests that it has received completely.
func waitingUpstream(t *testing.T) (url string, received *atomic.Int64) {
	received = new(atomic.Int64)
	return upstream(t, func(w http.ResponseWriter, r *http.Request) {
		_, err := io.Copy(io.Discard, r.Body)
		if received.Add(1); r.URL.Path == "/slow" && err == nil {
			<-r.Context().Done()
		}
	}).URL, received
}

// TestHTTP2StreamErrorEndsOneStream makes errors that end one stream. The next request on the connection
// gets its response.
func TestHTTP2StreamErrorEndsOneStream(t *testing.T) {
	t.Parallel()
	url, _ := waitingUpstream(t)
	d := openDoor(t, url, func(c *config.Config) { c.Limits.Head = 16 << 10 })
	bomb := func() []byte { // an entry of the dynamic table, and many references to it
		var b bytes.Buffer
		enc := hpack.NewEncoder(&b)
		for range 1000 {
			enc.WriteField(hpack.HeaderField{Name: "x", Value: strings.Repeat("y", 3000)})
		}
		return append(block(getFields...), b.Bytes()...)
	}
	for _, c := range []struct {
		reason string
		code   http2.ErrCode
		status int
		send   func(h2 *rawHTTP2)
	}{
		{"header_list", http2.ErrCodeNo, 431, func(h2 *rawHTTP2) {
			h2.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: bomb(), EndHeaders: true, EndStream: true})
		}},
		{"malformed", http2.ErrCodeProtocol, 400, func(h2 *rawHTTP2) { h2.begin(true, ":method", "GET", "a", "b") }},
		{"body_length", http2.ErrCodeProtocol, 0, func(h2 *rawHTTP2) {
			h2.begin(false, append(postFields, "content-length", "3")...)
			h2.framer.WriteData(1, false, []byte("1234"))
		}},
		{"flow_control", http2.ErrCodeFlowControl, 0, func(h2 *rawHTTP2) {
			h2.begin(false, append(postFields[:6:6], ":path", "/slow")...)
			h2.send(func(f *http2.Framer) { f.WriteWindowUpdate(1, 1<<31-1) })
		}},
		{"closed_stream", http2.ErrCodeStreamClosed, 0, func(h2 *rawHTTP2) {
			h2.begin(true, append(getFields[:6:6], ":path", "/slow")...)
			h2.framer.WriteData(1, true, nil)
		}},
		{"refused", http2.ErrCodeRefusedStream, 0, func(h2 *rawHTTP2) {
			for range 251 {
				h2.begin(true, append(getFields[:6:6], ":path", "/slow")...)
			}
		}},
	} {
		t.Run(c.reason, func(t *testing.T) {
			h2 := dialHTTP2(t, d.addr)
			c.send(h2)
			bad := max(h2.stream, 1)
			status := 0
			for code := http2.ErrCode(0); ; {
				f, err := h2.framer.ReadFrame()
				if err != nil {
					t.Fatalf("instead of a reset: %v", err)
				}
				if f, ok := f.(*http2.MetaHeadersFrame); ok && f.StreamID == bad {
					status = statusOf(f)
				}
				if f, ok := f.(*http2.RSTStreamFrame); ok && f.StreamID == bad {
					if code = f.ErrCode; code != c.code {
						t.Errorf("reset with %v, want %v", code, c.code)
					}
					break
				}
			}
			if status != c.status {
				t.Errorf("status %d, want %d", status, c.status)
			}
			if n := d.metric(t, `weir_http2_errors_total{of="stream",reason="`+c.reason+`"}`); n != 1 {
				t.Errorf("%v errors are counted", n)
			}
			if c.reason == "refused" {
				h2.send(func(f *http2.Framer) {
					for i := range uint32(250) {
						f.WriteRSTStream(2*i+1, http2.ErrCodeCancel)
					}
				})
				testkit.AwaitEqual(t, "no request", func() float64 { return d.metric(t, "weir_requests_in_flight") }, 0)
			}
			h2.stream = bad
			if status := h2.get(getFields...); status != http.StatusOK {
				t.Errorf("the next request: %d", status)
			}
		})
	}
}

// TestBrokenHTTP2PrefaceGetsGoAway begins connections that are not HTTP/2.
func TestBrokenHTTP2PrefaceGetsGoAway(t *testing.T) {
	t.Parallel()
	d := openTLSDoor(t, upstream(t, hello).URL)
	for name, start := range map[string]string{
		"another first frame": http2.ClientPreface + "\x00\x00\x08\x06\x00\x00\x00\x00\x00" + "12345678",
		"no frame":            http2.ClientPreface + "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			c := dial(t, d.addr)
			c.send(start)
			h2 := &rawHTTP2{conn: c, framer: http2.NewFramer(c, c.r)}
			if code := h2.goAway(); code <= 0 {
				t.Errorf("GOAWAY %d", code)
			}
		})
	}
	t.Run("HTTP/1 after ALPN", func(t *testing.T) {
		o := d.client("localhost")
		o.NextProtos = []string{"h2"}
		conn, c := d.dialTLS(t, o)
		io.WriteString(conn, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
		h2 := &rawHTTP2{conn: c, framer: http2.NewFramer(io.Discard, c.r)}
		if code := h2.goAway(); code != int(http2.ErrCodeProtocol) {
			t.Errorf("GOAWAY %d", code)
		}
	})
}
