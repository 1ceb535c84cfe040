package http2_test

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	xhttp2 "golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/weirhq/weir/internal/http2"
	"github.com/weirhq/weir/internal/transport"
)

// bubble runs f in virtual time.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	http2.ForgetStreams()
	defer http2.ForgetStreams()
	synctest.Test(t, f)
}

// A wire is a connection in the memory of a bubble.
type wire struct {
	transport.Conn // nil: the other methods are not called

	mu              sync.Mutex
	changed         sync.Cond
	in              []byte
	inEnded         bool // after in
	out             bytes.Buffer
	space           int    // how many bytes the peer takes
	end             string // how this side has ended the connection, or ""
	readBy, writeBy time.Time
}

func newWire() *wire {
	w := &wire{space: math.MaxInt}
	w.changed.L = &w.mu
	return w
}

// change calls f with the lock held, and wakes operations that wait.
func (w *wire) change(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f()
	w.changed.Broadcast()
}

// await waits for a condition, the end of the connection or a deadline. mu is held.
func (w *wire) await(by *time.Time, holds func() bool) error {
	for !holds() {
		switch {
		case w.end == "close" || w.end == "reset":
			return net.ErrClosed
		case !by.IsZero() && !time.Now().Before(*by):
			return os.ErrDeadlineExceeded
		}
		w.changed.Wait()
	}
	return nil
}

func (w *wire) ReadInto(s transport.Space) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.await(&w.readBy, func() bool { return len(w.in) > 0 || w.inEnded }); err != nil {
		return 0, err
	}
	if len(w.in) == 0 {
		return 0, io.EOF
	}
	n := copy(s.Space(), w.in)
	w.in = w.in[n:]
	return n, nil
}

func (w *wire) TryWrite(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.end != "" {
		return 0, net.ErrClosed
	}
	n := min(len(p), w.space)
	w.space -= n
	return w.out.Write(p[:n])
}

func (w *wire) Write(p []byte) (written int, err error) {
	for written < len(p) {
		w.mu.Lock()
		err := w.await(&w.writeBy, func() bool { return w.space > 0 })
		w.mu.Unlock()
		if err != nil {
			return written, err
		}
		n, err := w.TryWrite(p[written:])
		if written += n; err != nil {
			return written, err
		}
	}
	return written, nil
}

func (w *wire) SetReadDeadline(t time.Time) error  { return w.setDeadline(&w.readBy, t) }
func (w *wire) SetWriteDeadline(t time.Time) error { return w.setDeadline(&w.writeBy, t) }

func (w *wire) setDeadline(by *time.Time, t time.Time) error {
	w.change(func() { *by = t })
	if !t.IsZero() {
		time.AfterFunc(time.Until(t), func() { w.change(func() {}) })
	}
	return nil
}

func (w *wire) CloseWrite() error { return w.finish("end") }
func (w *wire) Close() error      { return w.finish("close") }
func (w *wire) Abort() error      { return w.finish("reset") }

func (w *wire) finish(how string) error {
	w.change(func() {
		if w.end == "" || w.end == "end" {
			w.end = how
		}
	})
	return nil
}

// A side is the owner of a connection of a wire.
type side struct {
	limits  http2.Limits
	respond func(s *http2.Stream) // is the exchange of a server
	running sync.WaitGroup
	ended   chan struct{}

	mu      sync.Mutex
	reasons []http2.Reason // of the connection and its streams; guarded by mu
	fatal   []http2.Reason // of the connection
}

const (
	headerTimeout = 10 * time.Second
	idleTimeout   = time.Minute
	writeTimeout  = 30 * time.Second
	pingAfter     = 20 * time.Second
	pingTimeout   = 5 * time.Second
)

func newSide() *side {
	return &side{respond: respondTo, ended: make(chan struct{}), limits: http2.Limits{HeaderList: headerList, HeaderTimeout: headerTimeout,
		IdleTimeout: idleTimeout, WriteTimeout: writeTimeout, PingAfter: pingAfter, PingTimeout: pingTimeout}}
}

func (o *side) Limits() http2.Limits { return o.limits }

