package record

import (
	"fmt"
	"strconv"

	"github.com/weirhq/weir/log/internal/jsonscan"
)

// Each of the functions below that is given a key and its value tells whether
// that was what the format says. If not, the member goes to Extra. A member
// whose field is set already is not: so the first of repeated keys counts, and
// the others are kept.

// parseJSON reads a line that begins with a brace.
func parseJSON(s string) (r Record, err error) {
	if at, ok := jsonscan.Check(s); !ok {
		return r, fmt.Errorf("no JSON from byte %d on", at)
	}
	p := parser{record: &r}
	r.Extra = members(s, p.member)
	switch {
	case !p.hasEvent:
		return r, errNoName
	case !p.hasCreatedAt:
		return r, errNoTime
	}
	return r, nil
}

// members hands each member of an object to known and returns those that are
// not.
func members(object string, known func(key, value string) bool) (extra []Field) {
	s := jsonscan.Scan(object)
	s.Enter()
	for {
		quoted, ok := s.Member()
		if !ok {
			return extra
		}
		key, value := unquote(quoted), s.Value()
		if !known(key, value) {
			extra = append(extra, Field{key, valueOf(value)})
		}
	}
}

// A parser reads the members of an event.
type parser struct {
	record                 *Record
	hasEvent, hasCreatedAt bool
	hasErrors              bool // "errors", that is, and not only "error"
}

func (p *parser) member(key, value string) bool {
	r := p.record
	switch key {
	case "created_at":
		ok := setInstant(&r.CreatedAt, value)
		p.hasCreatedAt = p.hasCreatedAt || ok
		return ok
	case "namespace":
		return setText(&r.Namespace, value)
	case "event":
		ok := setText(&r.Event, value)
		p.hasEvent = p.hasEvent || ok
		return ok
	case "trace_id":
		return setText(&r.TraceID, value)
	case "span_id":
		return setText(&r.SpanID, value)
	case "severity":
		return setSeverity(&r.Severity, value)
	case "http":
		return setHTTP(&r.HTTP, value)
	case "auth":
		return setAuth(&r.Auth, value)
	case "data":
		return setFields(&r.Data, value)
	case "error":
		return p.setError(value)
	case "errors":
		return p.setErrors(value)
	case "truncated":
		return setTexts(&r.Truncated, value)
	}
	return false
}

// setError takes the error of shape v1, which comes before any "errors".
func (p *parser) setError(value string) bool {
	if len(p.record.Errors) > 0 || value[0] != '{' {
		return false
	}
	p.record.Errors = []Error{parseError(value, true)}
	return true
}

func (p *parser) setErrors(value string) bool {
	if p.hasErrors || value[0] != '[' {
		return false
	}
	var list []Error
	s := jsonscan.Scan(value)
	for s.Enter(); s.Element(); {
		if s.Peek() != '{' {
			return false
		}
		list = append(list, parseError(s.Value(), false))
	}
	p.record.Errors = append(p.record.Errors, list...)
	p.hasErrors = len(list) > 0
	return true
}

// parseError reads an error, whose message has another key in shape v1.
func parseError(object string, v1 bool) (e Error) {
	e.Extra = members(object, func(key, value string) bool {
		switch key {
		case "message":
			return setText(&e.Message, value)
		case "error":
			return v1 && setText(&e.Message, value)
		case "stack_trace":
			return setStack(&e.Stack, value)
		case "data":
			return setFields(&e.Data, value)
		}
		return false
	})
	return e
}

func setHTTP(dst **HTTP, value string) bool {
	if *dst != nil || value[0] != '{' {
		return false
	}
	h := new(HTTP)
	h.Extra = members(value, h.member)
	*dst = h
	return true
}

func (h *HTTP) member(key, value string) bool {
	switch key {
	case "status_code":
		return setInt(&h.StatusCode, value)
	case "method":
		return setText(&h.Method, value)
	case "scheme":
		return setText(&h.Scheme, value)
	case "host":
		return setText(&h.Host, value)
	case "port":
		return setInt(&h.Port, value)
	case "path":
		return setText(&h.Path, value)
	case "query":
		return setText(&h.Query, value)
	case "started_at":
		return setInstant(&h.StartedAt, value)
	case "ended_at":
		return setInstant(&h.EndedAt, value)
	case "duration":
		return setInt(&h.Duration, value)
	case "response_content_length":
		return setInt(&h.ResponseContentLength, value)
	}
	return h.newMember(key, value)
}

// newMember is member for the keys that log.go does not have.
func (h *HTTP) newMember(key, value string) bool {
	switch key {
	case "route":
		return setText(&h.Route, value)
	case "client":
		return setText(&h.Client, value)
	case "protocol":
		return setText(&h.Protocol, value)
	case "user_agent":
		return setText(&h.UserAgent, value)
	case "referer":
		return setText(&h.Referer, value)
	case "request_content_length":
		return setInt(&h.RequestContentLength, value)
	}
	return false
}

func setAuth(dst **Auth, value string) bool {
	if *dst != nil || value[0] != '{' {
		return false
	}
	a := new(Auth)
	a.Extra = members(value, func(key, value string) bool {
		switch key {
		case "identity":
			return setText(&a.Identity, value)
		case "identity_type":
			return setText(&a.IdentityType, value)
		}
		return false
	})
	*dst = a
	return true
}

// setStack takes an array of objects that have the keys of a frame and no
// others.
func setStack(dst *[]Frame, value string) bool {
	if *dst != nil || value[0] != '[' {
		return false
	}
	var frames []Frame
	s := jsonscan.Scan(value)
	for s.Enter(); s.Element(); {
		if s.Peek() != '{' {
			return false
		}
		var f Frame
		if members(s.Value(), f.member) != nil {
			return false
		}
		frames = append(frames, f)
	}
	*dst = frames
	return true
}

func (f *Frame) member(key, value string) bool {
	switch key {
	case "file":
		return setText(&f.File, value)
	case "line":
		return setInt(&f.Line, value)
	case "function":
		return setText(&f.Function, value)
	}
	return false
}

func setText(dst *string, value string) bool {
	if *dst != "" || value[0] != '"' {
		return false
	}
	*dst = unquote(value)
	return true
}

func setTexts(dst *[]string, value string) bool {
	if *dst != nil || value[0] != '[' {
		return false
	}
	var texts []string
	s := jsonscan.Scan(value)
	for s.Enter(); s.Element(); {
		if s.Peek() != '"' {
			return false
		}
		texts = append(texts, unquote(s.Value()))
	}
	*dst = texts
	return true
}

func setInstant(dst *Instant, value string) bool {
	if *dst != "" || value[0] != '"' {
		return false
	}
	*dst = instantOf(unquote(value))
	return true
}

func setInt[T ~int | ~int64](dst *T, value string) bool {
	n, err := strconv.ParseInt(value, 10, 64)
	if *dst != 0 || err != nil || int64(T(n)) != n {
		return false
	}
	*dst = T(n)
	return true
}

func setSeverity(dst *Severity, value string) bool {
	if *dst != SeverityNone || len(value) != 1 || value[0] < '0' || value[0] > '4' {
		return false
	}
	*dst = SeverityFatal + Severity(value[0]-'0')
	return true
}

func setFields(dst *[]Field, value string) bool {
	if *dst != nil || value[0] != '{' {
		return false
	}
	*dst = fieldsOf(value)
	return true
}
