package errs

import (
	"errors"
	"iter"
	"runtime"

	"github.com/weirhq/weir/log"
)

// An Error has a message, a cause, a stack and fields. Make it with [New] or
// [Wrap]. Everything except the message may be missing.
//
// [Error.Str] and the similar methods change the Error and return it. Only the
// function that made the Error may call them, before it passes the error on.
// Wrap any other error instead, with an empty message if necessary, because
// another goroutine may use it. All other methods are safe for concurrent use.
//
// A function must return an Error as error, never as *Error: a nil *Error
// converted to error is not nil. Its message is "nil *errs.Error", and it has
// neither stack nor fields.
type Error struct {
	message string
	cause   error
	stack   []uintptr // empty if the cause has a stack

	// Space for two fields; most errors have no more.
	first      [2]field
	firstCount int
	more       []field
}

// A traced Error and its stack share one allocation.
type traced struct {
	Error
	pcs [maxStack]uintptr
}

const (
	maxStack = 32  // the same limit as in package log
	maxChain = 100 // errors examined per chain: it may be a cycle
)

// New returns an error with a message and the stack of its caller.
func New(message string) *Error { return newTraced(message, nil) }

// Wrap returns an error with the given message, ": " and the message of err, or
// only the message of err if the given one is empty. It has the stack of its
// caller, unless err's chain contains a [log.Stacker].
//
// It always returns an error, as fmt.Errorf does. A nil err means that an "if
// err != nil" is missing, and the message says so. If Wrap returned nil, the
// methods that add fields would turn it into a non-nil error without
// information.
func Wrap(err error, message string) *Error {
	if err == nil {
		err = errNil
	}
	if stackerOf(err) == nil {
		return newTraced(message, err)
	}
	return &Error{message: message, cause: err}
}

var errNil = errors.New("nil was wrapped, there was no error")

// newTraced returns an Error with the stack of its caller's caller.
func newTraced(message string, cause error) *Error {
	const skipped = 3 // runtime.Callers, newTraced and its caller
	t := &traced{Error: Error{message: message, cause: cause}}
	t.stack = t.pcs[:runtime.Callers(skipped, t.pcs[:])]
	return &t.Error
}

// Error returns the messages of the chain, outermost first.
func (e *Error) Error() string {
	switch {
	case e == nil:
		return "nil *errs.Error"
	case e.cause == nil:
		return e.message
	case e.message == "":
		return e.cause.Error()
	}
	return e.message + ": " + e.cause.Error()
}

// Unwrap returns the cause, or nil for an error made by New.
func (e *Error) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.cause
}

// Callers returns the program counters of the origin, innermost first, of the innermost
// error in the chain that has them. It implements [log.Stacker]. The slice must not be
// changed.
func (e *Error) Callers() []uintptr {
	if e.hasStack() {
		return e.stack
	}
	if s := stackerOf(e.Unwrap()); s != nil {
		return s.Callers()
	}
	return nil
}

var _ log.Stacker = (*Error)(nil)

// hasStack reports whether the error has a stack of its own.
func (e *Error) hasStack() bool { return e != nil && len(e.stack) > 0 }

// stackerOf returns the innermost error in err's chain that has a stack, as
// package log does, or nil.
func stackerOf(err error) (innermost log.Stacker) {
	for one := range chain(err) {
		if own, ok := one.(*Error); ok && !own.hasStack() {
			continue // its Callers would call stackerOf again; in a cycle, endlessly
		}
		if s, ok := one.(log.Stacker); ok {
			innermost = s
		}
	}
	return innermost
}

// chain yields err and the errors that it wraps, outermost first and depth
// first. It stops after maxChain errors.
func chain(err error) iter.Seq[error] {
	return func(yield func(error) bool) {
		left := maxChain
		walk(err, &left, yield)
	}
}

// walk yields err and the errors that it wraps until left is used up. It
// reports whether to continue.
func walk(err error, left *int, yield func(error) bool) bool {
	for err != nil {
		if *left--; *left < 0 || !yield(err) {
			return false
		}
		switch u := err.(type) {
		case interface{ Unwrap() error }:
			err = u.Unwrap()
		case interface{ Unwrap() []error }:
			for _, one := range u.Unwrap() {
				if !walk(one, left, yield) {
					return false
				}
			}
			return true
		default:
			return true
		}
	}
	return true
}
