package proxy

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirhq/weir/internal/http2"
	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/internal/transport"
	"github.com/weirhq/weir/proxy/internal/pool"
)

const (
	// ShortBody is the maximum length of a body that is read completely before
	// the proxy connects to an upstream, however slowly it arrives, in bytes. It
	// is sent together with the head.
	ShortBody = 16 << 10
	// uploadBlock is the maximum length of a part of a longer body that is sent
	// with one write.
	uploadBlock = 64 << 10
	// firstWait limits the wait for the first block of a longer body before the
	// proxy connects to an upstream. It is the maximum delay for a client that
	// waits for the response before it sends more.
	firstWait = 100 * time.Millisecond
	// continueWait limits the wait for the upstream's response to a request
	// that expects 100. The body is sent afterwards in any case, as RFC 9110
	// section 10.1.1 requires of clients.
	continueWait = time.Second
	// endWait limits the wait for the end of a body that is being sent to an
	// upstream whose response is already complete.
	endWait = 50 * time.Millisecond
	// lingerWait limits the time in which the rest of a body is read and
	// discarded after an early response. Closing the connection immediately
	// would reset it, and the client could lose the response.
	lingerWait = 2 * time.Second
)

const (
	// headRoom is the space before a block for the head of the request and for
	// the size of a chunk. If the head is longer, the block is copied behind it. A
	// block begins with a page of memory, so that a short one uses only one page.
	headRoom = 4 << 10
	// chunkSuffix is the space after a block for the CRLF of a chunk.
	chunkSuffix = 2
)

// An uploadBuffer holds one block.
type uploadBuffer [headRoom + uploadBlock + chunkSuffix]byte

var uploadBuffers = sync.Pool{New: func() any { return new(uploadBuffer) }}

// An upload sends a request body to the upstream, possibly while the response
// is already on its way. Its task reads from the client until the exchange
// ends, so that a client that sends before it reads is never blocked. finish
// waits for the task.
//
// It is also the [transport.Space] of the body: it has a buffer only while there
// are bytes in it or to be read.
type upload struct {
	x      *Exchange
	driver transport.Driver
	body   SpaceReader
	plain  plainBody // body, if that of the exchange is only an io.Reader

	begun *transport.Signal // the first block was read
	start *transport.Signal // conn and head are set, or nothing is sent
	done  *transport.Signal // the task has ended

	conn *pool.Conn // to send to; nil if nothing is sent
	head []byte     // of the request, to be sent before the block; nil if it was sent

	waiting   atomic.Bool // for the client
	ended     atomic.Bool // the client has sent the whole body without an error
	responded atomic.Bool // the response is complete: read the rest but do not send it
	failed    atomic.Bool // err is set
	err       error       // the client's error, set before failed
	complete  bool        // the upstream has received the whole body; valid after done
	gathers   bool        // the first block is filled until start is sent: sendTo sends what has arrived

	mu       sync.Mutex    // guards the fields below; after start only the task uses them
	buffer   *uploadBuffer // nil if the block is empty and nothing is being read
	from, to int           // the part of the block that was read and not sent
	reading  bool          // the body may be reading into the buffer
}

// uploads holds uploads that are reset.
var uploads = sync.Pool{New: func() any {
	return &upload{begun: transport.NewSignal(), start: transport.NewSignal(), done: transport.NewSignal()}
}}

// startUpload begins to read the body. With gathers, the caller calls beginning and sendTo.
func startUpload(x *Exchange, gathers bool) *upload {
	u := uploads.Get().(*upload)
	u.x, u.driver, u.gathers = x, x.driver(), gathers
	var ok bool
	if u.body, ok = x.Body.(SpaceReader); !ok {
		u.plain = plainBody{Reader: x.Body}
		u.body = &u.plain
	}
	x.upload = u
	u.driver.Go(u)
	return u
}

// release makes the upload ready for another exchange. Its task has ended.
func (u *upload) release() {
	for _, s := range []*transport.Signal{u.begun, u.start, u.done} {
		s.Reset()
	}
	if u.conn != nil && u.conn.Stream != nil {
		u.conn.FreeStream()
	}
	u.x, u.driver, u.body, u.plain = nil, nil, nil, plainBody{}
	u.conn, u.head, u.err, u.complete = nil, nil, nil, false
	for _, b := range []*atomic.Bool{&u.waiting, &u.ended, &u.responded, &u.failed} {
		b.Store(false)
	}
	uploads.Put(u)
}

// beginning waits up to firstWait for the first block, and returns the client's
// error in it.
func (u *upload) beginning() error {
	u.driver.Wait(u.begun, firstWait)
	return u.fault()
}

