// Package pacing enforces limits of one exchange's client: the minimum speeds at which it sends its body
// and reads its response, the length of the body, and the time for both.
//
// A [Pacer] knows neither routes nor connections: it sets the deadlines of its [Conn] and wraps the
// body and the Client of the exchange.
package pacing

import (
	"cmp"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"github.com/weirhq/weir/internal/lazydeadline"
	"github.com/weirhq/weir/internal/proxying"
	"github.com/weirhq/weir/internal/transport"
	"github.com/weirhq/weir/limit"
)

// A Pacer enforces the minimum speeds of a client, for the body of the request and
// for the response. It wraps the exchange's body and its Client. Only the time
// that is spent waiting for the client counts.
type Pacer struct {
	proxying.Client // the wrapped one
	conn            Conn
	driver          transport.Driver // of the exchange; its clock is exact enough for pauses
	NoRoom          bool             // Client does not know its free space
	in, out         limit.Pace
	quiet           bool             // each byte allows the longest pause again
	leftIn          time.Duration    // until the deadline, when the last read ended
	leftOut         time.Duration    // until the deadline, when the last write ended
	setOut          time.Time        // the write deadline that is set
	counted         int              // bytes to be written that out has already counted
	fields          []proxying.Field // of the final response; nil before it
	sendBy          time.Time        // when the client must have sent everything; zero for no limit
	receiveBy       time.Time        // when the client must have received everything; zero for no limit

	body      io.Reader
	mayRead   int64 // remaining bytes of the body; -1 for no limit
	mu        sync.Mutex
	stopped   bool      // guarded by mu: reads must fail
	responded bool      // guarded by mu: the final response has begun, so that a pause is not slow
	setIn     time.Time // guarded by mu: the read deadline that is set
	beganRead bool
}

// A Conn is a connection or a stream. Its deadlines end only operations in progress and later
// ones.
type Conn interface {
	SetReadDeadline(time.Time) error
	SetWriteDeadline(time.Time) error
}

// minRate is the pace, in bytes per second, of a client that may be as slow as it
// likes but must not pause.
const minRate = 1

// Limits are the limits of an exchange's client. Without a timeout there is no minimum speed. With a
// timeout but no rate, the client may be slow, but must not pause longer than the timeout.
type Limits struct {
	Body                      int64         // length of the body of the request, in bytes; 0 for no limit
	UploadRate, DownloadRate  int64         // minimum speeds, in bytes per second
	ReadTimeout, WriteTimeout time.Duration // how far the client may fall short of them
}

// pace returns the pace for a rate in bytes per second and the longest pause.
func pace(rate int64, pause time.Duration) limit.Pace {
	if pause == 0 {
		return limit.Pace{} // a client that may pause forever has no minimum speed
	}
	return limit.Pace{PerSecond: max(rate, minRate), Grace: pause}
}

// Begin sets the connection of an exchange, and the deadlines that it has already.
func (p *Pacer) Begin(conn Conn, readBy, writeBy time.Time) {
	p.conn, p.setIn, p.setOut = conn, readBy, writeBy
}

// Bind wraps the client and the body of an exchange. Call it after Begin.
func (p *Pacer) Bind(x *proxying.Exchange) {
	p.Client, x.Client = x.Client, p
	p.driver = cmp.Or(x.Driver, transport.Goroutines)
	if x.Body != nil {
		p.body, x.Body = x.Body, (*pacedBody)(p)
		if _, ok := p.body.(proxying.SpaceReader); ok {
			x.Body = (*pacedInput)(p)
		}
	}
}

// SetLimits sets the limits from now on. Call it before the body is read.
func (p *Pacer) SetLimits(l Limits) {
	p.in, p.out = pace(l.UploadRate, l.ReadTimeout), pace(l.DownloadRate, l.WriteTimeout)
	p.leftOut = l.WriteTimeout
	p.mayRead = -1
	if l.Body > 0 {
		p.mayRead = l.Body
	}
}

// AllowQuiet lets the client pause its body for so long, between any bytes: the messages of a call of gRPC are events,
// and their service may have nothing to respond before the last one. Call it before the body is read.
func (p *Pacer) AllowQuiet(pause time.Duration) {
	p.quiet, p.in.Grace = true, max(p.in.Grace, pause)
}

// AllowLastWrite sets the deadline for the end of the response. The deadline of the last write
// may have passed while the upstream was silent.
func (p *Pacer) AllowLastWrite() {
	if p.out.PerSecond > 0 {
		p.allowWrite(0)
	}
}

