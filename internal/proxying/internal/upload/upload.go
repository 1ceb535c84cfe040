// Package upload sends the body of a request to a server, possibly while the response is already on
// its way. It knows neither requests nor servers.
package upload

import (
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirhq/weir/internal/proxying/internal/pool"
	"github.com/weirhq/weir/internal/transport"
)

const (
	// firstWait limits the wait for the first block before the proxy connects to an
	// upstream. It is the maximum delay for a client that waits for the response
	// before it sends more.
	firstWait = 100 * time.Millisecond
	// endWait limits the wait for the end of a body that is being sent to an
	// upstream whose response is already complete.
	endWait = 50 * time.Millisecond
)

// A spaceReader is a body that needs no memory while it waits for the client.
type spaceReader interface {
	ReadInto(s transport.Space) (int, error)
}

// An Owner is the exchange that an upload belongs to. Also the goroutine of the upload calls the
// methods, except for StopReading.
type Owner interface {
	// Fault returns the error of the exchange for an error of the body.
	Fault(err error) error

	// Arm sets the deadline of the next write to c.
	Arm(c *pool.Conn)

	// EachTrailer calls add for each trailer field of the request, after the end of a body of
	// unknown length.
	EachTrailer(add func(name, value string))

	// StopReading makes a blocked read of the body, and every later one, fail.
	StopReading()
}

// An Upload sends a request body to the upstream. Its task reads from the client until the exchange
// ends, so that a client that sends before it reads is never blocked. [Upload.Finish] waits for the
// task.
//
// It is also the [transport.Space] of the body: it has a buffer only while there
// are bytes in it or to be read.
type Upload struct {
	owner  Owner
	driver transport.Driver
	body   spaceReader
	plain  plainBody // body, if that of the exchange is only an io.Reader
	length int64     // of the body; -1 if it is unknown

	begun *transport.Signal // the first block was read
	start *transport.Signal // conn and head are set, or nothing is sent
	done  *transport.Signal // the task has ended

	conn *pool.Conn // to send to; nil if nothing is sent
	head []byte     // of the request, to be sent before the block; nil if it was sent

	bytes     int64       // read from the client; belongs to the task until done
	waiting   atomic.Bool // for the client
	ended     atomic.Bool // the client has sent the whole body without an error
	responded atomic.Bool // the response is complete: read the rest but do not send it
	failed    atomic.Bool // err is set
	err       error       // the client's error, set before failed
	complete  bool        // the upstream has received the whole body; valid after done
	gathers   bool        // the first block is filled until start is sent: SendTo sends what has arrived

	mu       sync.Mutex // guards the fields below; after start only the task uses them
	buffer   *buffer    // nil if the block is empty and nothing is being read
	from, to int        // the part of the block that was read and not sent
	reading  bool       // the body may be reading into the buffer
}

// uploads holds uploads that are reset.
var uploads = sync.Pool{New: func() any {
	return &Upload{begun: transport.NewSignal(), start: transport.NewSignal(), done: transport.NewSignal()}
}}

// Start begins to read a body of the given length, or of unknown length if that is -1. A body with
// the method ReadInto of [transport.Conn] needs no memory while it waits. With gathers, the first
// block is filled until SendTo.
func Start(owner Owner, driver transport.Driver, body io.Reader, length int64, gathers bool) *Upload {
	u := uploads.Get().(*Upload)
	u.owner, u.driver, u.length, u.gathers = owner, driver, length, gathers
	var ok bool
	if u.body, ok = body.(spaceReader); !ok {
		u.plain = plainBody{Reader: body}
		u.body = &u.plain
	}
	u.driver.Go(u)
	return u
}

// Beginning waits up to firstWait for the first block, and returns the client's
// error in it.
func (u *Upload) Beginning() error {
	u.driver.Wait(u.begun, firstWait)
	return u.Fault()
}

// SendTo sends the head of the request and the body to c. If the client is slow,
// it sends only the part of the body that has arrived, and returns the error of
// that. The task sends the rest.
func (u *Upload) SendTo(c *pool.Conn, head []byte) error {
	if !u.begun.Sent() {
		if _, err := c.Write(u.take(head)); err != nil {
			return err
		}
		head = nil
	}
	u.Begin(c, head)
	return nil
}

// Begin has the task send head, and then the body, to c.
func (u *Upload) Begin(c *pool.Conn, head []byte) {
	u.conn, u.head = c, head
	u.start.Send()
}

// take removes the bytes from the block, and appends them to b.
func (u *Upload) take(b []byte) []byte {
	u.mu.Lock()
	defer u.mu.Unlock()
	if n := u.to - u.from; n > 0 {
		part := u.buffer[headRoom+u.from : headRoom+u.to]
		if u.length < 0 {
			b = append(append(appendChunkSize(b, n), part...), "\r\n"...)
		} else {
			b = append(b, part...)
		}
	}
	u.drop()
	return b
}

// Fault returns the client's error, if one has occurred.
func (u *Upload) Fault() error {
	if u == nil || !u.failed.Load() {
		return nil
	}
	return u.err
}

// Whole reports whether the upstream has received the whole body. If its end is
// being sent at the moment, Whole waits for up to endWait: a response can
// arrive before the write that triggered it returns.
func (u *Upload) Whole() bool {
	return u.ended.Load() && u.driver.Wait(u.done, endWait) && u.complete
}

// Waiting reports whether the upload waits for the client.
func (u *Upload) Waiting() bool { return u.waiting.Load() }

// Ended reports whether the client has sent the whole body.
func (u *Upload) Ended() bool { return u.ended.Load() }

// Uses reports whether the upload sends to c.
func (u *Upload) Uses(c *pool.Conn) bool { return u.conn == c }

// StopSending has the upload send no more of the body, because the response is complete.
func (u *Upload) StopSending() { u.responded.Store(true) }

// Finish ends the upload, which must not be used any more, and returns the number of bytes that
// were read from the client. Its task continues to read for at most the given time.
func (u *Upload) Finish(linger time.Duration) (bytes int64) {
	u.StopSending()
	u.start.Send()
	if linger <= 0 || !u.driver.Wait(u.done, linger) {
		// Called here, so that it cannot run late and affect the next request on
		// the client's connection.
		u.owner.StopReading()
		u.driver.Wait(u.done, 0)
	}
	bytes = u.bytes
	u.release()
	return bytes
}

// release makes the upload ready for another exchange. Its task has ended.
func (u *Upload) release() {
	for _, s := range []*transport.Signal{u.begun, u.start, u.done} {
		s.Reset()
	}
	if u.conn != nil && u.conn.Stream != nil {
		u.conn.FreeStream()
	}
	u.owner, u.driver, u.body, u.plain = nil, nil, nil, plainBody{}
	u.conn, u.head, u.err, u.complete, u.bytes = nil, nil, nil, false, 0
	for _, b := range []*atomic.Bool{&u.waiting, &u.ended, &u.responded, &u.failed} {
		b.Store(false)
	}
	uploads.Put(u)
}
