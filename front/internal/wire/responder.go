package wire

import (
	"bytes"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirhq/weir/internal/proxying"
)

// outputSize is the size of the buffer of a response: a block that package proxying reads from
// an upstream, and a head. Both are then sent in one write.
const outputSize = 40 << 10

// directWrite is the length of a part of the body that is not copied to the buffer.
const directWrite = 4 << 10

var outputs = sync.Pool{New: func() any { return new([outputSize]byte) }}

// A responder is the [proxying.Client] of an exchange over HTTP/1: it encodes the response. It
// has a buffer only while there are bytes in it.
type responder struct {
	conn *clientConn
	x    *http1Exchange

	out    []byte // not sent yet, in array
	array  *[outputSize]byte
	err    error // of a write
	keep   bool  // the connection can be used for another request after the response
	duplex bool  // the body may not have been read when the response begins
	began  bool  // the head of the final response is encoded
	body   responseBody
	left   int64 // bytes of the body that are to be written, if body is sizedBody

	trailer []proxying.Field

	// informing is held while an informational response is written, and while began changes. Only a request with
	// Expect, which is on no loop, has two goroutines that need it: that of the exchange, and the one that reads the
	// body and writes 100.
	informing sync.Mutex
}

// A responseBody is the framing of a response's body.
type responseBody uint8

const (
	noBody      responseBody = iota
	sizedBody                // with a Content-Length
	chunkedBody              // RFC 9112, section 7.1
	closedBody               // ends with the connection
)

var errBodyLength = errors.New("the body of the response differs from its Content-Length")

func (w *responder) begin(c *clientConn, x *http1Exchange, keep bool) {
	w.conn, w.x, w.keep = c, x, keep
}

func (w *responder) reset() {
	w.giveBack()
	w.conn, w.x, w.err, w.trailer = nil, nil, nil, nil
	w.keep, w.duplex, w.began, w.body, w.left = false, false, false, noBody, 0
}

// buffer returns w.out, which has space for at least a head of usual length.
func (w *responder) buffer() []byte {
	if w.array == nil {
		w.array = outputs.Get().(*[outputSize]byte)
		w.out = w.array[:0]
	}
	return w.out
}

// giveBack returns the buffer to the pool and discards the bytes in it.
func (w *responder) giveBack() {
	if w.array != nil {
		outputs.Put(w.array)
		w.array, w.out = nil, nil
	}
}

// Flush implements proxying.Client.
func (w *responder) Flush() error {
	w.empty(true)
	return w.err
}

// empty sends the buffered bytes. done reports whether the bytes of the exchange's buffer are
// not needed any more.
func (w *responder) empty(done bool) {
	if len(w.out) > 0 && w.err == nil {
		w.write(w.out, done)
	}
	w.giveBack()
}

// write sends b, which is in w.out or in the buffer of the exchange. If the client takes only
// a part of it now, the wait for the rest holds only the rest and, unless the caller is done
// with it, the buffer of the exchange.
func (w *responder) write(b []byte, done bool) {
	w.conn.writes.Add(1)
	defer w.conn.writes.Add(1)
	n := 0
	if n, w.err = w.conn.TryWrite(b); w.err == nil && n < len(b) {
		w.writeRest(b[n:], done)
	}
}

// writeRest waits until the client takes the rest of a write.
func (w *responder) writeRest(rest []byte, done bool) {
	rest = bytes.Clone(rest)
	w.giveBack()
	if done {
		w.x.GiveBack()
	}
	_, w.err = w.conn.Write(rest)
}

// Informational implements proxying.Client.
func (w *responder) Informational(status int, fields []proxying.Field) error {
	w.informing.Lock()
	defer w.informing.Unlock()
	b := appendStatusLine(w.buffer(), false, status)
	for i := range fields {
		b = appendField(b, &fields[i])
	}
	w.out = append(b, "\r\n"...)
	return w.Flush()
}