// sendTo sends the head of the request and the body to c. If the client is slow,
// it sends only the part of the body that has arrived, and returns the error of
// that. The task sends the rest.
func (u *upload) sendTo(c *pool.Conn, head []byte) error {
	if !u.begun.Sent() {
		if _, err := c.Write(u.take(head)); err != nil {
			return err
		}
		head = nil
	}
	u.begin(c, head)
	return nil
}

// begin has the task send head, and then the body, to c.
func (u *upload) begin(c *pool.Conn, head []byte) {
	u.conn, u.head = c, head
	u.start.Send()
}

// take removes the bytes from the block, and appends them to b.
func (u *upload) take(b []byte) []byte {
	u.mu.Lock()
	defer u.mu.Unlock()
	if n := u.to - u.from; n > 0 {
		part := u.buffer[headRoom+u.from : headRoom+u.to]
		if u.x.Length < 0 {
			b = append(append(appendChunkSize(b, n), part...), "\r\n"...)
		} else {
			b = append(b, part...)
		}
	}
	u.drop()
	return b
}

// fault returns the client's error, if one has occurred.
func (u *upload) fault() error {
	if u == nil || !u.failed.Load() {
		return nil
	}
	return u.err
}

// finish waits for the task, which continues to read for at most the given time.
// The connection is not used any more.
func (u *upload) finish(linger time.Duration) {
	u.responded.Store(true)
	u.start.Send()
	if linger <= 0 || !u.driver.Wait(u.done, linger) {
		// Called here, so that it cannot run late and affect the next request on
		// the client's connection.
		u.x.Client.StopReading()
		u.driver.Wait(u.done, 0)
	}
}

// bodyEnded reports whether the client's body was read to its end.
func (x *Exchange) bodyEnded() bool {
	return x.upload != nil && x.upload.ended.Load()
}

// whole reports whether the upstream has received the whole body. If its end is
// being sent at the moment, whole waits for up to endWait: a response can
// arrive before the write that triggered it returns.
func (u *upload) whole() bool {
	return u.ended.Load() && u.driver.Wait(u.done, endWait) && u.complete
}

// Run implements transport.Task.
func (u *upload) Run() {
	defer u.done.Send()
	defer u.discard()
	end := u.readFirst()
	u.begun.Send()
	u.driver.Wait(u.start, 0)
	for c := u.conn; ; end = u.read() {
		if c != nil && !u.send(c) {
			c = nil // the response may have arrived nevertheless; the reader will find out
		}
		u.discard()
		if end {
			if c != nil && !u.responded.Load() {
				u.end(c)
			}
			return
		}
	}
}

// readFirst reads once. If the upload gathers, it reads until the block is full, the body ends,
// or the exchange does not wait any longer.
func (u *upload) readFirst() (end bool) {
	end = u.read()
	for u.gathers && !end && !u.full() && !u.start.Sent() {
		end = u.read()
	}
	return end
}

func (u *upload) full() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.to == uploadBlock
}

// Space implements transport.Space.
func (u *upload) Space() []byte {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.buffer == nil {
		u.buffer = uploadBuffers.Get().(*uploadBuffer)
	}
	u.reading = true
	space := u.buffer[headRoom+u.to : headRoom+uploadBlock]
	if left := u.x.Length - u.x.BodyRead; left >= 0 && left < int64(len(space)) {
		return space[:left]
	}
	return space
}

// GiveBack implements transport.Space.
func (u *upload) GiveBack() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.reading = false
	if u.from == u.to {
		u.drop()
	}
}

// discard removes the bytes from the block and returns its buffer to the pool.
func (u *upload) discard() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.reading = false
	u.drop()
}

// drop removes the bytes from the block, and returns its buffer to the pool
// unless it is in use. The caller holds mu.
func (u *upload) drop() {
	if u.reading {
		u.from = u.to
		return
	}
	if u.buffer != nil {
		uploadBuffers.Put(u.buffer)
	}
	u.buffer, u.from, u.to = nil, 0, 0
}

// read reads once from the client. It reports whether the body has ended.
func (u *upload) read() (end bool) {
	u.waiting.Store(true)
	n, err := u.readGuarded()
	u.waiting.Store(false)
	u.mu.Lock()
	u.reading = false
	u.to += n
	u.mu.Unlock()
	x := u.x
	x.BodyRead += int64(n)
	switch {
	case err == nil && x.BodyRead == x.Length, err == io.EOF && (x.Length < 0 || x.BodyRead == x.Length):
		u.ended.Store(true)
		return true
	case err == io.EOF:
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		u.err = x.bodyError(err)
		u.failed.Store(true)
	}
	return err != nil
}

