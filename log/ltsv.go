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

// addLTSVRequest appends the labels of a request.
func (e *openEvent) addLTSVRequest(h *HTTP) {
	b := &e.buf
	if h.Client != "" {
		text.PutPair(b, "\thost:", h.Client)
	}
	if h.Method != "" {
		text.PutPair(b, "\tmethod:", h.Method)
	}
	if h.Protocol != "" {
		text.PutPair(b, "\tprotocol:", h.Protocol)
	}
	if h.Encoded != nil {
		e.addTarget(h)
	} else {
		e.encodeLTSVTarget(h)
	}
	e.addResponse(h)
}

func (e *openEvent) encodeLTSVTarget(h *HTTP) {
	b := &e.buf
	if h.Path != "" || h.Query != "" {
		text.PutPair(b, "\turi:", h.Path)
	}
	if h.Query != "" {
		e.addQuery("?", h.Query)
	}
	if h.Scheme != "" {
		text.PutPair(b, "\tscheme:", h.Scheme)
	}
	if h.Host != "" {
		text.PutPair(b, "\tvhost:", h.Host)
	}
	if h.Port != 0 {
		text.PutLabeledInt(b, "\tport:", int64(h.Port))
	}
}

// addResponse appends the labels from the status on. Access log tools ignore
// lines without a size, so a response always has one, even 0.
func (e *openEvent) addResponse(h *HTTP) {
	b := &e.buf
	text.PutLabeledInt(b, "\tstatus:", int64(h.StatusCode))
	if h.ResponseContentLength != 0 || h.StatusCode != 0 {
		text.PutLabeledInt(b, "\tsize:", h.ResponseContentLength)
	}
	if h.RequestContentLength != 0 {
		text.PutLabeledInt(b, "\treqsize:", h.RequestContentLength)
	}
	if h.Duration != 0 {
		e.buf = ltsv.AppendSeconds(append(e.buf, "\treqtime:"...), h.Duration)
	}
	if !h.StartedAt.IsZero() {
		e.buf = e.clock.AppendMicros(append(e.buf, "\tstarted_at:"...), h.StartedAt)
	}
	if !h.EndedAt.IsZero() {
		e.buf = e.clock.AppendMicros(append(e.buf, "\tended_at:"...), h.EndedAt)
	}
	if h.UserAgent != "" {
		text.PutPair(b, "\tua:", h.UserAgent)
	}
	if h.Referer != "" {
		e.addURL("\treferer:", h.Referer)
	}
	if h.Route != "" {
		text.PutPair(b, "\troute:", h.Route)
	}
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
