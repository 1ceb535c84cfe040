package proxying

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/internal/proxying/internal/pool"
	"github.com/weirhq/weir/internal/proxying/internal/upload"
)

const (
	// ShortBody is the maximum length of a body that is read completely before
	// the proxy connects to an upstream, however slowly it arrives, in bytes. It
	// is sent together with the head.
	ShortBody = 16 << 10
	// continueWait limits the wait for the upstream's response to a request
	// that expects 100. The body is sent afterwards in any case, as RFC 9110
	// section 10.1.1 requires of clients.
	continueWait = time.Second
	// lingerWait limits the time in which the rest of a body is read and
	// discarded after an early response. Closing the connection immediately
	// would reset it, and the client could lose the response.
	lingerWait = 2 * time.Second
)

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

// startUpload begins to read a body that is not short. With gathers, the first block is sent
// together with the head.
func (x *Exchange) startUpload(gathers bool) {
	x.upload = upload.Start((*uploadOwner)(x), x.driver(), x.Body, x.Length, gathers)
}

// endUpload ends the upload, after at most the given time.
func (x *Exchange) endUpload(linger time.Duration) {
	x.BodyRead = x.upload.Finish(linger)
	x.upload = nil
}

// bodyEnded reports whether the client's body was read to its end.
func (x *Exchange) bodyEnded() bool { return x.upload != nil && x.upload.Ended() }

// An uploadOwner is an exchange for its upload.
type uploadOwner Exchange

// Fault implements upload.Owner.
func (o *uploadOwner) Fault(err error) error { return (*Exchange)(o).bodyError(err) }

// Arm implements upload.Owner.
func (o *uploadOwner) Arm(c *pool.Conn) {
	x := (*Exchange)(o)
	x.arm(c, time.Now(), x.timeout())
}

// EachTrailer implements upload.Owner.
func (o *uploadOwner) EachTrailer(add func(name, value string)) {
	x := (*Exchange)(o)
	if x.Trailers == nil {
		return
	}
	for _, f := range x.Trailers(nil) {
		if httpsyntax.IsToken(f.Name) && httpsyntax.IsPlain(f.Value) && x.passes(f.Name) {
			add(f.Name, f.Value)
		}
	}
}

// StopReading implements upload.Owner.
func (o *uploadOwner) StopReading() { o.Client.StopReading() }
