package limit

import (
	"io"
	"net/http"
	"time"
)

// MaxBody returns a policy for bodies of at most n bytes. A request that says
// that it has more is refused with 413. One that does not say it gets an
// *http.MaxBytesError when it reads too far, and its connection is closed.
func MaxBody(name string, n int64) Policy {
	return func(w http.ResponseWriter, r *http.Request) (func(), *Refusal) {
		if r.ContentLength > n {
			return nil, &Refusal{Limit: name, Status: http.StatusRequestEntityTooLarge, Err: ErrBody}
		}
		r.Body = http.MaxBytesReader(w, r.Body, n)
		return nil, nil
	}
}

// Policy returns p as a policy for the bodies of requests: it refuses none, but
// reading a body from a client that is too slow returns os.ErrDeadlineExceeded,
// after which the connection cannot be used again. It does not work with
// a ResponseWriter that hides http.ResponseController's SetReadDeadline; then
// reading fails at once.
func (p Pace) Policy() Policy {
	return func(w http.ResponseWriter, r *http.Request) (func(), *Refusal) {
		if p.PerSecond > 0 && r.Body != nil && r.Body != http.NoBody {
			r.Body = &pacedBody{body: r.Body, pace: p, conn: http.NewResponseController(w)}
		}
		return nil, nil
	}
}

// A pacedBody is a request's body that has to come at a pace. The time that the
// handler takes between two reads is not the client's: a read begins with as
// much time as was left when the last one ended.
type pacedBody struct {
	body io.ReadCloser
	pace Pace
	conn *http.ResponseController
	left time.Duration // until the deadline, when the last read ended
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
	if err == nil {
		return n, nil
	}
	return n, b.ended(err)
}

// ended takes the deadline away again when the body was read to its end, for
// the connection's next request.
func (b *pacedBody) ended(err error) error {
	if err != io.EOF {
		return err
	}
	if reset := b.conn.SetReadDeadline(time.Time{}); reset != nil {
		return reset
	}
	return err
}

func (b *pacedBody) Close() error { return b.body.Close() }
