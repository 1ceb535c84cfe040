package log

import (
	"github.com/weirhq/weir/log/internal/ltsv"
	"github.com/weirhq/weir/log/internal/text"
)

// An ltsvEncoder writes labelled tab-separated values.
type ltsvEncoder struct{}

var ltsvLevels = [...]string{"\tlevel:Debug", "\tlevel:Info", "\tlevel:Warn", "\tlevel:Error", "\tlevel:Fatal"}

const ltsvFront = "time:2006-01-02T15:04:05.123456Z"

func (ltsvEncoder) front() string { return ltsvFront }

func (ltsvEncoder) notation() notation { return notationLTSV }

func (ltsvEncoder) appendNamespace(b []byte, namespace string) []byte {
	b = text.AppendLTSV(append(b, "\tnamespace:"...), namespace)
	return append(b, "\tevent:"...)
}

func (e *Event) appendLTSVRequest(b []byte, h *HTTP) []byte {
	if h.Client != "" {
		b = text.AppendLTSV(append(b, "\thost:"...), h.Client)
	}
	if h.Method != "" {
		b = text.AppendLTSV(append(b, "\tmethod:"...), h.Method)
	}
	if h.Protocol != "" {
		b = text.AppendLTSV(append(b, "\tprotocol:"...), h.Protocol)
	}
	if h.Path != "" || h.Query != "" {
		b = text.AppendLTSV(append(b, "\turi:"...), h.Path)
	}
	if h.Query != "" {
		b = e.appendQuery(append(b, '?'), h.Query)
	}
	if h.Scheme != "" {
		b = text.AppendLTSV(append(b, "\tscheme:"...), h.Scheme)
	}
	if h.Host != "" {
		b = text.AppendLTSV(append(b, "\tvhost:"...), h.Host)
	}
	if h.Port != 0 {
		b = text.AppendInt(append(b, "\tport:"...), int64(h.Port))
	}
	return e.appendAnswer(b, h)
}

// appendAnswer appends the labels from the status on.
func (e *Event) appendAnswer(b []byte, h *HTTP) []byte {
	b = text.AppendInt(append(b, "\tstatus:"...), int64(h.StatusCode))
	if h.ResponseContentLength != 0 {
		b = text.AppendInt(append(b, "\tsize:"...), h.ResponseContentLength)
	}
	if h.RequestContentLength != 0 {
		b = text.AppendInt(append(b, "\treqsize:"...), h.RequestContentLength)
	}
	if h.Duration != 0 {
		b = ltsv.AppendSeconds(append(b, "\treqtime:"...), h.Duration)
	}
	if !h.StartedAt.IsZero() {
		b = e.clock.AppendMicros(append(b, "\tstarted_at:"...), h.StartedAt)
	}
	if !h.EndedAt.IsZero() {
		b = e.clock.AppendMicros(append(b, "\tended_at:"...), h.EndedAt)
	}
	if h.UserAgent != "" {
		b = text.AppendLTSV(append(b, "\tua:"...), h.UserAgent)
	}
	if h.Referer != "" {
		b = e.appendURL(append(b, "\treferer:"...), h.Referer)
	}
	if h.Route != "" {
		b = text.AppendLTSV(append(b, "\troute:"...), h.Route)
	}
	return b
}

func (ltsvEncoder) appendError(e *Event, f failure) {
	b := text.AppendLTSV(append(e.errorList, "\terr:"...), f.text(e.maxBytes))
	b = append(b, f.fields...)
	switch {
	case f.stackWhy != "":
		b = text.AppendLTSV(append(b, "\tstack:"...), faultText(f.stackWhy, e.maxBytes))
	case len(f.stack) > 0:
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

func (ltsvEncoder) finish(e *Event) []byte {
	e.buf = append(append(e.buf, e.errorList...), '\n')
	line := e.buf[e.putTime():]
	if len(line) > e.maxBytes {
		return e.cutter.cutLTSV(line, e.maxBytes)
	}
	return line
}

// putTime completes the front of the line and returns where it begins.
func (e *Event) putTime() int {
	second, ns := e.createdAt()
	if !e.stampSecond(ltsvFront, second) {
		return e.replaceFront("time:" + text.BadYear)
	}
	var fraction [9]byte
	text.PutFraction(&fraction, ns)
	const point = len("time:2006-01-02T15:04:05")
	*(*[6]byte)(e.buf[point+1:]) = [6]byte(fraction[:6])
	return 0
}
