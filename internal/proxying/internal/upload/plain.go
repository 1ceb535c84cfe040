package upload

import (
	"errors"
	"io"

	"github.com/weirhq/weir/internal/transport"
)

// ErrLong is the error of a body that is longer than its declared length.
var ErrLong = errors.New("the body is longer than its Content-Length")

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
			return 0, ErrLong
		}
	} else {
		n, err = r.Read(s.Space())
	}
	r.last = n
	return n, err
}
