package expect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// A path is the place of a value in JSON: keys of objects and indexes of arrays. It is the part of RFC 9535 that names
// one value.
type path struct {
	text  string
	steps []step
}

// A step is a key of an object, or an index of an array if key is nil.
type step struct {
	key   *string
	index int
}

// parsePath reads a path such as $.items[0]["a key"].
func parsePath(text string) (path, error) {
	p := path{text: text}
	rest := strings.TrimPrefix(text, "$")
	fail := func(what string) (path, error) {
		return p, fmt.Errorf(`column %d: %s; a path is such as $.items[0].id, or $["a key"]`, len(text)-len(rest)+1, what)
	}
	for rest != "" {
		switch {
		case rest[0] == '.':
			end := strings.IndexAny(rest[1:], ".[ ")
			if end < 0 {
				end = len(rest) - 1
			}
			key := rest[1 : 1+end]
			if key == "" {
				return fail("there is no key after the dot")
			}
			p.steps = append(p.steps, step{key: &key})
			rest = rest[1+end:]
		case strings.HasPrefix(rest, `["`):
			quoted, err := strconv.QuotedPrefix(rest[1:])
			if err != nil || !strings.HasPrefix(rest[1+len(quoted):], "]") {
				return fail("the key in quotes does not end")
			}
			key, _ := strconv.Unquote(quoted) // QuotedPrefix has accepted it
			p.steps = append(p.steps, step{key: &key})
			rest = rest[len(quoted)+len("[]"):]
		case rest[0] == '[':
			digits, after, ok := strings.Cut(rest[1:], "]")
			index, err := strconv.Atoi(digits)
			if !ok || err != nil || index < 0 {
				return fail("an index is a number from 0 on, such as [0]")
			}
			p.steps = append(p.steps, step{index: index})
			rest = after
		default:
			return fail(fmt.Sprintf("%q is neither a key nor an index", rest))
		}
	}
	return p, nil
}

// literal returns a value of JSON as encoding/json writes it. A text that is not JSON is a string.
func literal(text []byte) []byte {
	if value, err := decode(text); err == nil {
		return encode(value)
	}
	return encode(string(text))
}

// decode parses one value. Numbers keep their digits.
func decode(text []byte) (value any, err error) {
	if !json.Valid(text) {
		return nil, json.Unmarshal(text, new(json.RawMessage))
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	err = d.Decode(&value)
	return value, err
}

// encode returns a decoded value as text. Numbers that are equal have the same text.
func encode(value any) []byte {
	if number, ok := value.(json.Number); ok {
		if f, err := number.Float64(); err == nil {
			return strconv.AppendFloat(nil, f, 'g', -1, 64)
		}
	}
	text, err := json.Marshal(value)
	if err != nil { // a decoded value can be encoded
		return []byte(fmt.Sprint(value))
	}
	return text
}

// find returns the value at the path.
func (p *path) find(value any) (found any, ok bool) {
	for _, s := range p.steps {
		switch in := value.(type) {
		case map[string]any:
			if s.key == nil {
				return nil, false
			}
			if value, ok = in[*s.key]; !ok {
				return nil, false
			}
		case []any:
			if s.key != nil || s.index >= len(in) {
				return nil, false
			}
			value = in[s.index]
		default:
			return nil, false
		}
	}
	return value, true
}

// judgeJSON returns the mistake of a decoded body, "" without one.
func (e *Expectation) judgeJSON(body any) string {
	value, ok := e.path.find(body)
	switch {
	case !ok:
		return e.path.text + " is missing"
	case e.how == exists:
		return ""
	}
	if text := encode(value); !bytes.Equal(text, e.value) {
		return e.path.text + " is " + clip(string(text))
	}
	return ""
}
