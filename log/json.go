package log

import (
	"github.com/weirhq/weir/log/internal/text"
)

// A jsonEncoder writes JSON in shape v2 or v1.
type jsonEncoder struct{ v1 bool }

const jsonFront = `{"created_at":"2006-01-02T15:04:05.123456789Z"`

func (jsonEncoder) front() string { return jsonFront }

func (jsonEncoder) notation() notation { return notationJSON }

func (jsonEncoder) appendNamespace(b []byte, namespace string) []byte {
	b = text.AppendString(append(b, `,"namespace":`...), namespace)
	return append(b, `,"event":"`...) // PutLabeled needs the quote
}

func (j jsonEncoder) appendError(e *openEvent, f failure) {
	b := e.errorList
	first := len(b) == 0
	switch {
	case !first && !(j.v1 && len(b) == e.firstError):
		b = append(b, `,{"message":`...)
	case !first || !j.v1:
		b = append(b, `{"message":`...)
	default:
		b = append(b, `{"error":`...)
	}
	b = text.AppendString(b, f.text(e.maxBytes))
	if len(f.stack) > 0 {
		b = append(b, `,"stack_trace":[`...)
		for i, pc := range f.stack {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(b, frameOf(pc).json...)
		}
		b = append(b, ']')
	}
	if len(f.fields) > 0 {
		b = append(append(append(b, `,"data":`...), f.fields...), '}')
	}
	e.errorList = append(b, '}')
	if first {
		e.firstError = len(e.errorList)
	}
}

func (j jsonEncoder) finish(e *openEvent) []byte {
	if e.last < partSeverity {
		e.addSeverity()
	}
	if e.last == partData {
		e.closeData()
	}
	if len(e.errorList) > 0 {
		j.finishErrors(e)
	}
	e.buf = append(e.buf, "}\n"...)
	line := e.buf[e.putCreatedAt():]
	if len(line) > e.maxBytes {
		return e.cutter.cut(line, e.maxBytes)
	}
	return line
}

// closeData closes data and the groups that are open in it.
func (e *openEvent) closeData() {
	if e.separator == '{' { // the innermost group is empty
		e.buf = append(e.buf, '{')
	}
	for range e.groups {
		e.buf = append(e.buf, '}')
	}
	e.buf = append(e.buf, '}')
}

func (j jsonEncoder) finishErrors(e *openEvent) {
	list := e.errorList
	if j.v1 {
		e.buf = append(append(e.buf, `,"error":`...), list[:e.firstError]...)
		if list = list[e.firstError:]; len(list) == 0 {
			return
		}
	}
	e.buf = append(append(append(e.buf, `,"errors":[`...), list...), ']')
}

// putCreatedAt completes the front of the line and returns the offset of the
// line's beginning.
func (e *openEvent) putCreatedAt() int {
	second, ns := e.createdAt()
	if !e.stampSecond(jsonFront, len(`{"created_at":"`), second) {
		return e.replaceFront(`{"created_at":"` + text.BadYear + `"`)
	}
	front := (*[len(jsonFront)]byte)(e.buf)
	const point = len(`{"created_at":"2006-01-02T15:04:05`)
	text.PutFraction((*[9]byte)(front[point+1:]), ns)
	missing := text.TrailingZeros(ns)
	if missing == 0 {
		return 0
	}
	if missing == 9 {
		missing++ // the decimal point
	}
	copy(front[missing:], front[:len(front)-len(`Z"`)-missing])
	e.stamp = stamp{}
	return missing
}