// Head implements proxying.Client.
func (w *responder) Head(status int, fields []proxying.Field, length int64) error {
	w.settle()
	w.chooseBody(status, length)
	b := appendStatusLine(w.buffer(), w.x.HTTP10, status)
	head := responseHead{status: status}
	for i := range fields {
		if head.passes(&fields[i]) {
			b = appendField(b, &fields[i])
		}
	}
	if !head.dated {
		b = appendDate(b)
	}
	if w.body == sizedBody && !head.sized {
		b = strconv.AppendInt(append(b, "Content-Length: "...), length, 10)
		b = append(b, "\r\n"...)
	}
	w.out = w.appendConnection(b)
	if w.body == noBody || w.body == sizedBody && w.left == 0 {
		return w.Flush()
	}
	return nil
}

// settle decides whether the connection is kept. A body that is not read yet would be
// parsed as the next request. A short one is read after the response.
func (w *responder) settle() {
	body := &w.x.body
	if w.conn.listener.draining.Load() {
		w.keep = false
	}
	if body.hasEnded() {
		w.began = true
		return
	}
	w.informing.Lock()
	defer w.informing.Unlock()
	w.began = true
	if w.duplex || body.mustContinue.Load() {
		w.keep = false
	}
}

// chooseBody determines how the end of the body is marked.
func (w *responder) chooseBody(status int, length int64) {
	w.body, w.left = bodyOf(w.x.Method, status, length), max(length, 0)
	if w.body == chunkedBody && w.x.HTTP10 {
		w.body, w.keep = closedBody, false
	}
}

// appendConnection appends the fields about the end of the body and of the connection, and
// the empty line.
func (w *responder) appendConnection(b []byte) []byte {
	switch {
	case w.keep && w.x.HTTP10:
		b = append(b, "Connection: keep-alive\r\n"...)
	case !w.keep && !w.x.HTTP10:
		b = append(b, "Connection: close\r\n"...)
	}
	if w.body == chunkedBody {
		b = append(b, "Transfer-Encoding: chunked\r\n"...)
	}
	return append(b, "\r\n"...)
}

// Room implements proxying.Client. It sends the buffered bytes first, so that they do not take
// the room, and no buffer is held during the wait.
func (w *responder) Room() (int, error) {
	if err := w.Flush(); err != nil {
		return 0, err
	}
	w.conn.writes.Add(1)
	defer w.conn.writes.Add(1)
	return w.conn.Room()
}

// Write implements proxying.Client. The response is sent when it is complete, when the buffer
// is full, or by Flush.
func (w *responder) Write(p []byte) (n int, err error) {
	switch {
	case w.err != nil:
		return 0, w.err
	case len(p) == 0 || w.body == noBody:
		return len(p), nil
	case w.body == sizedBody && int64(len(p)) > w.left:
		return 0, errBodyLength
	case w.body == chunkedBody:
		return len(p), w.writeChunks(p)
	}
	if w.body == sizedBody {
		w.left -= int64(len(p))
	}
	return len(p), w.writePlain(p, w.body == sizedBody && w.left == 0)
}

// writePlain writes a part of a body without chunks.
func (w *responder) writePlain(p []byte, last bool) error {
	if len(w.out) > 0 || len(p) < directWrite && !last {
		b := w.buffer()
		n := min(len(p), cap(b)-len(b))
		w.out = append(b, p[:n]...)
		if p = p[n:]; len(p) == 0 && !last {
			return nil
		}
		if w.empty(len(p) == 0); w.err != nil {
			return w.err
		}
	}
	if len(p) > 0 {
		w.write(p, true)
	}
	return w.err
}

// chunkOverhead is the maximum length of the size of a chunk and its line ends.
const chunkOverhead = 16