// SentFields returns the fields of the final response, or nil before it.
func (p *Pacer) SentFields() []proxying.Field { return p.fields }

// Reset makes the pacer ready for another exchange.
func (p *Pacer) Reset() {
	p.Client, p.conn, p.driver, p.NoRoom, p.body = nil, nil, nil, false, nil
	p.in, p.out, p.fields = limit.Pace{}, limit.Pace{}, nil
	p.leftIn, p.leftOut, p.counted, p.mayRead = 0, 0, 0, 0
	p.setIn, p.setOut, p.sendBy, p.receiveBy = time.Time{}, time.Time{}, time.Time{}, time.Time{}
	p.stopped, p.responded, p.beganRead, p.quiet = false, false, false, false
}

// pacedBody is a Pacer as the reader of a request's body.
type pacedBody Pacer

// Read implements io.Reader.
func (b *pacedBody) Read(buf []byte) (int, error) {
	p := (*Pacer)(b)
	due := p.beginRead()
	n, err := p.body.Read(buf)
	return p.read(due, n, err)
}

// pacedInput is a pacedBody of a body that is a proxying.SpaceReader.
type pacedInput Pacer

// Read implements io.Reader.
func (b *pacedInput) Read(buf []byte) (int, error) { return (*pacedBody)(b).Read(buf) }

// ReadInto implements proxying.SpaceReader.
func (b *pacedInput) ReadInto(s transport.Space) (int, error) {
	p := (*Pacer)(b)
	due := p.beginRead()
	n, err := p.body.(proxying.SpaceReader).ReadInto(s)
	return p.read(due, n, err)
}

// beginRead sets the deadline of a read, and returns when the read is due.
func (p *Pacer) beginRead() (due time.Time) {
	began := p.driver.Now()
	due = began.Add(p.leftIn)
	if !p.beganRead {
		p.beganRead, due = true, p.in.Start(began)
	}
	if p.in.PerSecond == 0 {
		due = time.Time{}
	}
	p.allowRead(due)
	return due
}

// read updates the pace after a read, and returns its result.
func (p *Pacer) read(due time.Time, n int, err error) (int, error) {
	if p.in.PerSecond > 0 {
		ended := p.driver.Now()
		if p.leftIn = p.in.Next(due, ended, n).Sub(ended); p.quiet && n > 0 {
			p.leftIn = p.in.Grace
		}
	}
	switch {
	case p.mayRead >= 0 && int64(n) > p.mayRead:
		return 0, ErrBodyTooLong
	case p.mayRead >= 0:
		p.mayRead -= int64(n)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) && !p.isStopped() {
		if err = ErrSlowUpload; passed(p.sendBy) {
			err = errOverdueUpload
		}
	}
	return n, err
}

// allowRead sets the deadline of a read, unless reads must fail.
func (p *Pacer) allowRead(want time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.responded {
		want = time.Time{}
	}
	want, grace := bound(want, p.sendBy, p.in.Grace)
	next, change := lazydeadline.Next(p.setIn, want, grace, 0)
	if change && !p.stopped {
		p.setIn = next
		p.conn.SetReadDeadline(next) // if this fails, so does the read
	}
}

// allowPauses lets the client pause its body as long as it likes, because the final response has begun: the client of a
// stream, as in gRPC, may wait for the messages of the server. A read in progress goes on.
func (p *Pacer) allowPauses() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.responded = true
	if p.body != nil && !p.stopped && !p.setIn.IsZero() {
		p.setIn = p.sendBy
		p.conn.SetReadDeadline(p.sendBy)
	}
}

func (p *Pacer) isStopped() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stopped
}

// StopReading implements proxying.Client.
func (p *Pacer) StopReading() {
	p.mu.Lock()
	p.stopped = true
	p.mu.Unlock()
	p.Client.StopReading()
}

// Head implements proxying.Client.
func (p *Pacer) Head(status int, fields []proxying.Field, length int64) error {
	p.fields = fields
	p.allowPauses()
	began := p.allowWrite(0)
	return p.wrote(began, 0, p.Client.Head(status, fields, length))
}

// Room implements proxying.Client. The free bytes are bytes that the client has taken. They count
// now, and not again when they are written.
func (p *Pacer) Room() (int, error) {
	if p.NoRoom {
		return p.Client.Room()
	}
	began := p.allowWrite(transport.SendBlock)
	n, err := p.Client.Room()
	p.counted = n
	return n, p.wrote(began, n, err)
}

