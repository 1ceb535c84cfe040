package stream

import (
	"context"
	"strconv"
	"time"
)

// A Destination delivers lines to a server.
type Destination interface {
	// Deliver returns nil when the server has stored all lines of the batch. After a
	// [*RejectedError], the batch is not delivered again. After any other error, the same
	// batch, with the same ids, is delivered again: the server may have stored a part of it.
	// A *[UnavailableError] says when.
	//
	// Deliver is called by one goroutine. It returns soon after the end of ctx, and does not
	// keep b.Lines.
	Deliver(ctx context.Context, b Batch) error

	// Close closes the connections. It is called after the last Deliver.
	Close() error
}

// A Batch is a sequence of lines.
type Batch struct {
	Lines []byte // whole lines, each with its newline
	Count int    // number of lines

	// The id of a line consists of Source and a number; see [Batch.AppendID]. No two lines have the
	// same id, and a line keeps its id when it is delivered again. The numbers of a source
	// increase by one from line to line.
	Source string
	First  uint64 // number of the first line
}

// AppendID appends the id of line i of the batch to dst.
func (b Batch) AppendID(dst []byte, i int) []byte {
	dst = append(append(dst, b.Source...), '-')
	return strconv.AppendUint(dst, b.First+uint64(i), 10)
}

// An UnavailableError is the error of a server that has not stored a batch, and may do so
// later.
type UnavailableError struct {
	After time.Duration // the server asks for no attempt before; 0 if it does not
	Err   error
}

func (e *UnavailableError) Error() string { return e.Err.Error() }
func (e *UnavailableError) Unwrap() error { return e.Err }

// A RejectedError is the error of a server that does not store some lines of a batch and
// never will: they are lost. It has stored the others.
type RejectedError struct {
	Lines int // between 1 and the number of lines of the batch
	Err   error
}

func (e *RejectedError) Error() string { return e.Err.Error() }
func (e *RejectedError) Unwrap() error { return e.Err }
