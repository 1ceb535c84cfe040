package response

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/weirhq/weir/internal/http1"
	"github.com/weirhq/weir/internal/httpsyntax"
)

// ErrMalformed is wrapped by every error about the syntax of a response.
var ErrMalformed = errors.New("malformed response")

// Malformed returns an error that wraps [ErrMalformed].
func Malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrMalformed, fmt.Sprintf(format, args...))
}

// malformedHead returns the error for err, an [http1.Error]. It quotes the first
// word of the line in head, the bytes that were parsed.
func malformedHead(err error, head []byte) error {
	var mistake *http1.Error
	errors.As(err, &mistake)
	line := head[bytes.LastIndexByte(head[:mistake.Pos], '\n')+1:]
	if word := beginning(line); len(word) > 0 {
		return Malformed("%q: %s", word, mistake.Reason)
	}
	return malformedChunks(err)
}

// malformedChunks is the same for a body in chunks. It quotes nothing of it.
func malformedChunks(err error) error {
	var mistake *http1.Error
	errors.As(err, &mistake)
	return Malformed("%s", mistake.Reason)
}

// beginning returns the first word of a malformed line. Errors quote no more of
// it, because the rest may be the value of a cookie, and errors are logged.
func beginning(line []byte) []byte {
	const most = 20
	n := 0
	for n < min(len(line), most) && (httpsyntax.IsToken(line[n:n+1]) || line[n] == '/') {
		n++
	}
	return line[:n]
}

// errTruncatedTLS is the error of a read after the end of a connection that the server has
// ended without the alert close_notify: the response may have been cut.
var errTruncatedTLS = fmt.Errorf("%w without the alert close_notify", io.EOF)