// Write implements proxying.Client.
func (p *Pacer) Write(b []byte) (n int, err error) {
	began := p.allowWrite(len(b))
	n, err = p.Client.Write(b)
	counted := min(n, p.counted)
	p.counted -= counted
	return n, p.wrote(began, n-counted, err)
}

// SendsFiles implements proxying.FileClient.
func (p *Pacer) SendsFiles() bool {
	c, ok := p.Client.(proxying.FileClient)
	return ok && c.SendsFiles()
}

// SendFile implements proxying.FileClient. Like Room, it waits only until the client takes some
// bytes. The caller has read the file before, so that only the wait for the client counts.
func (p *Pacer) SendFile(fd int, at int64, n int) (sent int, err error) {
	began := p.allowWrite(min(n, transport.SendBlock))
	sent, err = p.Client.(proxying.FileClient).SendFile(fd, at, n)
	return sent, p.wrote(began, sent, err)
}

// Flush implements proxying.Client.
func (p *Pacer) Flush() error {
	began := p.allowWrite(0)
	return p.wrote(began, 0, p.Client.Flush())
}

// Informational implements proxying.Client.
func (p *Pacer) Informational(status int, fields []proxying.Field) error {
	began := p.allowWrite(0)
	return p.wrote(began, 0, p.Client.Informational(status, fields))
}

// allowWrite sets the deadline of a write of n bytes and returns the time. The
// write returns when its last byte is sent. It therefore gets the time that n
// bytes take at the minimum speed, but at most one pause more.
func (p *Pacer) allowWrite(n int) (began time.Time) {
	var want time.Time
	if p.out.PerSecond > 0 {
		began = p.driver.Now()
		want = began.Add(p.leftOut + min(p.out.Time(n), p.out.Grace))
	}
	want, grace := bound(want, p.receiveBy, p.out.Grace)
	next, change := lazydeadline.Next(p.setOut, want, grace, grace) // it may be that of a write of more bytes
	if change {
		p.setOut = next
		p.conn.SetWriteDeadline(next)
	}
	return began
}

// wrote updates the pace after a write, and returns its error.
func (p *Pacer) wrote(began time.Time, n int, err error) error {
	if err != nil && errors.Is(err, os.ErrDeadlineExceeded) && passed(p.receiveBy) {
		return errOverdueDownload
	}
	if p.out.PerSecond == 0 {
		return err
	}
	p.leftOut = min(p.leftOut-p.driver.Now().Sub(began)+p.out.Time(n), p.out.Grace)
	if err != nil && errors.Is(err, os.ErrDeadlineExceeded) {
		return ErrSlowDownload
	}
	return err
}

// LimitTo sets when the client must have sent and received everything. Call it before the body is
// read. The zero time is no limit.
func (p *Pacer) LimitTo(end time.Time) { p.sendBy, p.receiveBy = end, end }

// AllowLateResponse lets the response end later than LimitTo allows. The body of the request, which
// another task may be reading, keeps its limit.
func (p *Pacer) AllowLateResponse() { p.receiveBy = time.Time{} }

// bound returns the earlier one of a deadline and an end, which is zero for no end, and the time by
// which the deadline may be late, as for lazydeadline.
func bound(want, end time.Time, grace time.Duration) (time.Time, time.Duration) {
	if end.IsZero() || !want.IsZero() && want.Before(end) {
		return want, grace
	}
	return end, 0
}

// passed reports whether an end, which is zero for no end, has passed.
func passed(end time.Time) bool { return !end.IsZero() && !time.Now().Before(end) }

// The failures of an exchange that exceeds a limit of its bodies.
var (
	ErrSlowUpload = &proxying.Error{Kind: proxying.ClientSlow, Step: readingBody,
		Err: errors.New("slower than upload_rate and client_timeouts.read allow")}
	ErrSlowDownload = &proxying.Error{Kind: proxying.ClientSlow, Step: "sending the response",
		Err: errors.New("slower than download_rate and client_timeouts.write allow")}
	errOverdueUpload   = &proxying.Error{Kind: proxying.ClientSlow, Step: readingBody, Err: proxying.ErrOverdue}
	errOverdueDownload = &proxying.Error{Kind: proxying.Overdue, Step: "sending the response", Err: proxying.ErrOverdue}
	ErrBodyTooLong     = &proxying.Error{Kind: proxying.TooLarge, Step: readingBody,
		Err: errors.New("longer than the limit of bodies")}
)

const readingBody = "reading the request's body"
