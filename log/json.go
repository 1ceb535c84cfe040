package log

import (
	"time"

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

// addJSONRequest appends the http object.
func (e *openEvent) addJSONRequest(h *HTTP) {
	text.PutLabeledInt(&e.buf, `,"http":{"status_code":`, int64(h.StatusCode))
	if h.Encoded != nil {
		e.addTarget(h)
	} else {
		e.encodeJSONTarget(h)
	}
	e.addTimes(h)
	e.addExtensions(h)
	e.buf = append(e.buf, '}')
}

func (e *openEvent) encodeJSONTarget(h *HTTP) {
	b := &e.buf
	if h.Method != "" {
		text.PutLabeled(b, `,"method":"`, h.Method)
	}
	if h.Scheme != "" {
		text.PutLabeled(b, `,"scheme":"`, h.Scheme)
	}
	if h.Host != "" {
		text.PutLabeled(b, `,"host":"`, h.Host)
	}
	if h.Port != 0 {
		text.PutLabeledInt(b, `,"port":`, int64(h.Port))
	}
	if h.Path != "" {
		text.PutLabeled(b, `,"path":"`, h.Path)
	}
	if h.Query != "" {
		e.addQuery(`,"query":"`, h.Query)
	}
}

// addTimes appends the fields known when the request has ended.
func (e *openEvent) addTimes(h *HTTP) {
	if !h.StartedAt.IsZero() {
		e.addInstant(`,"started_at":"`, h.StartedAt)
	}
	if !h.EndedAt.IsZero() {
		e.addInstant(`,"ended_at":"`, h.EndedAt)
	}
	if h.Duration != 0 {
		text.PutLabeledInt(&e.buf, `,"duration":`, int64(h.Duration))
	}
	if h.ResponseContentLength != 0 {
		text.PutLabeledInt(&e.buf, `,"response_content_length":`, h.ResponseContentLength)
	}
}

func (e *openEvent) addInstant(label string, t time.Time) {
	e.clock.Put(&e.buf, label, t)
	e.buf = append(e.buf, '"')
}

// addExtensions appends the keys that ONSdigital/log.go does not have.
func (e *openEvent) addExtensions(h *HTTP) {
	b := &e.buf
	if h.Route != "" {
		text.PutLabeled(b, `,"route":"`, h.Route)
	}
	if h.Client != "" {
		text.PutLabeled(b, `,"client":"`, h.Client)
	}
	if h.Protocol != "" {
		text.PutLabeled(b, `,"protocol":"`, h.Protocol)
	}
	if h.UserAgent != "" {
		text.PutLabeled(b, `,"user_agent":"`, h.UserAgent)
	}
	if h.Referer != "" {
		e.addURL(`,"referer":"`, h.Referer)
	}
	if h.RequestContentLength != 0 {
		text.PutLabeledInt(b, `,"request_content_length":`, h.RequestContentLength)
	}
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
