package proxy

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirhq/weir/internal/httpsyntax"
)

const (
	// ShortBody is the maximum length of a body that is read completely before
	// the proxy connects to an upstream, in bytes. It is sent together with the
	// head.
	ShortBody = 16 << 10
	// uploadBlock is the maximum length of a part of a longer body that is sent
	// with one write. The first one has at most ShortBody bytes.
	uploadBlock = 32 << 10
	// firstWait limits the wait for the beginning of a longer body before the
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

// chunkPrefix is the space reserved before a block for its chunk size, and
// chunkSuffix the space after it for the CRLF.
const (
	chunkPrefix = 8
	chunkSuffix = 2
)

// smallBlock is the maximum size of a block if the client sends little at a
// time.
const smallBlock = 512

// An uploadBuffer holds one block.
type uploadBuffer [chunkPrefix + uploadBlock + chunkSuffix]byte

var uploadBuffers = sync.Pool{New: func() any { return new(uploadBuffer) }}

// An upload sends a request body to the upstream, possibly while the response
// is already on its way. Its goroutine reads from the client until the exchange
// ends, so that a client that sends before it reads is never blocked. finish
// waits for the goroutine.
type upload struct {
	x     *Exchange
	begun chan struct{} // closed after the first block was read
	start chan *conn    // receives the connection to send to
	done  chan struct{} // closed when the goroutine has ended

	first int  // length of the first block, set before begun is closed
	taken bool // the first block was sent with the head; set before the connection is sent to start

	waiting   atomic.Bool // for the client
	ended     atomic.Bool // the client has sent the whole body without an error
	responded atomic.Bool // the response is complete: read the rest but do not send it
	failed    atomic.Bool // err is set
	err       error       // the client's error, set before failed
	complete  bool        // the upstream has received the whole body; valid after done

	// The buffer that blocks are read into, used only by run's goroutine. large
	// is set after the client has sent a block of at least smallBlock bytes.
	// Otherwise the upload waits with its own small buffer.
	large *uploadBuffer
	small [chunkPrefix + smallBlock + chunkSuffix]byte
}

func startUpload(x *Exchange) *upload {
	x.upload = &upload{x: x, begun: make(chan struct{}), start: make(chan *conn, 1), done: make(chan struct{})}
	go x.upload.run()
	return x.upload
}

// beginning waits up to firstWait for the first block, and returns the client's
// error in it.
func (u *upload) beginning() error {
	closedWithin(u.begun, firstWait)
	return u.fault()
}

// closedWithin waits until a channel is closed, and reports false if that takes
// longer than the given time.
func closedWithin(c <-chan struct{}, limit time.Duration) bool {
	select {
	case <-c:
		return true
	default:
	}
	if limit <= 0 {
		return false
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-c:
		return true
	case <-timer.C:
		return false
	}
}

// takeFirst appends the first block to b if it was read. It must be called
// before the connection is sent to start.
func (u *upload) takeFirst(b []byte) []byte {
	if !closedWithin(u.begun, 0) || u.first == 0 {
		return b
	}
	u.taken = true
	return append(b, u.framed(u.first)...)
}

// fault returns the client's error, if one has occurred.
func (u *upload) fault() error {
	if u == nil || !u.failed.Load() {
		return nil
	}
	return u.err
}

// finish waits for the goroutine, which continues to read for at most the given
// time. The connection is not used any more.
func (u *upload) finish(linger time.Duration) {
	u.responded.Store(true)
	close(u.start)
	if !closedWithin(u.done, linger) {
		// Called in this goroutine, so that it cannot run late and affect the
		// next request on the client's connection.
		u.x.Client.StopReading()
		<-u.done
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
	return u.ended.Load() && closedWithin(u.done, endWait) && u.complete
}

func (u *upload) run() {
	defer close(u.done)
	defer u.makeSmall()
	n, end := u.readFirst()
	u.first = n
	close(u.begun)
	c := <-u.start
	for taken := u.taken; ; taken = false {
		if n > 0 && c != nil && !taken && !u.send(c, n) {
			c = nil // the response may have arrived nevertheless; the reader will find out
		}
		if end {
			break
		}
		if n < smallBlock {
			u.makeSmall()
		} else {
			u.makeLarge(0)
		}
		n, end = u.read(u.space())
	}
	if c != nil && !u.responded.Load() {
		u.end(c)
	}
}

// readFirst reads until the block has ShortBody bytes, the body ends, or the
// exchange waits for the block.
func (u *upload) readFirst() (n int, end bool) {
	for n < ShortBody && !end && len(u.start) == 0 && !u.responded.Load() {
		if n == smallBlock {
			u.makeLarge(n)
		}
		var m int
		space := u.space()
		m, end = u.read(space[n:min(len(space), ShortBody)])
		n += m
	}
	return n, end
}

// buffer returns the buffer for a block, including prefix and suffix.
func (u *upload) buffer() []byte {
	if u.large != nil {
		return u.large[:]
	}
	return u.small[:]
}

// space returns the part of the buffer that a block is read into.
func (u *upload) space() []byte {
	b := u.buffer()
	return b[chunkPrefix : len(b)-chunkSuffix]
}

// makeLarge switches to a large buffer and copies the n bytes that were read.
func (u *upload) makeLarge(n int) {
	if u.large == nil {
		u.large = uploadBuffers.Get().(*uploadBuffer)
		copy(u.space()[:n], u.small[chunkPrefix:])
	}
}

// makeSmall returns the large buffer to the pool.
func (u *upload) makeSmall() {
	if u.large != nil {
		uploadBuffers.Put(u.large)
		u.large = nil
	}
}

// read reads once from the client.
func (u *upload) read(buf []byte) (n int, end bool) {
	u.waiting.Store(true)
	n, err := readGuarded(u.x.Body, buf)
	u.waiting.Store(false)
	u.x.BodyRead += int64(n)
	switch {
	case err == io.EOF:
		u.ended.Store(true)
	case err != nil:
		u.err = by(ClientBody, "reading the request's body", err)
		u.failed.Store(true)
	}
	return n, err != nil
}

// readGuarded reads from a body of any implementation. It recovers from a
// panic, which would end the process because it happens in the upload's
// goroutine.
func readGuarded(body io.Reader, buf []byte) (n int, err error) {
	defer func() {
		if value := recover(); value != nil {
			n, err = 0, fmt.Errorf("the body panicked: %v", value)
		}
	}()
	return body.Read(buf)
}

// send sends a block of n bytes.
func (u *upload) send(c *conn, n int) bool {
	if u.responded.Load() {
		return false
	}
	u.x.arm(c, time.Now(), u.x.timeout())
	_, err := c.Write(u.framed(n))
	return err == nil
}

// framed returns a block of n bytes as it is sent, which is as a chunk if the
// length of the body is unknown.
func (u *upload) framed(n int) []byte {
	buf := u.buffer()
	from, to := chunkPrefix, chunkPrefix+n
	if u.x.Length < 0 {
		var size [chunkPrefix]byte
		line := append(strconv.AppendInt(size[:0], int64(n), 16), "\r\n"...)
		from -= copy(buf[chunkPrefix-len(line):], line)
		to += copy(buf[to:], "\r\n")
	}
	return buf[from:to]
}

// end tells the upstream that the body is complete, or breaks the connection if
// it never will be.
func (u *upload) end(c *conn) {
	if u.failed.Load() {
		c.interrupt()
		return
	}
	if u.x.Length < 0 {
		b := append(make([]byte, 0, 64), "0\r\n"...)
		if u.x.Trailers != nil {
			for _, f := range u.x.Trailers(nil) {
				if httpsyntax.IsToken(f.Name) && httpsyntax.IsPlain(f.Value) && u.x.passes(f.Name) {
					b = appendField(b, f.Name, f.Value)
				}
			}
		}
		if _, err := c.Write(append(b, "\r\n"...)); err != nil {
			return
		}
	}
	u.complete = true
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
	return by(ClientBody, "reading the request's body", err)
}