func (o *side) Failed(e *http2.Error, connection bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if connection {
		o.fatal = append(o.fatal, e.Reason)
	}
	o.reasons = append(o.reasons, e.Reason)
}

func (o *side) Ended() { close(o.ended) }

func (o *side) Opened(s *http2.Stream) {
	o.running.Go(func() {
		defer s.Close()
		o.respond(s)
	})
}

// A cancellation is the exchange of a stream, which ends when the stream is cancelled.
type cancellation chan struct{}

func (c cancellation) Cancel() {
	select {
	case c <- struct{}{}:
	default:
	}
}

// respondTo is the exchange of a server. The path determines the response.
func respondTo(s *http2.Stream) {
	path := s.Request.Path
	if path == "/hold" { // no response
		hold(s)
		return
	}
	if path != "/early" {
		if _, err := readBody(s); err != nil {
			return
		}
	}
	h := s.NewHead()
	h.Status(200)
	if s.Request.Method == "HEAD" {
		s.SendHead(h, true)
		return
	}
	if s.SendHead(h, false) != nil {
		return
	}
	if path == "/trailers" {
		s.Write([]byte("hello"), false)
		h := s.NewHead()
		h.Add("x-sum", "1")
		s.SendHead(h, true)
		return
	}
	body := "hello"
	if path == "/large" {
		body = strings.Repeat("a", large)
	}
	s.Write([]byte(body), true)
}

// large is the length of a body that no window and no output page holds.
const large = 200 << 10

// A space is memory for reads.
type space [1 << 10]byte

func (s *space) Space() []byte { return s[:] }
func (s *space) GiveBack()     {}

func readBody(s *http2.Stream) (body []byte, err error) {
	var part space
	for {
		n, err := s.ReadInto(&part)
		body = append(body, part[:n]...)
		if err == io.EOF {
			return body, nil
		} else if err != nil {
			return body, err
		}
	}
}

// A peer is the other end of a wire. The methods of its Framer write frames, which flush sends.
type peer struct {
	*xhttp2.Framer
	wire *wire
	side *side
	conn *http2.Conn

	t     testing.TB
	out   bytes.Buffer
	block bytes.Buffer
	enc   *hpack.Encoder
	in    *xhttp2.Framer
	got   []string // the frames that have arrived, and the end of the connection
}

func newPeer(t testing.TB) *peer {
	p := &peer{t: t, wire: newWire(), side: newSide()}
	p.Framer = xhttp2.NewFramer(&p.out, nil)
	p.AllowIllegalWrites = true
	p.enc = hpack.NewEncoder(&p.block)
	p.in = xhttp2.NewFramer(nil, &p.wire.out)
	p.in.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	return p
}

// newServer returns the client of a server. The beginnings of both sides were exchanged.
func newServer(t *testing.T) *peer {
	p := newPeer(t)
	p.serve()
	p.out.WriteString(xhttp2.ClientPreface)
	p.WriteSettings()
	p.flush()
	p.expect("SETTINGS 3=250 6=4096, WINDOW_UPDATE 0 983041, SETTINGS ACK")
	return p
}

// serve starts a server.
func (p *peer) serve() {
	p.conn = http2.NewServer(p.wire, transport.Goroutines, p.side)
	p.conn.Begin(nil)
	go p.conn.Serve()
}

// fields returns a header block of alternating names and values.
func (p *peer) fields(pairs ...string) []byte {
	p.block.Reset()
	for i := 0; i < len(pairs); i += 2 {
		p.enc.WriteField(hpack.HeaderField{Name: pairs[i], Value: pairs[i+1]})
	}
	return bytes.Clone(p.block.Bytes())
}

// head writes HEADERS of alternating names and values.
func (p *peer) head(stream uint32, end bool, pairs ...string) {
	p.rawHead(stream, end, p.fields(pairs...))
}

func (p *peer) rawHead(stream uint32, end bool, block []byte) {
	p.WriteHeaders(xhttp2.HeadersFrameParam{StreamID: stream, BlockFragment: block, EndHeaders: true, EndStream: end})
}

// with returns the pseudo-header fields of a request, and more fields.
func with(method, path string, more ...string) []string {
	return append([]string{":method", method, ":scheme", "http", ":authority", "a", ":path", path}, more...)
}

