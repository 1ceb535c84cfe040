package front

import (
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/limit"
	"github.com/weirhq/weir/proxy"
)

// A pacer holds the client of an exchange to a pace, both ways: it stands
// before the exchange's body and before its Client. Only the time counts that
// the client is waited for.
type pacer struct {
	proxy.Client              // that it stands before
	draining     *atomic.Bool // the door's
	conn         deadlines
	stream       streamDeadlines // that conn is over HTTP/2
	in, out      limit.Pace
	leftIn       time.Duration // until the deadline, when the last read ended
	leftOut      time.Duration // the same of writes
	setOut       time.Time     // the deadline of writes that is set
	taken        int           // bytes of those to be written that have been counted

	body      io.Reader
	mayRead   int64 // bytes of the body; -1 for any number
	mu        sync.Mutex
	stopped   bool      // guarded by mu: reads are to fail
	setIn     time.Time // guarded by mu: the deadline of reads that is set
	beganRead bool
}

// deadlines are what the connection of an exchange has for it, or its stream.
type deadlines interface {
	SetReadDeadline(time.Time) error
	SetWriteDeadline(time.Time) error
}

// bytesToFollow is the pace of a client that may send or take as slowly as it
// likes, but not stop.
const bytesToFollow = 1

// pace returns a limit as package limit has it.
func pace(rate int64, pause time.Duration) limit.Pace {
	if pause == 0 {
		return limit.Pace{} // without a pause that is too long, there is no pace
	}
	return limit.Pace{PerSecond: max(rate, bytesToFollow), Grace: pause}
}

// bind puts the pacer between an exchange and its client, and its connection.
func (p *pacer) bind(x *proxy.Exchange, draining *atomic.Bool) {
	p.Client, x.Client = x.Client, p
	p.draining = draining
	if x.Body != nil {
		p.body, x.Body = x.Body, (*pacedBody)(p)
	}
}

// keep says what the pace is from now on. Nothing has been read yet.
func (p *pacer) keep(l *config.RequestLimits) {
	p.in, p.out = pace(l.UploadRate, l.ReadTimeout), pace(l.DownloadRate, l.WriteTimeout)
	p.leftOut = l.WriteTimeout
	p.mayRead = -1
	if l.Body > 0 {
		p.mayRead = l.Body
	}
}

// ofStream makes the deadlines those of a stream of HTTP/2.
func (p *pacer) ofStream(stream deadlines) {
	p.stream.bind(stream)
	p.conn = &p.stream
}

func (p *pacer) isStream() bool { return p.conn == &p.stream }

// last gives what net/http writes behind the handler the time that it has: the
// deadline of the last write may have passed since, in an upstream's silence.
func (p *pacer) last() {
	switch {
	case p.out.PerSecond == 0:
	case p.isStream():
		p.stream.out.last(p.leftOut + time.Second)
	default:
		p.allowWrite(0)
	}
}

func (p *pacer) reset() {
	if p.isStream() {
		p.stream.bind(nil)
	}
	p.Client, p.draining, p.conn, p.body = nil, nil, nil, nil
	p.in, p.out = limit.Pace{}, limit.Pace{}
	p.leftIn, p.leftOut, p.taken, p.mayRead = 0, 0, 0, 0
	p.setIn, p.setOut = time.Time{}, time.Time{}
	p.stopped, p.beganRead = false, false
}

// pacedBody is a pacer as a reader.
type pacedBody pacer

// Read implements io.Reader.
func (b *pacedBody) Read(buf []byte) (int, error) {
	p := (*pacer)(b)
	began := time.Now()
	deadline := began.Add(p.leftIn)
	if !p.beganRead {
		p.beganRead, deadline = true, p.in.Start(began)
	}
	if p.in.PerSecond > 0 {
		p.allowRead(deadline)
	}
	n, err := p.body.Read(buf)
	if p.in.PerSecond > 0 {
		ended := time.Now()
		p.leftIn = p.in.Next(deadline, ended, n).Sub(ended)
		if p.isStream() {
			p.allowRead(time.Time{}) // nobody waits
		}
	}
	switch {
	case p.mayRead >= 0 && int64(n) > p.mayRead:
		return 0, errBodyTooLong
	case p.mayRead >= 0:
		p.mayRead -= int64(n)
	}
	switch {
	case err == io.EOF:
		p.allowRead(time.Time{})
	case errors.Is(err, os.ErrDeadlineExceeded) && !p.isStopped():
		err = errSlowUpload
	}
	return n, err
}

