package log

import (
	"errors"
	"reflect"
	"runtime"
	"strconv"

	"github.com/weirhq/weir/log/internal/text"
)

// A Stacker is an error that knows where it came from. Callers returns program
// counters as runtime.Callers gives them, innermost first.
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

// Err adds an error to "errors"; nil adds nothing. Beside the message stand
// the stack of the innermost error of the chain that is a [Stacker], and as
// data the fields of each one that is a [Marshaler], outermost first. What
// errors.Join joined is added one by one.
func (e *Event) Err(err error) *Event {
	if e == nil || err == nil {
		return e
	}
	if e.depth > 0 {
		return e.Any("error", err)
	}
	e.addErrors(err, maxChain)
	return e
}

// addErrors adds err, or those that it joins, as long as left allows, and
// returns what is left.
func (e *Event) addErrors(err error, left int) int {
	if reflect.TypeOf(err) == joined {
		for _, one := range err.(interface{ Unwrap() []error }).Unwrap() {
			if left > 0 {
				left = e.addErrors(one, left)
			}
		}
		return left
	}
	if len(e.errorList) > 0 {
		e.errorList = append(e.errorList, ',')
	}
	message, why := call(err, error.Error)
	e.errorList = append(e.errorList, `{"message":`...)
	e.errorList = appendText(e.errorList, message, why, e.maxBytes)
	e.addDetails(err)
	e.errorList = append(e.errorList, '}')
	return left - 1
}

// addDetails appends the stack and the fields of err's chain.
func (e *Event) addDetails(err error) {
	c := chain{left: maxChain, maxBytes: e.maxBytes}
	walk := func(*Event) error {
		c.walk(err)
		return nil
	}
	if why := e.try(walk); why != "" {
		c.addFields(func(*Event) error { return errors.New(why) })
	}
	if c.stacker != nil {
		e.addStack(c.stacker)
	}
	if c.fields != nil {
		e.errorList = append(append(e.errorList, `,"data":`...), c.fields.buf...)
		e.errorList = append(e.errorList, '}')
		c.fields.release()
	}
}

// A chain collects what the errors behind an error know.
type chain struct {
	left     int // errors that may still be looked at
	stacker  Stacker
	fields   *Event // the fields so far, behind an opening brace; nil while there are none
	maxBytes int
}

func (c *chain) walk(err error) {
	for err != nil && c.left > 0 {
		c.left--
		if s, ok := err.(Stacker); ok {
			c.stacker = s
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

// addFields adds what write adds, or why it failed.
func (c *chain) addFields(write func(*Event) error) {
	if c.fields == nil {
		// An event of its own, made to look as if its data were open: the
		// fields go between those of another event's parts.
		c.fields = takeEvent(nil, LevelError, c.maxBytes)
		c.fields.buf = append(c.fields.buf, '{')
		c.fields.last, c.fields.depth, c.fields.starts[partData] = partData, 1, 0
	}
	e := c.fields
	mark := len(e.buf)
	if why := e.try(write); why != "" {
		e.buf = e.buf[:mark]
		e.key("error")
		e.buf = appendError(e.buf, why, e.maxBytes)
	}
}

// addStack appends the key and the frames of the stack, if there are any.
func (e *Event) addStack(s Stacker) {
	var pcs []uintptr
	why := e.try(func(*Event) error {
		pcs = s.Callers()
		return nil
	})
	switch {
	case why != "":
		e.errorList = append(e.errorList, `,"stack_trace":`...)
		e.errorList = appendError(e.errorList, why, e.maxBytes)
	case len(pcs) > 0:
		e.errorList = append(e.errorList, `,"stack_trace":[`...)
		e.errorList = appendFrames(e.errorList, pcs)
		e.errorList = append(e.errorList, ']')
	}
}

// appendFrames appends the functions that pcs stand for, those that were
// inlined included.
func appendFrames(b []byte, pcs []uintptr) []byte {
	frames := runtime.CallersFrames(pcs)
	for n := range maxFrames {
		f, more := frames.Next()
		if n > 0 {
			b = append(b, ',')
		}
		b = text.AppendString(append(b, `{"file":`...), f.File)
		b = strconv.AppendInt(append(b, `,"line":`...), int64(f.Line), 10)
		b = text.AppendString(append(b, `,"function":`...), f.Function)
		b = append(b, '}')
		if !more {
			break
		}
	}
	return b
}
