package log

import (
	"errors"
	"reflect"
	"runtime"
	"slices"
)

// A Stacker is an error that knows where it came from. Callers returns program
// counters as runtime.Callers gives them, innermost first; nobody changes the
// slice. Of more than 32 the innermost are written.
type Stacker interface {
	error
	Callers() []uintptr
}

const maxChain = 100 // errors looked at for one Err: a chain may be a cycle

// joined is the type of what errors.Join returns, whose message is nothing but
// those of its errors.
var joined = reflect.TypeOf(errors.Join(errors.ErrUnsupported))

var errTooDeeply = errors.New(faultText(tooDeeply, len(tooDeeply)))

// Err adds an error to "errors"; nil adds nothing. It adds the message, a stack,
// and as data the fields of each error of the chain that is a [Marshaler],
// outermost first. The stack is that of the innermost error of the chain that
// has one: a [Stacker], or an error with the method StackTrace of
// github.com/pkg/errors, which github.com/cockroachdb/errors has too. Reading a
// stack through StackTrace allocates.
//
// The errors of errors.Join are added one by one. At most 100 errors are looked
// at. When a method of an error panics or fails, the field "error" of its data
// says so.
func (e Event) Err(err error) Event {
	if e.isOpen() {
		e.open.err(err)
	}
	return e
}

// Stack makes the errors that are added after it, and know no stack of their
// own, carry that of the call of [Event.Err], or of the call of slog. In
// [Logger.With] it does so for the errors of each event of the new Logger. It
// costs a walk of the stack for each such error.
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

// addErrors adds err, which depth others have joined, or those that it joins, as
// long as left allows, and returns what is left.
func (e *openEvent) addErrors(err error, here []uintptr, depth, left int) int {
	if reflect.TypeOf(err) == joined && depth > maxDepth {
		err = errTooDeeply // and not its text, which may have no end
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

// A failure is what an event says about one error.
type failure struct {
	message, reason string // why: there is no message
	stack           []uintptr
	fields          []byte // in the event's notation, from the first separator on
}

// text returns the message, or the reason why there is none.
func (f failure) text(maxBytes int) string {
	if f.reason != "" {
		return faultText(f.reason, maxBytes)
	}
	return clip(f.message, maxBytes)
}

// addError adds one error; here is the stack that it gets if it has none.
func (e *openEvent) addError(err error, here []uintptr) {
	c := chain{left: maxChain, of: e}
	c.note(e.try(func(Event) error {
		c.walk(err)
		return nil
	}))
	c.addFault()
	f := failure{stack: here}
	f.message, f.reason = call(err, error.Error)
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

// A chain collects the stack and the fields of an error and of those it wraps.
type chain struct {
	left   int   // errors that may still be looked at
	at     error // the one whose methods are called
	stack  []uintptr
	reason string     // the first method that failed; empty: none did
	of     *openEvent // that the error is added to
	fields *openEvent // the fields so far; nil while there are none
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

// addFields adds the fields that write adds, all or none.
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

// note keeps the first reason why a method failed. It ignores nil pointers:
// most of their methods panic, and the message of the error names them.
func (c *chain) note(reason string) {
	if reason != "" && c.reason == "" && !isNilPointer(c.at) {
		c.reason = reason
	}
}

// addFault adds the reason that note kept.
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

// detached returns an event of its own, made to look as if its data were open:
// for fields that go elsewhere.
func (e *openEvent) detached() *openEvent {
	a := takeEvent(e.out, e.level)
	a.stamp = stamp{} // the fields begin where it stands
	a.last, a.base, a.starts[partData] = partData, 0, 0
	a.depth, a.separator = 1, '{'
	a.setQuick()
	return a
}
