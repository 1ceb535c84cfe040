package errs

import (
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"
)

// Format implements fmt.Formatter. %s and %v print the message and %q quotes
// it; %+v adds the fields of the chain behind the message and, on lines of
// their own, the functions of the stack, innermost first:
//
//	saving user: connection refused user_id=42
//	    main.save /src/save.go:12
//	    main.main /src/main.go:5
//
// It is for tests and debuggers: all values are shown, while a log may be told
// which of them are secret.
func (e *Error) Format(s fmt.State, verb rune) {
	switch {
	case verb == 'v' && s.Flag('+'):
		io.WriteString(s, e.detailed())
	case verb == 'v' || verb == 's' || verb == 'q' || verb == 'x' || verb == 'X':
		fmt.Fprintf(s, fmt.FormatString(s, verb), e.Error())
	default:
		fmt.Fprintf(s, "%%!%c(*errs.Error=%s)", verb, e.Error())
	}
}

// detailed returns what %+v prints.
func (e *Error) detailed() string {
	var b strings.Builder
	b.WriteString(e.Error())
	for one := range chain(e) {
		if known, ok := one.(*Error); ok {
			known.writeFields(&b)
		}
	}
	writeFrames(&b, e.Callers())
	return b.String()
}

func (e *Error) writeFields(b *strings.Builder) {
	for f := range e.fields() {
		b.WriteString(" " + f.key + "=" + quoted(f.text()))
	}
}

// quoted returns s in quotes if it could be taken for something else without.
func quoted(s string) string {
	q := strconv.Quote(s)
	if s == "" || len(q) != len(s)+2 || strings.ContainsAny(s, " =") {
		return q
	}
	return s
}

func writeFrames(b *strings.Builder, pcs []uintptr) {
	if len(pcs) == 0 {
		return
	}
	frames := runtime.CallersFrames(pcs)
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		fmt.Fprintf(b, "\n    %s %s:%d", f.Function, f.File, f.Line)
	}
}
