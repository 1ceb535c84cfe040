package front_test

import (
	"bytes"
	"io"
	"net/http"
	"strconv"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// A rawHTTP2 is an HTTP/2 client that sends any fields.
type rawHTTP2 struct {
	conn   *rawConn
	framer *http2.Framer
	stream uint32 // the last one
}

func dialHTTP2(t testing.TB, addr string) *rawHTTP2 {
	t.Helper()
	c := dial(t, addr)
	c.send(http2.ClientPreface)
	f := http2.NewFramer(c, c.r)
	f.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	if err := f.WriteSettings(); err != nil {
		t.Fatal(err)
	}
	return &rawHTTP2{conn: c, framer: f}
}

// begin sends the head of a request with alternating names and values.
func (h *rawHTTP2) begin(end bool, fields ...string) (stream uint32) {
	h.conn.t.Helper()
	var block bytes.Buffer
	enc := hpack.NewEncoder(&block)
	for i := 0; i < len(fields); i += 2 {
		enc.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
	}
	h.stream = h.stream + 1 + h.stream%2 // 1, 3, 5
	err := h.framer.WriteHeaders(http2.HeadersFrameParam{
		StreamID: h.stream, BlockFragment: block.Bytes(), EndHeaders: true, EndStream: end,
	})
	if err != nil {
		h.conn.t.Fatal(err)
	}
	return h.stream
}

// get sends a request without a body and returns the status of the response, or
// 0 if the stream was reset.
func (h *rawHTTP2) get(fields ...string) (status int) {
	h.conn.t.Helper()
	status, _ = h.finish(h.begin(true, fields...))
	return status
}

// finish reads to the end of a stream. whole is false if the stream or the
// connection was reset.
func (h *rawHTTP2) finish(stream uint32) (status int, whole bool) {
	h.conn.t.Helper()
	for {
		f, err := h.framer.ReadFrame()
		if err != nil {
			if err != io.EOF {
				h.conn.t.Logf("reading a frame: %v", err)
			}
			return status, false
		}
		switch f := f.(type) {
		case *http2.SettingsFrame:
			if !f.IsAck() {
				h.framer.WriteSettingsAck()
			}
			continue
		case *http2.MetaHeadersFrame:
			if f.StreamID == stream && f.PseudoValue("status") != "" {
				status, _ = strconv.Atoi(f.PseudoValue("status"))
			}
		case *http2.RSTStreamFrame:
			if f.StreamID == stream {
				return status, false
			}
		}
		if h := f.Header(); h.StreamID == stream && h.Flags.Has(http2.FlagDataEndStream) {
			return status, true
		}
	}
}

// TestOneByteFrames sends a body in frames of one byte. A read of one byte is
// not always the background read of net/http.
func TestOneByteFrames(t *testing.T) {
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		if n, err := io.Copy(io.Discard, r.Body); n != 50 || err != nil {
			t.Errorf("the upstream got %d bytes, %v", n, err)
		}
	})
	d := openDoor(t, back.URL)
	h2 := dialHTTP2(t, d.addr)
	stream := h2.begin(false, ":method", "POST", ":scheme", "http", ":authority", "a", ":path", "/")
	for i := range 50 {
		if err := h2.framer.WriteData(stream, i == 49, []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	if status, whole := h2.finish(stream); status != 200 || !whole {
		t.Errorf("%d, whole %v", status, whole)
	}
}
