package errs

import (
	"errors"
	"iter"
	"runtime"

	"github.com/weirhq/weir/log"
)

// An Error has a message, a cause, a stack and fields; make it with [New] or
// [Wrap]. All but the message may be missing.
//
// The adders ([Error.Str] and those like it) change the Error and return it.
// They are for the function that made it, before it hands the error to anybody
// else: an error that came from elsewhere, or may be seen by another goroutine,
// is to be wrapped instead, if only with an empty message. The other methods
// change nothing, and any number of goroutines may call them at once.
//
// A function returns an Error as error, never as *Error: a nil *Error in an
// error is an error that is not nil. It has a message that says so, and neither
// stack nor fields.
type Error struct {
	message string
	cause   error
	stack   []uintptr // empty: the cause knows better

	// Two fields have room beside the error, since most errors have no more.
	first      [2]field
	firstCount int
	more       []field
}

// A traced Error and its stack are allocated at once.
type traced struct {
	Error
	pcs [maxStack]uintptr
}

const (
	maxStack = 32  // as many as package log writes
	maxChain = 100 // errors looked at in one chain: it may be a cycle
)

// New returns an error with a message and the stack of its caller.
func New(message string) *Error { return newTraced(message, nil) }

// Wrap returns an error whose message is the given one, ": " and that of err,
// or that of err alone when the given one is empty. It has the stack of its
// caller, unless something in err's chain is a [log.Stacker].
//
// It always returns an error, as fmt.Errorf does. A nil err, which is a missing
// "if err != nil", gives one that says so: with nil, the adders that follow
// would turn it into an error that is not nil, and says nothing.
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

// Unwrap returns the cause, nil for an error made by New.
func (e *Error) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.cause
}

// Callers returns the program counters of the origin, innermost first: of the
// chain's innermost error that knows them. It implements [log.Stacker]. The
// slice must not be changed.
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

// hasStack reports whether the stack is the error's own.
func (e *Error) hasStack() bool { return e != nil && len(e.stack) > 0 }

// stackerOf returns the innermost error of err's chain that knows its stack,
// as package log looks for it; nil when there is none.
func stackerOf(err error) (innermost log.Stacker) {
	for one := range chain(err) {
		if own, ok := one.(*Error); ok && !own.hasStack() {
			continue // to ask it would be to come here again, in a cycle without end
		}
		if s, ok := one.(log.Stacker); ok {
			innermost = s
		}
	}
	return innermost
}

// chain yields err and the errors that it wraps, outermost first, where there
// are several those of the first before the second. It ends after maxChain.
func chain(err error) iter.Seq[error] {
	return func(yield func(error) bool) {
		left := maxChain
		walk(err, &left, yield)
	}
}

// walk yields err and what it wraps while left allows, and reports whether to
// go on.
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
