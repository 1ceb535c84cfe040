package log

import (
	"time"

	"github.com/weirhq/weir/log/internal/text"
)

// A jsonEncoder writes JSON in shape v2, or v1.
type jsonEncoder struct{ v1 bool }

const jsonFront = `{"created_at":"2006-01-02T15:04:05.123456789Z"`

func (jsonEncoder) front() string { return jsonFront }

func (jsonEncoder) notation() notation { return notationJSON }

func (jsonEncoder) appendNamespace(b []byte, namespace string) []byte {
	b = text.AppendString(append(b, `,"namespace":`...), namespace)
	return append(b, `,"event":`...)
}

func (e *Event) appendJSONRequest(b []byte, h *HTTP) []byte {
	b = text.AppendInt(append(b, `,"http":{"status_code":`...), int64(h.StatusCode))
	if h.Method != "" {
		b = text.AppendString(append(b, `,"method":`...), h.Method)
	}
	if h.Scheme != "" {
		b = text.AppendString(append(b, `,"scheme":`...), h.Scheme)
	}
	if h.Host != "" {
		b = text.AppendString(append(b, `,"host":`...), h.Host)
	}
	if h.Port != 0 {
		b = text.AppendInt(append(b, `,"port":`...), int64(h.Port))
	}
	if h.Path != "" {
		b = text.AppendString(append(b, `,"path":`...), h.Path)
	}
	if h.Query != "" {
		b = e.appendQuery(append(b, `,"query":`...), h.Query)
	}
	b = e.appendTimes(b, h)
	b = e.appendOurs(b, h)
	return append(b, '}')
}

// appendTimes appends what is known once a request is answered.
func (e *Event) appendTimes(b []byte, h *HTTP) []byte {
	if !h.StartedAt.IsZero() {
		b = e.appendInstant(append(b, `,"started_at":"`...), h.StartedAt)
	}
	if !h.EndedAt.IsZero() {
		b = e.appendInstant(append(b, `,"ended_at":"`...), h.EndedAt)
	}
	if h.Duration != 0 {
		b = text.AppendInt(append(b, `,"duration":`...), int64(h.Duration))
	}
	if h.ResponseContentLength != 0 {
		b = text.AppendInt(append(b, `,"response_content_length":`...), h.ResponseContentLength)
	}
	return b
}

func (e *Event) appendInstant(b []byte, t time.Time) []byte {
	return append(e.clock.Append(b, t), '"')
}

// appendOurs appends the keys that log.go does not have.
func (e *Event) appendOurs(b []byte, h *HTTP) []byte {
	if h.Route != "" {
		b = text.AppendString(append(b, `,"route":`...), h.Route)
	}
	if h.Client != "" {
		b = text.AppendString(append(b, `,"client":`...), h.Client)
	}
	if h.Protocol != "" {
		b = text.AppendString(append(b, `,"protocol":`...), h.Protocol)
	}
	if h.UserAgent != "" {
		b = text.AppendString(append(b, `,"user_agent":`...), h.UserAgent)
	}
	if h.Referer != "" {
		b = e.appendURL(append(b, `,"referer":`...), h.Referer)
	}
	if h.RequestContentLength != 0 {
		b = text.AppendInt(append(b, `,"request_content_length":`...), h.RequestContentLength)
	}
	return b
}

func (j jsonEncoder) appendError(e *Event, f failure) {
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
	switch {
	case f.stackWhy != "":
		b = text.AppendString(append(b, `,"stack_trace":`...), faultText(f.stackWhy, e.maxBytes))
	case len(f.stack) > 0:
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

func (j jsonEncoder) finish(e *Event) []byte {
	if e.last < partSeverity {
		e.addSeverity()
	}
	if e.last == partData {
		e.closeData()
	}
	if len(e.errorList) > 0 {
		j.finishErrors(e)
	}
	e.buf = append(e.buf, '}', '\n')
	line := e.buf[e.putCreatedAt():]
	if len(line) > e.maxBytes {
		return e.cutter.cut(line, e.maxBytes)
	}
	return line
}

// closeData closes the groups that are open, and data itself.
func (e *Event) closeData() {
	if e.separator == '{' { // the last of them is empty
		e.buf = append(e.buf, '{')
	}
	for range e.groups + 1 {
		e.buf = append(e.buf, '}')
	}
}

func (j jsonEncoder) finishErrors(e *Event) {
	list := e.errorList
	if j.v1 {
		e.buf = append(append(e.buf, `,"error":`...), list[:e.firstError]...)
		if list = list[e.firstError:]; len(list) == 0 {
			return
		}
	}
	e.buf = append(append(append(e.buf, `,"errors":[`...), list...), ']')
}

// putCreatedAt completes the front of the line and returns where it begins.
func (e *Event) putCreatedAt() int {
	second, ns := e.createdAt()
	if !e.stampSecond(jsonFront, second) {
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
		missing++ // the point
	}
	copy(front[missing:], front[:len(front)-len(`Z"`)-missing])
	e.stamp = stamp{}
	return missing
}
