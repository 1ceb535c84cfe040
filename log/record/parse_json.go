package record

import (
	"fmt"

	"github.com/weirhq/weir/log/internal/jsonscan"
)

// Each function below that takes a key and its value reports whether the value
// has the type of the format. If not, the member goes to Extra. So does a
// member whose field is set already: the first of repeated keys counts.

// parseJSON reads a line that begins with a brace.
func (p *parser) parseJSON(object string) error {
	m := jsonscan.MembersOf(object)
	for {
		quoted, value, ok := m.Next()
		if !ok {
			break
		}
		if key := unquote(quoted); !p.member(key, value) && p.omitted == 0 {
			p.record.Extra = append(p.record.Extra, Field{key, valueOf(value)})
		}
	}
	if at, ok := m.End(); !ok {
		return fmt.Errorf("no JSON from byte %d on", at)
	}
	return nil
}

// members calls known for each member of an object, and returns the members for
// which it returned false.
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

func (p *parser) member(key, value string) bool {
	switch key {
	case "http":
		return p.setHTTP(value)
	case "auth":
		return p.setAuth(value)
	case "data":
		return p.omitted.has(keyData) || p.setData(value)
	case "error":
		return p.omitted.has(keyErrors) || p.setError(value)
	case "errors":
		return p.omitted.has(keyErrors) || p.setErrors(value)
	case "truncated":
		return p.omitted.has(keyTruncated) || setTexts(&p.record.Truncated, value)
	}
	return p.setKey(0, firstHTTP, key, value)
}

// setKey sets the field of a key. It reports whether the key is in
// keys[from:to] and the value has the key's type.
func (p *parser) setKey(from, to int, key, value string) bool {
	place, ok := p.find(from, to, key)
	if !ok {
		return false
	}
	if p.omitted.has(place) {
		ok = value[0] == '"' // saw needs only the type
	} else {
		ok = setJSON(keys[place].field(&p.record), value)
	}
	if ok {
		p.saw(place)
	}
	return ok
}

// find returns the index of a key in keys[from:to]. It starts after the last
// key that it found, because nearly all lines have the keys in this order.
func (p *parser) find(from, to int, key string) (place int, ok bool) {
	next := min(max(p.next, from), to)
	for i := next; i < to; i++ {
		if keys[i].json == key {
			p.next = i + 1
			return i, true
		}
	}
	for i := from; i < next; i++ {
		if keys[i].json == key {
			p.next = i + 1
			return i, true
		}
	}
	return 0, false
}

// setError reads the error of shape v1, which precedes any "errors".
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

// parseError reads an error. Shape v1 has another key for the message.
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

func (p *parser) setHTTP(value string) bool {
	if p.record.HTTP != nil || value[0] != '{' {
		return false
	}
	if ^p.omitted&httpPlaces != 0 {
		h := p.http()
		h.Extra = p.object(firstHTTP, firstAuth, value)
	}
	return true
}

func (p *parser) setAuth(value string) bool {
	if p.record.Auth != nil || value[0] != '{' {
		return false
	}
	if ^p.omitted&authPlaces != 0 {
		a := p.auth()
		a.Extra = p.object(firstAuth, len(keys), value)
	}
	return true
}

// object reads an object with the keys in keys[from:to], and returns the other
// members.
func (p *parser) object(from, to int, value string) (extra []Field) {
	s := jsonscan.Scan(value)
	s.Enter()
	for {
		quoted, ok := s.Member()
		if !ok {
			return extra
		}
		key, value := unquote(quoted), s.Value()
		if !p.setKey(from, to, key, value) && p.omitted == 0 {
			extra = append(extra, Field{key, valueOf(value)})
		}
	}
}

func (p *parser) setData(value string) bool {
	if p.record.Data != nil || value[0] != '{' {
		return false
	}
	var room []Field
	if p.reader != nil {
		room = p.reader.data[:0]
	}
	if fields := appendFields(room, value); len(fields) > 0 {
		p.record.Data = fields
		if p.reader != nil {
			p.reader.data = fields
		}
	}
	return true
}

// setStack reads an array of objects, if they have only the keys of a frame.
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
