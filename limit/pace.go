package limit

import (
	"errors"
	"io"
	"math"
	"net/http"
	"os"
	"time"
)

// A Pace is the minimum rate at which a peer has to send or read the bytes of a
// message. The caller keeps a deadline for each peer: Start returns the first one, and
// Next moves it as bytes pass. A peer is too slow when its deadline has passed, so a
// read can use the deadline directly:
//
//	deadline := pace.Start(time.Now())
//	for {
//		conn.SetReadDeadline(deadline)
//		n, err := conn.Read(p)
//		deadline = pace.Next(deadline, time.Now(), n)
//		...
//	}
//
// Bytes count when they pass. A peer that sent a gigabyte in a second cannot pause for
// hours because of its average: like any other, it may pause for Grace. A peer that
// trickles falls behind however often its bytes arrive.
type Pace struct {
	// PerSecond is the number of bytes that have to pass per second. If it is 0, no
	// peer is too slow, and all deadlines are the zero time, which for a net.Conn means
	// no deadline.
	PerSecond int64
	// Grace is the time that a peer may pause, at the start and later; 0 is 10 s.
	Grace time.Duration
}

const defaultGrace = 10 * time.Second

// Start returns the deadline of a peer before its first byte.
func (p Pace) Start(now time.Time) time.Time {
	if p.PerSecond <= 0 {
		return time.Time{}
	}
	return now.Add(p.grace())
}

// Next returns the new deadline after n more bytes have passed by now.
func (p Pace) Next(deadline, now time.Time, n int) time.Time {
	if p.PerSecond <= 0 {
		return time.Time{}
	}
	deadline, most := deadline.Add(p.Time(n)), now.Add(p.grace())
	if deadline.After(most) {
		return most
	}
	return deadline
}

// TooSlow reports whether the deadline has passed.
func (p Pace) TooSlow(deadline, now time.Time) bool {
	return p.PerSecond > 0 && now.After(deadline)
}

// Time returns the time that n bytes take at this pace. A write of n bytes returns when
// the last of them has passed, so its deadline is deadline.Add(pace.Time(n)).
func (p Pace) Time(n int) time.Duration {
	if p.PerSecond <= 0 || n <= 0 {
		return 0
	}
	return time.Duration(min(float64(n)/float64(p.PerSecond)*float64(time.Second), math.MaxInt64/2))
}

func (p Pace) grace() time.Duration {
	if p.Grace <= 0 {
		return defaultGrace
	}
	return p.Grace
}

// Policy returns a policy that admits all requests and paces their bodies. If the
// client is too slow, reading the body returns a *[Refusal] with status 408 that wraps
// os.ErrDeadlineExceeded, and the connection cannot be used again. The policy needs a
// ResponseWriter with SetReadDeadline (see http.ResponseController); without it, the
// first read returns an error.
func (p Pace) Policy(name string) Policy {
	return func(w http.ResponseWriter, r *http.Request) (func(), *Refusal) {
		if p.PerSecond > 0 && r.Body != nil && r.Body != http.NoBody {
			r.Body = &pacedBody{name: name, body: r.Body, pace: p, conn: http.NewResponseController(w)}
		}
		return nil, nil
	}
}

// A pacedBody is the body of a request that has to arrive at a pace. The time
// that the handler takes between two reads does not count: a read begins with as
// much time as was left at the end of the previous one.
type pacedBody struct {
	name string // of the limit
	body io.ReadCloser
	pace Pace
	conn *http.ResponseController
	left time.Duration // until the deadline, at the end of the previous read
	read bool
}

func (b *pacedBody) Read(p []byte) (int, error) {
	begin := time.Now()
	deadline := begin.Add(b.left)
	if !b.read {
		b.read, deadline = true, b.pace.Start(begin)
	}
	if err := b.conn.SetReadDeadline(deadline); err != nil {
		return 0, err
	}
	n, err := b.body.Read(p)
	end := time.Now()
	b.left = b.pace.Next(deadline, end, n).Sub(end)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = &Refusal{Limit: b.name, Status: http.StatusRequestTimeout, Err: err}
	case err == io.EOF: // the deadline must not apply to the next request on the connection
		if reset := b.conn.SetReadDeadline(time.Time{}); reset != nil {
			err = reset
		}
	}
	return n, err
}

func (b *pacedBody) Close() error { return b.body.Close() }