// writeChunks writes p as one chunk, or as several if it is longer than the buffer.
func (w *responder) writeChunks(p []byte) error {
	for len(p) > 0 {
		part := p[:min(len(p), outputSize-chunkOverhead)]
		if cap(w.buffer())-len(w.out) < len(part)+chunkOverhead {
			if w.empty(false); w.err != nil {
				return w.err
			}
		}
		b := strconv.AppendInt(w.buffer(), int64(len(part)), 16)
		b = append(b, "\r\n"...)
		b = append(b, part...)
		w.out = append(b, "\r\n"...)
		p = p[len(part):]
	}
	return nil
}

// Trailer implements proxying.Client.
func (w *responder) Trailer(fields []proxying.Field) { w.trailer = fields }

// end sends the end of a complete response.
func (w *responder) end() error {
	switch {
	case w.body == sizedBody && w.left > 0:
		w.keep = false
		w.breakOff()
		return errBodyLength
	case w.body == chunkedBody:
		b := append(w.buffer(), "0\r\n"...)
		for i := range w.trailer {
			b = appendField(b, &w.trailer[i])
		}
		w.out = append(b, "\r\n"...)
	}
	return w.Flush()
}

// breakOff ends the connection so that the response does not look complete.
func (w *responder) breakOff() {
	if w.Flush(); w.body == closedBody {
		w.conn.Abort()
	}
}

// Duplex implements proxying.Client.
func (w *responder) Duplex() { w.duplex = true }

// StopReading implements proxying.Client.
func (w *responder) StopReading() { w.conn.SetReadDeadline(past) }

// sendContinue sends 100, unless the final response has begun.
func (w *responder) sendContinue() error {
	w.informing.Lock()
	defer w.informing.Unlock()
	if w.began {
		return nil
	}
	_, err := w.conn.Write(continueResponse)
	return err
}

var continueResponse = []byte("HTTP/1.1 100 Continue\r\n\r\n")

// Tunnel implements proxying.Client.
func (w *responder) Tunnel() (proxying.Tunnel, []proxying.Field, error) {
	w.conn.endWatch()
	return tunnel{w.conn}, nil, nil
}

// A tunnel is the connection of a client after an upgrade.
type tunnel struct{ *clientConn }

// Read implements io.Reader. It first returns the bytes that the client has already sent.
func (t tunnel) Read(p []byte) (int, error) {
	if in := t.in; in.r < in.w {
		n := copy(p, in.unread())
		in.r += n
		return n, nil
	}
	return t.Conn.Read(p)
}

func appendStatusLine(b []byte, http10 bool, status int) []byte {
	if http10 {
		b = append(b, "HTTP/1.0 "...)
	} else {
		b = append(b, "HTTP/1.1 "...)
	}
	b = strconv.AppendInt(b, int64(status), 10)
	b = append(b, ' ')
	if text := http.StatusText(status); text != "" {
		b = append(b, text...)
	} else {
		b = strconv.AppendInt(append(b, "status code "...), int64(status), 10)
	}
	return append(b, "\r\n"...)
}

func appendField(b []byte, f *proxying.Field) []byte {
	b = append(b, f.Name...)
	b = append(b, ": "...)
	b = append(b, f.Value...)
	return append(b, "\r\n"...)
}

// A date is a second and its Date field.
type date struct {
	second int64
	field  string
}

var lastDate atomic.Pointer[date]

const dateName = "Date: "

// dateField returns the Date field of HTTP/1 with its line end. It is formatted once in a
// second.
func dateField() string {
	now := time.Now()
	d := lastDate.Load()
	if second := now.Unix(); d == nil || d.second != second {
		d = &date{second: second, field: now.UTC().Format(dateName + http.TimeFormat + "\r\n")}
		lastDate.Store(d)
	}
	return d.field
}

// appendDate appends the Date field.
func appendDate(b []byte) []byte { return append(b, dateField()...) }

// currentDate returns the value of a Date field.
func currentDate() string {
	field := dateField()
	return field[len(dateName) : len(field)-len("\r\n")]
}
