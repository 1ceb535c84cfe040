package http1

import "fmt"

// An Error is the reason why bytes are not a valid message. The connection cannot be
// used any more.
type Error struct {
	// Status is the status of the response to a rejected request: 400, 414, 417, 431, 501
	// or 505. For a rejected response it is 502.
	Status int
	// Reason says what is wrong, such as "both Content-Length and Transfer-Encoding".
	Reason string
	// Pos is the index of the byte in the buffer of the failed call.
	Pos int
}

func (e *Error) Error() string { return fmt.Sprintf("%s, at byte %d", e.Reason, e.Pos) }

func bad(reason string, pos int) *Error { return &Error{Status: 400, Reason: reason, Pos: pos} }

// The reasons of errors.
const (
	errBareLF  = "a line ends without a CR"
	errBareCR  = "a line contains a CR"
	errControl = "a line contains a control byte"
	errHead    = "the head is too long"
	errFields  = "there are too many fields"
	errFold    = "a field is folded"
	errName    = "the name of a field is malformed"

	errRequestLine = "the request line is malformed"
	errLongLine    = "the request line is too long"
	errVersion     = "the version is not HTTP/1.0 or HTTP/1.1"
	errPreface     = "the preface of HTTP/2 is broken"
	errTarget      = "the target is malformed"

	errStatusLine = "the status line is malformed"
	errNotHTTP    = "the response does not begin with HTTP/1."
	errStatus     = "the status is below 100"
	errInterim    = "a 1xx response has a body"

	errTwoWays  = "both Content-Length and Transfer-Encoding"
	errTwoSizes = "more than one Content-Length"
	errSize     = "Content-Length is not a number"
	errCoding10 = "Transfer-Encoding in HTTP/1.0"
	errCoding   = "Transfer-Encoding is not chunked"
	errOptions  = "Connection lists more than 64 options"

	errChunkSize = "the size of a chunk is not a hexadecimal number"
	errChunkLine = "the line of a chunk's size is too long"
	errChunkExt  = "a chunk's extension is malformed"
	errChunkEnd  = "a chunk is longer than its size"
	errOverhead  = "the chunks contain too much besides data"
)