// get writes a request without a body.
func (p *peer) get(stream uint32, path string) { p.head(stream, true, with("GET", path)...) }

// post writes a request whose body follows.
func (p *peer) post(stream uint32, path string) { p.head(stream, false, with("POST", path)...) }

// beginHead writes the beginning of a request without a body.
func (p *peer) beginHead(stream uint32) {
	p.WriteHeaders(xhttp2.HeadersFrameParam{StreamID: stream, BlockFragment: p.fields(with("GET", "/")...), EndStream: true})
}

// data writes n bytes of data.
func (p *peer) data(stream uint32, n int) {
	for n > 0 {
		part := min(n, 1<<14)
		p.WriteData(stream, false, make([]byte, part))
		n -= part
	}
}

// flush sends the frames that were written, and receives frames until the other side waits.
func (p *peer) flush() {
	p.t.Helper()
	p.wire.change(func() { p.wire.in = append(p.wire.in, p.out.Bytes()...) })
	p.out.Reset()
	synctest.Wait()
	p.wire.mu.Lock()
	defer p.wire.mu.Unlock()
	for isWhole(p.wire.out.Bytes()) {
		f, err := p.in.ReadFrame()
		if err != nil {
			p.t.Error(err)
			break
		}
		p.got = append(p.got, describe(f))
	}
	if end := p.wire.end; end != "" && !slices.Contains(p.got, end) {
		p.got = append(p.got, end)
	}
}

// isWhole reports whether b begins with a frame.
func isWhole(b []byte) bool {
	return len(b) >= 9 && len(b) >= 9+(int(b[0])<<16|int(b[1])<<8|int(b[2]))
}

// expect compares the frames that have arrived since the last call.
func (p *peer) expect(want string) {
	p.t.Helper()
	if got := strings.Join(p.got, ", "); got != want {
		p.t.Errorf("received %q, want %q", got, want)
	}
	p.got = nil
}

// describe returns a frame as text. Data of more than eight bytes is its length.
func describe(f xhttp2.Frame) string {
	s := f.Header().Type.String()
	if f.Header().StreamID != 0 {
		s += fmt.Sprint(" ", f.Header().StreamID)
	}
	end := false
	switch f := f.(type) {
	case *xhttp2.HeadersFrame:
		s += fmt.Sprint(" ", f.Length)
		end = f.StreamEnded()
	case *xhttp2.ContinuationFrame:
		s += fmt.Sprint(" ", f.Length)
	case *xhttp2.SettingsFrame:
		if f.IsAck() {
			s += " ACK"
		}
		f.ForeachSetting(func(setting xhttp2.Setting) error {
			s += fmt.Sprintf(" %d=%d", setting.ID, setting.Val)
			return nil
		})
	case *xhttp2.MetaHeadersFrame:
		for _, field := range f.Fields {
			s += " " + field.Value
		}
		end = f.StreamEnded()
	case *xhttp2.DataFrame:
		if n := len(f.Data()); n > 8 {
			s += fmt.Sprint(" ", n)
		} else {
			s += " " + string(f.Data())
		}
		end = f.StreamEnded()
	case *xhttp2.WindowUpdateFrame:
		if f.StreamID == 0 {
			s += " 0"
		}
		s += fmt.Sprint(" ", f.Increment)
	case *xhttp2.PingFrame:
		if f.IsAck() {
			s += " ACK"
		}
		s += " " + strings.Trim(string(f.Data[:]), "\x00")
	case *xhttp2.RSTStreamFrame:
		s += " " + f.ErrCode.String()
	case *xhttp2.GoAwayFrame:
		s += fmt.Sprint(" ", f.LastStreamID, " ", f.ErrCode)
	}
	if end {
		s += " END_STREAM"
	}
	return strings.TrimRight(s, " ")
}

// close ends the connection, waits for its exchanges, and returns the reasons of the failures.
func (p *peer) close() []http2.Reason {
	p.wire.change(func() { p.wire.inEnded, p.wire.space = true, math.MaxInt })
	<-p.side.ended
	p.side.running.Wait()
	return p.side.reasons
}