// readGuarded reads from a body of any implementation. It recovers from a
// panic, which would end the process because it happens in the upload's
// goroutine.
func (u *upload) readGuarded() (n int, err error) {
	defer func() {
		if value := recover(); value != nil {
			n, err = 0, fmt.Errorf("the body panicked: %v", value)
		}
	}()
	return u.body.ReadInto(u)
}

// send sends the head, if it was not sent, and the block.
func (u *upload) send(c *pool.Conn) bool {
	if u.responded.Load() {
		return false
	}
	b := u.encode()
	if len(b) == 0 {
		return true
	}
	u.x.arm(c, time.Now(), u.x.timeout())
	return c.SendPart(b) == nil
}

// encode returns the head, if it was not sent, and the block. The block is a
// chunk if the length of the body is unknown.
func (u *upload) encode() []byte {
	head, n := u.head, u.to-u.from
	u.head = nil
	if n == 0 {
		return head
	}
	from, to := headRoom+u.from, headRoom+u.to
	if u.x.Length < 0 && u.conn.Stream == nil {
		var size [16]byte
		line := appendChunkSize(size[:0], n)
		from -= copy(u.buffer[from-len(line):], line)
		to += copy(u.buffer[to:], "\r\n")
	}
	if len(head) > from {
		return append(head, u.buffer[from:to]...)
	}
	from -= copy(u.buffer[from-len(head):], head)
	return u.buffer[from:to]
}

// appendChunkSize appends the line before a chunk of n bytes.
func appendChunkSize(b []byte, n int) []byte {
	return append(strconv.AppendInt(b, int64(n), 16), "\r\n"...)
}

// end tells the upstream that the body is complete, or breaks the connection if
// it never will be.
func (u *upload) end(c *pool.Conn) {
	if u.failed.Load() {
		c.Interrupt()
		return
	}
	var err error
	switch {
	case c.Stream != nil:
		err = endStream(c.Stream, u.trailers())
	case u.x.Length < 0:
		b := append(make([]byte, 0, 64), "0\r\n"...)
		for _, f := range u.trailers() {
			b = appendField(b, f.Name, f.Value)
		}
		_, err = c.Write(append(b, "\r\n"...))
	}
	u.complete = err == nil
}

// endStream ends a request over HTTP/2 with its trailers.
func endStream(s *http2.Stream, trailers []Field) error {
	if len(trailers) == 0 {
		_, err := s.Write(nil, true)
		return err
	}
	h := http2.NewHead()
	for _, f := range trailers {
		h.Add(f.Name, f.Value)
	}
	return s.SendHead(h, true)
}

// trailers returns the trailers of the request that are passed on.
func (u *upload) trailers() []Field {
	if u.x.Length >= 0 || u.x.Trailers == nil {
		return nil
	}
	return slices.DeleteFunc(u.x.Trailers(nil), func(f Field) bool {
		return !httpsyntax.IsToken(f.Name) || !httpsyntax.IsPlain(f.Value) || !u.x.passes(f.Name)
	})
}

// smallRead is the maximum size of a read if the client sends little at a time.
const smallRead = 512

// A plainBody is a body that needs its memory while it waits. It waits with
// little memory if the previous read has returned little.
type plainBody struct {
	io.Reader
	last  int // result of the previous read
	small [smallRead]byte
}

// ReadInto implements SpaceReader.
func (r *plainBody) ReadInto(s transport.Space) (n int, err error) {
	if r.last < smallRead {
		s.GiveBack()
		n, err = r.Read(r.small[:])
		if space := s.Space(); copy(space, r.small[:n]) < n {
			return 0, errLongBody
		}
	} else {
		n, err = r.Read(s.Space())
	}
	r.last = n
	return n, err
}

// readShortBody reads a body of known length into x.head, after the request's
// head.
func (x *Exchange) readShortBody() error {
	x.head = append(x.head, make([]byte, x.Length)...)
	n, err := io.ReadFull(x.Body, x.head[x.headEnd:])
	x.BodyRead = int64(n)
	if err == nil {
		return nil
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return x.bodyError(err)
}

// bodyError returns the error of an exchange whose request body cannot be read.
func (x *Exchange) bodyError(err error) *Error {
	var tooLarge *http.MaxBytesError
	kind := ClientBody
	switch {
	case x.expired.Load():
		kind, err = Overdue, ErrOverdue
	case errors.As(err, &tooLarge):
		kind = TooLarge
	case errors.Is(err, os.ErrDeadlineExceeded):
		kind = ClientSlow
	case x.cancelled.Load() || disconnected(err):
		kind = ClientGone
	}
	return by(kind, readingBody, err)
}
