package proxying

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"github.com/weirhq/weir/internal/proxying/internal/upload"
)

// A handlerBody is the body of a request that a handler received, or that this process sends. Middleware may have
// replaced net/http's body, which has the declared length or fails.
type handlerBody struct {
	r     *http.Request
	left  int64 // bytes up to the declared length; negative if that is unknown
	ended atomic.Bool
	extra [1]byte

	reading atomic.Bool
	late    atomic.Bool // a read has failed because of its deadline
}

// BodyOf returns a reader of the body of r that fails unless it has the declared length.
func BodyOf(r *http.Request) io.Reader { return &handlerBody{r: r, left: r.ContentLength} }

// cancelWait limits the wait for a read of the body that is in progress when the context is cancelled.
const cancelWait = 100 * time.Millisecond

// isLate reports whether the context was cancelled because a read of the body was late: net/http cancels it for any
// error of a read, before the read returns. It waits for the read, which goes on if someone else has cancelled the
// context.
func (b *handlerBody) isLate() bool {
	for waited := time.Duration(0); b.reading.Load() && waited < cancelWait; waited += time.Millisecond {
		time.Sleep(time.Millisecond)
	}
	return b.late.Load()
}

// Read implements io.Reader. With the last byte of the declared length it waits
// for the end.
func (b *handlerBody) Read(p []byte) (n int, err error) {
	if b.left > 0 && b.left < int64(len(p)) {
		p = p[:b.left]
	}
	b.reading.Store(true)
	defer b.reading.Store(false)
	n, err = b.r.Body.Read(p)
	if b.left > 0 {
		if b.left -= int64(n); b.left == 0 && err == nil {
			var more int
			if more, err = b.r.Body.Read(b.extra[:]); more > 0 {
				return 0, upload.ErrLong
			}
		}
	}
	switch {
	case err == nil:
	case err == io.EOF && b.left > 0:
		err = errShortBody
	case err == io.EOF:
		b.ended.Store(true)
	case errors.Is(err, os.ErrDeadlineExceeded):
		b.late.Store(true)
	case errors.Is(b.r.Context().Err(), context.Canceled):
		err = &Error{Kind: ClientGone, Step: readingBody, Err: err}
	}
	return n, err
}
