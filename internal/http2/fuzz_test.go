package http2_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	xhttp2 "golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/weirhq/weir/internal/http2"
	"github.com/weirhq/weir/internal/transport"
)

const headerList = 4 << 10

// A memoryConn is a connection whose input is given in parts, and whose output is kept.
type memoryConn struct {
	transport.Conn // nil: the other methods are not called
	in             [][]byte
	out            bytes.Buffer
}

func (c *memoryConn) ReadInto(s transport.Space) (int, error) {
	if len(c.in) == 0 {
		return 0, io.EOF
	}
	n := copy(s.Space(), c.in[0])
	if c.in[0] = c.in[0][n:]; len(c.in[0]) == 0 {
		c.in = c.in[1:]
	}
	return n, nil
}

func (c *memoryConn) TryWrite(p []byte) (int, error)   { return c.out.Write(p) }
func (c *memoryConn) SetReadDeadline(time.Time) error  { return nil }
func (c *memoryConn) SetWriteDeadline(time.Time) error { return nil }
func (c *memoryConn) CloseWrite() error                { return nil }
func (c *memoryConn) Close() error                     { return nil }

// A recorder responds to each request immediately, and keeps its description.
type recorder struct{ requests []string }

func (r *recorder) Limits() http2.Limits {
	return http2.Limits{HeaderList: headerList, HeaderTimeout: time.Hour, IdleTimeout: time.Hour}
}

func (r *recorder) Opened(s *http2.Stream) {
	q := &s.Request
	r.requests = append(r.requests, fmt.Sprintf("%d %q %q %q %q", s.ID(), q.Method, q.Scheme, q.Authority, q.Path))
	h := http2.NewHead()
	h.Status(200)
	s.SendHead(h, true)
	s.Close()
}

func (r *recorder) Failed(*http2.Error, bool) {}
func (r *recorder) Ended()                    {}

// serve feeds parts to a connection and returns its requests and its output.
func serve(parts ...[]byte) (requests []string, out []byte) {
	conn, owner := &memoryConn{in: parts}, new(recorder)
	c := http2.NewServer(conn, transport.Goroutines, owner)
	c.Begin(nil)
	c.Serve()
	return owner.requests, conn.out.Bytes()
}

// metaHeaders iterates over the heads that the Framer of golang.org/x/net finds.
func metaHeaders(in []byte) iter.Seq[*xhttp2.MetaHeadersFrame] {
	return func(yield func(*xhttp2.MetaHeadersFrame) bool) {
		f := xhttp2.NewFramer(io.Discard, bytes.NewReader(in))
		f.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
		f.MaxHeaderListSize = headerList
		f.SetMaxReadFrameSize(16 << 10)
		for {
			frame, err := f.ReadFrame()
			var onStream xhttp2.StreamError
			if errors.As(err, &onStream) {
				continue
			}
			if err != nil {
				return
			}
			if h, ok := frame.(*xhttp2.MetaHeadersFrame); ok && !yield(h) {
				return
			}
		}
	}
}

// framerRequests returns the requests that the Framer finds.
func framerRequests(in []byte) (requests []string) {
	for h := range metaHeaders(in) {
		requests = append(requests, fmt.Sprintf("%d %q %q %q %q", h.StreamID, h.PseudoValue("method"),
			h.PseudoValue("scheme"), h.PseudoValue("authority"), h.PseudoValue("path")))
	}
	return requests
}

// FuzzInput feeds a connection with any bytes after a valid beginning. It serves no request that
// the Framer of golang.org/x/net does not find, its output consists of valid frames, and the
// result does not depend on how the bytes are divided.
func FuzzInput(f *testing.F) {
	p := newPeer(f)
	seed := func(write func()) {
		p.out.Reset()
		write()
		f.Add(bytes.Clone(p.out.Bytes()), uint16(7))
	}
	get := p.fields(with("GET", "/", "cookie", "a=b", "cookie", "c=d")...)
	seed(func() {
		p.rawHead(1, true, get)
		p.WriteHeaders(xhttp2.HeadersFrameParam{StreamID: 3, BlockFragment: get[:3], PadLength: 4,
			Priority: xhttp2.PriorityParam{StreamDep: 1, Weight: 3}})
		p.WriteContinuation(3, false, get[3:9])
		p.WriteContinuation(3, true, get[9:])
		p.WriteDataPadded(3, false, []byte("body"), make([]byte, 5))
		p.head(3, true, "x", "y")
	})
	seed(func() {
		p.WritePing(false, [8]byte{1})
		p.WriteWindowUpdate(0, 5)
		p.WriteSettings(xhttp2.Setting{ID: xhttp2.SettingInitialWindowSize, Val: 3})
		p.WriteRSTStream(1, xhttp2.ErrCodeCancel)
	})
	seed(func() {
		p.WriteGoAway(0, xhttp2.ErrCodeNo, nil)
		p.WritePriority(5, xhttp2.PriorityParam{StreamDep: 5})
		p.WriteRawFrame(0x55, 0xff, 9, []byte("unknown"))
	})
	f.Fuzz(func(t *testing.T, in []byte, size uint16) {
		start := []byte(xhttp2.ClientPreface + "\x00\x00\x00\x04\x00\x00\x00\x00\x00")
		requests, out := serve(slices.Concat(start, in))
		known := framerRequests(in)
		for _, r := range requests {
			if !slices.Contains(known, r) {
				t.Errorf("the request %s is served, the Framer finds %q", r, known)
			}
		}
		var parts [][]byte
		for rest := slices.Concat(start, in); len(rest) > 0; {
			n := min(len(rest), int(size%64)+1)
			parts = append(parts, rest[:n])
			rest = rest[n:]
		}
		again, outAgain := serve(parts...)
		if !slices.Equal(again, requests) || !bytes.Equal(outAgain, out) {
			t.Errorf("in parts of %d: requests %q and %d bytes, want %q and %d", size%64+1, again, len(outAgain), requests, len(out))
		}
		frames := xhttp2.NewFramer(io.Discard, bytes.NewReader(out))
		for {
			if _, err := frames.ReadFrame(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("the output is not valid: %v", err)
			}
		}
	})
}

