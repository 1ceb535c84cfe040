package log

import (
	"errors"
	"reflect"
	"runtime"
	"slices"
)

// A Stacker is an error with a stack. Callers returns program counters as
// runtime.Callers does, innermost first. The slice must not be changed. At most
// the innermost 32 are written.
type Stacker interface {
	error
	Callers() []uintptr
}

const maxChain = 100 // errors examined per Err: a chain may be a cycle

// joined is the type of the errors made by errors.Join. Their message is only
// the messages of the joined errors.
var joined = reflect.TypeOf(errors.Join(errors.ErrUnsupported))

var errTooDeeply = errors.New(faultText(tooDeeply, len(tooDeeply)))

// Err adds an error to "errors"; nil adds nothing. It adds the message, a stack, and as
// data the fields of each error in the chain that is a [Marshaler], outermost first.
// The stack is from the innermost error that has one: a [Stacker], or an error with the
// method StackTrace of github.com/pkg/errors, which github.com/cockroachdb/errors has
// too. Reading a stack through StackTrace allocates.
//
// The errors of errors.Join are added one by one. At most 100 errors are
// examined. If a method of an error panics or fails, the field "error" of its
// data has the reason.
func (e Event) Err(err error) Event {
	if e.isOpen() {
		e.open.err(err)
	}
	return e
}

// Stack gives the errors added after it that have no stack the stack of the
// call of [Event.Err], or of slog. In [Logger.With] it does so for the errors
// of each event of the new Logger. Each such error costs a walk of the stack.
func (e Event) Stack() Event {
	if e.isOpen() && e.open.depth == 0 {
		e.open.stacks = true
	}
	return e
}

func (e *openEvent) err(err error) {
	switch {
	case err == nil:
		return
	case e.depth > 0:
		e.any("error", err)
		return
	}
	var here []uintptr
	if e.stacks {
		const callerOfErr = 3
		here = e.pcs[:runtime.Callers(callerOfErr, e.pcs[:])]
		if i := slices.Index(here, e.calledAt); i > 0 {
			here = here[i:]
		}
	}
	e.addErrors(err, here, 0, maxChain)
}

// addErrors adds err, or the errors that it joins, but at most left errors.
// depth is the number of joins around err. It returns the unused part of left.
func (e *openEvent) addErrors(err error, here []uintptr, depth, left int) int {
	if reflect.TypeOf(err) == joined && depth > maxDepth {
		err = errTooDeeply // instead of its text, which may be endless
	}
	if reflect.TypeOf(err) == joined {
		for _, one := range err.(interface{ Unwrap() []error }).Unwrap() {
			if left > 0 {
				left = e.addErrors(one, here, depth+1, left)
			}
		}
		return left
	}
	e.addError(err, here)
	return left - 1
}

// A failure is the content of one error in an event.
type failure struct {
	message, reason string // reason is set if the error has no message
	stack           []uintptr
	fields          []byte // in the event's notation, including the first separator
}

// text returns the message, or the reason why there is none.
func (f failure) text(maxBytes int) string {
	if f.reason != "" {
		return faultText(f.reason, maxBytes)
	}
	return clip(f.message, maxBytes)
}

// addError adds one error. here is its stack if it has no own one.
func (e *openEvent) addError(err error, here []uintptr) {
	c := chain{left: maxChain, of: e}
	c.note(e.try(func(Event) error {
		c.walk(err)
		return nil
	}))
	c.addFault()
	f := failure{stack: here}
	f.message, f.reason = e.errorText(err)
	if len(c.stack) > 0 {
		f.stack = c.stack
	}
	if c.fields != nil {
		f.fields = c.fields.buf
	}
	e.out.encoder.appendError(e, f)
	if c.fields != nil {
		c.fields.release()
	}
}

// A chain collects the stack and the fields of an error and of the errors that
// it wraps.
type chain struct {
	left   int   // errors that may still be examined
	at     error // the error whose methods are called
	stack  []uintptr
	reason string     // why the first failed method failed; empty if none failed
	of     *openEvent // the event to which the error is added
	fields *openEvent // the fields so far; nil if there are none
}

func (c *chain) walk(err error) {
	for err != nil && c.left > 0 {
		c.left--
		c.at = err
		if s, ok := err.(Stacker); ok {
			c.addStack(s.Callers)
		} else if hasStackTrace(err) {
			c.addStack(func() []uintptr { return stackTrace(err) })
		}
		if m, ok := err.(Marshaler); ok {
			c.addFields(m.MarshalLog)
		}
		switch u := err.(type) {
		case interface{ Unwrap() error }:
			err = u.Unwrap()
		case interface{ Unwrap() []error }:
			for _, one := range u.Unwrap() {
				c.walk(one)
			}
			return
		default:
			return
		}
	}
}

// addStack takes the stack that callers returns, unless it is empty.
func (c *chain) addStack(callers func() []uintptr) {
	c.note(c.of.try(func(Event) error {
		if pcs := callers(); len(pcs) > 0 {
			c.stack = pcs[:min(len(pcs), maxFrames)]
		}
		return nil
	}))
}

// addFields adds the fields written by write, all or none.
func (c *chain) addFields(write func(Event) error) {
	if c.fields == nil {
		c.fields = c.of.detached()
	}
	e := c.fields
	mark, separator := len(e.buf), e.separator
	if reason := e.try(write); reason != "" {
		e.buf, e.separator = e.buf[:mark], separator
		c.note(reason)
	}
}

// note keeps the first reason of a failed method. It ignores nil pointers: most
// of their methods panic, and the message of the error names them.
func (c *chain) note(reason string) {
	if reason != "" && c.reason == "" && !isNilPointer(c.at) {
		c.reason = reason
	}
}

// addFault adds the reason kept by note.
func (c *chain) addFault() {
	if c.reason == "" {
		return
	}
	if c.fields == nil {
		c.fields = c.of.detached()
	}
	c.fields.name("error")
	c.fields.addFault(c.reason)
}

// detached returns a separate event in the state of an open data object, to
// collect fields for another place.
func (e *openEvent) detached() *openEvent {
	a := takeEvent(e.out, e.level)
	a.stamp = stamp{} // the fields overwrite the front
	a.last, a.base, a.starts[partData] = partData, 0, 0
	a.depth, a.separator = 1, '{'
	a.setQuick()
	return a
}
