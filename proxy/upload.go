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
	// shortBody is the longest body that is read whole before an upstream is
	// reached for, and sent in one write with the head.
	shortBody = 16 << 10
	// firstWait is how long the beginning of a longer body is waited for
	// before an upstream is reached for. It bounds the delay of a client that
	// wants to hear the answer before it goes on sending.
	firstWait = 100 * time.Millisecond
	// continueWait is how long an upstream may think about a request that
	// expects 100 before the body is sent all the same, as RFC 9110 section
	// 10.1.1 asks of clients.
	continueWait = time.Second
	// endWait is how long the end of a body may still be on its way to an
	// upstream whose answer is there already.
	endWait = 50 * time.Millisecond
	// lingerWait is how long the rest of a body is read and thrown away when
	// the answer came first. Closing at once would reset the connection, and
	// the client could lose the answer.
	lingerWait = 2 * time.Second
)

// chunkPrefix leaves room before a block for its size as a chunk, chunkSuffix
// behind it for the end of one.
const (
	chunkPrefix = 8
	chunkSuffix = 2
)

// drop is the longest block of a client that sends little at a time.
const smallBlock = 512

// An uploadBuffer holds a block.
type uploadBuffer [chunkPrefix + shortBody + chunkSuffix]byte

var uploadBuffers = sync.Pool{New: func() any { return new(uploadBuffer) }}

// An upload carries a request's body to the upstream while the answer may
// already be on its way back. Its goroutine reads from the client for as long
// as the exchange lasts, so that a client that sends before it listens is
// never stuck; finish waits for it.
type upload struct {
	x     *Exchange
	begun chan struct{} // closed when the first block was read
	start chan *conn    // says where to send it
	done  chan struct{} // closed when the goroutine is through

	waiting   atomic.Bool // it waits for the client
	ended     atomic.Bool // the client has sent everything, without a fault
	responded atomic.Bool // the answer is finished: only read on
	failed    atomic.Bool // err is set
	err       error       // what the client did wrong, set before failed
	complete  bool        // the upstream has the whole body; valid after done

	// Of run's goroutine: where blocks are read to. There is a large buffer for
	// the client that has just sent a block that is no drop; others are waited
	// for with what an upload has itself.
	large *uploadBuffer
	small [chunkPrefix + smallBlock + chunkSuffix]byte
}

func startUpload(x *Exchange) *upload {
	x.upload = &upload{x: x, begun: make(chan struct{}), start: make(chan *conn, 1), done: make(chan struct{})}
	go x.upload.run()
	return x.upload
}

// beginning waits a little for the first block, and returns what the client
// did wrong in it.
func (u *upload) beginning() error {
	timer := time.NewTimer(firstWait)
	defer timer.Stop()
	select {
	case <-u.begun:
	case <-timer.C:
	}
	return u.fault()
}

// fault returns what the client did wrong, as far as is known.
func (u *upload) fault() error {
	if u == nil || !u.failed.Load() {
		return nil
	}
	return u.err
}

// finish waits for the goroutine, which reads on for the given time at most.
// The connection is not touched any more.
func (u *upload) finish(linger time.Duration) {
	u.responded.Store(true)
	close(u.start)
	timer := time.NewTimer(linger)
	defer timer.Stop()
	select {
	case <-u.done:
	case <-timer.C:
		// By this goroutine, so that it cannot come late and hit the next
		// request on the client's connection.
		u.x.Client.StopReading()
		<-u.done
	}
}

// bodyEnded tells whether the client's body was read to its end.
func (x *Exchange) bodyEnded() bool {
	return x.upload != nil && x.upload.ended.Load()
}

// whole tells whether the upstream has the whole body. When its end is being
// sent just now, that is waited for a little: an answer can be faster than the
// return of the write that it answers.
func (u *upload) whole() bool {
	if !u.ended.Load() {
		return false
	}
	timer := time.NewTimer(endWait)
	defer timer.Stop()
	select {
	case <-u.done:
		return u.complete
	case <-timer.C:
		return false
	}
}

func (u *upload) run() {
	defer close(u.done)
	defer u.makeSmall()
	n, end := u.first()
	close(u.begun)
	c := <-u.start
	for {
		if n > 0 && c != nil && !u.send(c, n) {
			c = nil // it may have answered already: whoever reads will see
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

// first reads until a block is full, the body ends, or somebody waits for what
// there is.
func (u *upload) first() (n int, end bool) {
	for n < shortBody && !end && len(u.start) == 0 && !u.responded.Load() {
		if n == smallBlock {
			u.makeLarge(n)
		}
		var m int
		m, end = u.read(u.space()[n:])
		n += m
	}
	return n, end
}

// buffer is what a block is read to, with room before and behind it.
func (u *upload) buffer() []byte {
	if u.large != nil {
		return u.large[:]
	}
	return u.small[:]
}

// space is the part of the buffer that a block is read to.
func (u *upload) space() []byte {
	b := u.buffer()
	return b[chunkPrefix : len(b)-chunkSuffix]
}

// makeLarge makes the buffer a large one, with the n bytes that were read.
func (u *upload) makeLarge(n int) {
	if u.large == nil {
		u.large = uploadBuffers.Get().(*uploadBuffer)
		copy(u.space()[:n], u.small[chunkPrefix:])
	}
}

// makeSmall gives the large buffer back.
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

// readGuarded is Read of a body that may be anybody's: a panic in it would end the
// process, since it happens in a goroutine of the upload's.
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
	buf := u.buffer()
	from, to := chunkPrefix, chunkPrefix+n
	if u.x.Length < 0 {
		var size [chunkPrefix]byte
		line := append(strconv.AppendInt(size[:0], int64(n), 16), "\r\n"...)
		from -= copy(buf[chunkPrefix-len(line):], line)
		to += copy(buf[to:], "\r\n")
	}
	u.x.arm(c, u.x.timeout())
	_, err := c.Write(buf[from:to])
	return err == nil
}

// end says to the upstream that the body is whole, or that it never will be.
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

// readShortBody reads a body whose length is known into x.head, behind the
// request's head.
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