// A gatedConn is a memoryConn whose input begins when its gate is open.
type gatedConn struct {
	memoryConn
	gate chan struct{}
}

func (c *gatedConn) ReadInto(s transport.Space) (int, error) {
	<-c.gate
	return c.memoryConn.ReadInto(s)
}

// request opens two streams, feeds parts to their connection, and returns the responses and the output.
func request(parts ...[]byte) (responses []string, out []byte) {
	conn, owner := &gatedConn{memoryConn{in: parts}, make(chan struct{})}, newSide()
	c := http2.NewClient(conn, transport.Goroutines, owner)
	var opened []*http2.Stream
	for range 2 {
		h := http2.NewHead()
		for i := 0; i < len(getFields); i += 2 {
			h.Add(getFields[i], getFields[i+1])
		}
		opened = append(opened, c.Open(h, true, false))
	}
	close(conn.gate)
	<-owner.ended
	for _, s := range opened {
		for status := 0; status < 200; {
			h, err := s.ReadHead()
			if err != nil {
				break
			}
			status = h.Status
			responses = append(responses, fmt.Sprintf("%d %d %q", s.ID(), status, h.Fields))
		}
		s.Close()
	}
	return responses, conn.out.Bytes()
}

// framerResponses returns the responses that the Framer finds.
func framerResponses(in []byte) (responses []string) {
	for h := range metaHeaders(in) {
		fields := slices.Clone(h.RegularFields())
		for i := range fields {
			fields[i].Value = strings.Trim(fields[i].Value, " \t")
		}
		responses = append(responses, fmt.Sprintf("%d %s %q", h.StreamID, h.PseudoValue("status"), fields))
	}
	return responses
}

// FuzzResponses is FuzzInput for a client: it accepts no response that the Framer does not find.
func FuzzResponses(f *testing.F) {
	p := newPeer(f)
	seed := func(write func()) {
		p.out.Reset()
		write()
		f.Add(bytes.Clone(p.out.Bytes()), uint16(7))
	}
	seed(func() {
		p.head(1, false, ":status", "103", "link", "</a>")
		p.head(1, false, ":status", "200", "content-length", "4")
		p.head(3, true, ":status", "404", "x-a", " a ")
		p.WriteDataPadded(1, false, []byte("body"), make([]byte, 5))
		p.head(1, true, "x-sum", "a")
	})
	seed(func() {
		p.WritePing(false, [8]byte{1})
		p.WriteGoAway(1, xhttp2.ErrCodeNo, nil)
		p.WriteRSTStream(1, xhttp2.ErrCodeRefusedStream)
	})
	seed(func() {
		p.WriteSettings(xhttp2.Setting{ID: xhttp2.SettingMaxConcurrentStreams, Val: 0})
		p.WritePushPromise(xhttp2.PushPromiseParam{StreamID: 1, PromiseID: 2, EndHeaders: true})
	})
	f.Fuzz(func(t *testing.T, in []byte, size uint16) {
		start := []byte("\x00\x00\x00\x04\x00\x00\x00\x00\x00")
		responses, out := request(slices.Concat(start, in))
		known := framerResponses(in)
		for _, r := range responses {
			if !slices.Contains(known, r) {
				t.Errorf("the response %s is accepted, the Framer finds %q", r, known)
			}
		}
		again, outAgain := request(slices.Collect(slices.Chunk(slices.Concat(start, in), int(size%64)+1))...)
		if !slices.Equal(again, responses) || !bytes.Equal(outAgain, out) {
			t.Errorf("in parts of %d: %q and %d bytes, want %q and %d", size%64+1, again, len(outAgain), responses, len(out))
		}
		frames := xhttp2.NewFramer(io.Discard, bytes.NewReader(bytes.TrimPrefix(out, []byte(xhttp2.ClientPreface))))
		for {
			if _, err := frames.ReadFrame(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("the output is not valid: %v", err)
			}
		}
	})
}
