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

const (
	maxFrames = 32
	maxChain  = 100 // errors looked at for one Err: a chain may be a cycle
)

// joined is the type of what errors.Join returns, whose message is nothing but
// those of its errors.
var joined = reflect.TypeOf(errors.Join(errors.ErrUnsupported))

var errTooDeeply = errors.New(faultText(tooDeeply, len(tooDeeply)))

// Err adds an error to "errors"; nil adds nothing. With the message stand the
// stack of the innermost error of the chain that is a [Stacker] and has one,
// and as data the fields of each one that is a [Marshaler], outermost first.
// What errors.Join joined is added one by one. No more than 100 errors are
// looked at.
func (e *Event) Err(err error) *Event {
	if e != nil && err != nil {
		e.err(err)
	}
	return e
}

// Stack makes the errors that are added after it, and know no stack of their
// own, carry that of the call of [Event.Err], or of the call of slog. In
// [Logger.With] it does so for the errors of each event of the new Logger. It
// costs a walk of the stack for each such error.
func (e *Event) Stack() *Event {
	if e != nil && e.depth == 0 {
		e.stacks = true
	}
	return e
}

func (e *Event) err(err error) {
	if e.depth > 0 {
		e.Any("error", err)
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
func (e *Event) addErrors(err error, here []uintptr, depth, left int) int {
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
	message, why string // why: there is no message
	stack        []uintptr
	stackWhy     string // there is no stack
	fields       []byte // in the event's notation, from the first separator on
}

// text returns the message, or the reason why there is none.
func (f failure) text(maxBytes int) string {
	if f.why != "" {
		return faultText(f.why, maxBytes)
	}
	return clip(f.message, maxBytes)
}

// addError adds one error; here is the stack that it gets if it has none.
func (e *Event) addError(err error, here []uintptr) {
	c := chain{left: maxChain, of: e}
	walk := func(*Event) error {
		c.walk(err)
		return nil
	}
	if why := e.try(walk); why != "" {
		c.addFields(func(*Event) error { return errors.New(why) })
	}
	f := failure{stack: here, stackWhy: c.stackWhy}
	f.message, f.why = call(err, error.Error)
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

// A chain collects what the errors behind an error know.
type chain struct {
	left     int // errors that may still be looked at
	stack    []uintptr
	stackWhy string // why there is no stack
	of       *Event // that the error is added to
	fields   *Event // the fields so far; nil while there are none
}

func (c *chain) walk(err error) {
	for err != nil && c.left > 0 {
		c.left--
		if s, ok := err.(Stacker); ok {
			c.addStack(s)
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

// addStack takes the stack that s knows, or why it knows none.
func (c *chain) addStack(s Stacker) {
	var pcs []uintptr
	why := c.of.try(func(*Event) error {
		pcs = s.Callers()
		return nil
	})
	if why != "" || len(pcs) > 0 {
		c.stack, c.stackWhy = pcs[:min(len(pcs), maxFrames)], why
	}
}

// addFields adds what write adds, or why it failed.
func (c *chain) addFields(write func(*Event) error) {
	if c.fields == nil {
		c.fields = c.of.aside()
	}
	e := c.fields
	mark, separator := len(e.buf), e.separator
	if why := e.try(write); why != "" {
		e.buf, e.separator = e.buf[:mark], separator
		e.name("error")
		e.addFault(why)
	}
}

// aside returns an event of its own, made to look as if its data were open:
// for fields that go elsewhere.
func (e *Event) aside() *Event {
	a := takeEvent(e.out, e.level)
	a.stamp = stamp{} // the fields begin where it stands
	a.last, a.base, a.starts[partData] = partData, 0, 0
	a.depth, a.separator = 1, '{'
	a.setQuick()
	return a
}
