package log

import (
	"github.com/weirhq/weir/log/internal/text"
)

// An ltsvEncoder writes labelled tab-separated values.
type ltsvEncoder struct{}

const ltsvFront = "time:2006-01-02T15:04:05.123456Z"

func (ltsvEncoder) front() string { return ltsvFront }

func (ltsvEncoder) notation() notation { return notationLTSV }

func (ltsvEncoder) appendNamespace(b []byte, namespace string) []byte {
	b = text.AppendLTSV(append(b, "\tnamespace:"...), namespace)
	return append(b, "\tevent:"...)
}

func (ltsvEncoder) appendError(e *openEvent, f failure) {
	b := text.AppendLTSV(append(e.errorList, "\terr:"...), f.text(e.maxBytes))
	b = append(b, f.fields...)
	if len(f.stack) > 0 {
		b = append(b, "\tstack:"...)
		for i, pc := range f.stack {
			if i > 0 {
				b = append(b, ' ')
			}
			b = append(b, frameOf(pc).ltsv...)
		}
	}
	e.errorList = b
}

func (ltsvEncoder) finish(e *openEvent) []byte {
	e.buf = append(append(e.buf, e.errorList...), '\n')
	line := e.buf[e.putTime():]
	if len(line) > e.maxBytes {
		return e.cutter.cutLTSV(line, e.maxBytes)
	}
	return line
}

// putTime completes the front of the line and returns the offset of the line's
// beginning.
func (e *openEvent) putTime() int {
	second, ns := e.createdAt()
	if !e.stampSecond(ltsvFront, len("time:"), second) {
		return e.replaceFront("time:" + text.BadYear)
	}
	var fraction [9]byte
	text.PutFraction(&fraction, ns)
	const point = len("time:2006-01-02T15:04:05")
	*(*[6]byte)(e.buf[point+1:]) = [6]byte(fraction[:6])
	return 0
}