// later returns the deadline to set for one that is wanted, and whether the one
// that is set has to be changed for it. It may be later than wanted by an eighth
// of the pause that is allowed, a second at most: so not each read and write
// needs one of its own.
func later(set, wanted time.Time, pause time.Duration) (time.Time, bool) {
	margin := min(pause/8, time.Second)
	switch {
	case wanted.IsZero():
		return wanted, !set.IsZero()
	case set.Before(wanted) || set.Sub(wanted) > margin:
		return wanted.Add(margin), true
	}
	return set, false
}

// allowRead sets the deadline of a read, unless reads are to fail.
func (p *pacer) allowRead(deadline time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	set, change := later(p.setIn, deadline, p.in.Grace)
	if change && !p.stopped {
		p.setIn = set
		p.conn.SetReadDeadline(set) // an error shows in the read
	}
}

func (p *pacer) isStopped() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stopped
}

// StopReading implements proxy.Client.
func (p *pacer) StopReading() {
	p.mu.Lock()
	p.stopped = true
	p.mu.Unlock()
	p.Client.StopReading()
}

// Head implements proxy.Client. While the door drains, the response asks the
// client to use another connection. Over HTTP/2, net/http makes a GOAWAY of that.
func (p *pacer) Head(status int, fields []proxy.Field, length int64) error {
	if p.draining.Load() {
		fields = append(fields, proxy.Field{Name: "Connection", Value: "close"})
	}
	began := p.allowWrite(0)
	return p.wrote(began, 0, p.Client.Head(status, fields, length))
}

// Room implements proxy.Client: that of a stream is not known. The client has
// taken as many bytes as there is room for, which count now and not when they
// are written.
func (p *pacer) Room() (int, error) {
	c, ok := p.conn.(*clientConn)
	if !ok {
		return p.Client.Room()
	}
	began := p.allowWrite(block)
	n, err := c.room()
	p.taken = n
	return n, p.wrote(began, n, err)
}

// block is what the client has time for that is waited for: about as much as a
// write would be of.
const block = 32 << 10

// Write implements proxy.Client.
func (p *pacer) Write(b []byte) (n int, err error) {
	began := p.allowWrite(len(b))
	n, err = p.Client.Write(b)
	counted := min(n, p.taken)
	p.taken -= counted
	return n, p.wrote(began, n-counted, err)
}

// Flush implements proxy.Client.
func (p *pacer) Flush() error {
	began := p.allowWrite(0)
	return p.wrote(began, 0, p.Client.Flush())
}

// Informational implements proxy.Client.
func (p *pacer) Informational(status int, fields []proxy.Field) error {
	began := p.allowWrite(0)
	return p.wrote(began, 0, p.Client.Informational(status, fields))
}

// allowWrite sets the deadline of a write of n bytes, which returns when the
// last of them has passed: it has the time that they take at the least pace, as
// far as that is no longer than a pause.
func (p *pacer) allowWrite(n int) (began time.Time) {
	if p.out.PerSecond == 0 {
		return began
	}
	began = time.Now()
	set, change := later(p.setOut, began.Add(p.leftOut+min(p.out.Time(n), p.out.Grace)), p.out.Grace)
	if change {
		p.setOut = set
		p.conn.SetWriteDeadline(set)
	}
	return began
}

// wrote notes that a write has ended.
func (p *pacer) wrote(began time.Time, n int, err error) error {
	if p.out.PerSecond == 0 {
		return err
	}
	ended := time.Now()
	p.leftOut = p.out.Next(began.Add(p.leftOut), ended, n).Sub(ended)
	if p.isStream() {
		p.setOut = time.Time{}
		p.conn.SetWriteDeadline(p.setOut) // nobody waits
	}
	if err != nil && errors.Is(err, os.ErrDeadlineExceeded) {
		return errSlowDownload
	}
	return err
}

// What the limits of bodies are broken by.
var (
	errSlowUpload   = &proxy.Error{Kind: proxy.ClientSlow, Step: "reading the request's body", Err: errors.New("slower than upload_rate and timeouts.read allow")}
	errSlowDownload = &proxy.Error{Kind: proxy.ClientSlow, Step: "sending the answer", Err: errors.New("slower than download_rate and timeouts.write allow")}
	errBodyTooLong  = &proxy.Error{Kind: proxy.TooLarge, Step: "reading the request's body", Err: errors.New("longer than the limit of bodies")}
)
