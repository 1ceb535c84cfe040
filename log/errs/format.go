package errs

import (
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"
)

// Format implements fmt.Formatter. %s and %v print the message, and %q quotes
// it. %+v also prints the fields of the chain after the message and, on
// separate lines, the functions of the stack, innermost first:
//
//	saving user: connection refused user_id=42
//	    main.save /src/save.go:12
//	    main.main /src/main.go:5
//
// Use %+v in tests and for debugging only: it prints secret values, which a log
// can redact.
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

// detailed returns the text of %+v.
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

// quoted returns s, in quotes if it would be ambiguous without them.
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
