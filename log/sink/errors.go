package sink

import "time"

// A RetryError is the error of a writer that has written nothing or a part of a text, and
// can write the rest later. A [Queue] calls it again after the given time, or a little
// later; a [Direct] drops the line.
type RetryError struct {
	After time.Duration
	Err   error
}

func (e *RetryError) Error() string { return e.Err.Error() }
func (e *RetryError) Unwrap() error { return e.Err }

// A RejectedError is the error of a writer that has taken all of a text, but the last lines
// are lost: a server rejects them. A [Queue] drops these lines as [Rejected].
type RejectedError struct {
	Lines int // number of lost lines, at least 1
	Err   error
}

func (e *RejectedError) Error() string { return e.Err.Error() }
func (e *RejectedError) Unwrap() error { return e.Err }
