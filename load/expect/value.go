package expect

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/weirhq/weir/internal/httpsyntax"
)

// A Value names a text in a response. [ParseValue] makes one.
type Value struct {
	text    string
	path    *path          // of JSON
	name    string         // of the header's field
	pattern *regexp.Regexp // of the body
}

// ParseValue reads the name of a value:
//
//	$.items[0].id               the value in JSON
//	header Location             the value of the field
//	body matches id=([0-9]+)    the first group of the regular expression, or all that it matches
//
// An error says what is wrong, and how to write it.
func ParseValue(text string) (Value, error) {
	v := Value{text: strings.TrimSpace(text)}
	word, rest, _ := strings.Cut(v.text, " ")
	rest = strings.TrimSpace(rest)
	pattern, matches := strings.CutPrefix(rest, "matches ")
	switch {
	case strings.HasPrefix(v.text, "$"):
		p, err := parsePath(v.text)
		if err != nil {
			return v, err
		}
		v.path = &p
	case word == "header" && httpsyntax.IsToken(rest):
		v.name = rest
	case word == "body" && matches:
		var err error
		if v.pattern, err = regexp.Compile(strings.TrimSpace(pattern)); err != nil {
			return v, err
		}
	default:
		return v, fmt.Errorf("%q is no value of a response; write $.items[0].id, header Location, or body matches "+
			"id=([0-9]+)", text)
	}
	return v, nil
}

// String returns the text of the value's name.
func (v Value) String() string { return v.text }

// A Taker takes values from the responses of one user, one response after the other. Goroutines must not share one.
type Taker struct {
	values []Value
	found  []string
	missed []string // the reasons; "" for a value that was found
	whole  bool     // the body is needed
	body   []byte
}

// NewTaker returns a Taker.
func NewTaker(values []Value) *Taker {
	t := &Taker{values: values, found: make([]string, len(values)), missed: make([]string, len(values))}
	for _, v := range values {
		t.whole = t.whole || v.name == ""
	}
	return t
}

// Begin begins a response.
func (t *Taker) Begin(_ int, h Header) {
	t.body = t.body[:0]
	for i, v := range t.values {
		t.found[i], t.missed[i] = "", ""
		if v.name == "" {
			continue
		}
		t.missed[i] = "there is no header " + v.name
		for value := range h.Values(v.name) {
			t.found[i], t.missed[i] = string(value), ""
			break
		}
	}
}

// Write implements io.Writer. It takes a part of the body.
func (t *Taker) Write(b []byte) (int, error) {
	if t.whole && len(t.body) <= mostJSON {
		t.body = append(t.body, b[:min(len(b), mostJSON+1-len(t.body))]...)
	}
	return len(b), nil
}

// End ends the response. It returns the texts of the values, valid until the next response, and the index of the first
// one that is missing with the reason; -1 and "" if there are all.
func (t *Taker) End() (found []string, missing int, reason string) {
	var document any
	decoded := false
	for i, v := range t.values {
		if v.name == "" && len(t.body) > mostJSON {
			t.missed[i] = fmt.Sprintf("the body has more than %d bytes, and is not searched", mostJSON)
			continue
		}
		switch {
		case v.path != nil:
			if !decoded {
				document, _ = decode(t.body)
				decoded = true
			}
			t.found[i], t.missed[i] = v.inJSON(document)
		case v.pattern != nil:
			t.found[i], t.missed[i] = v.inBody(t.body)
		}
	}
	for i, reason := range t.missed {
		if reason != "" {
			return nil, i, reason
		}
	}
	return t.found, -1, ""
}

// inJSON returns the value of a document. Numbers keep their digits.
func (v *Value) inJSON(document any) (text, missed string) {
	found, ok := v.path.find(document)
	switch found := found.(type) {
	case string:
		return found, ""
	case json.Number:
		return found.String(), ""
	case bool:
		return fmt.Sprint(found), ""
	case nil:
	default:
		return string(encode(found)), ""
	}
	if ok {
		return "", v.text + " is null"
	}
	return "", "the body has no " + v.text
}

// inBody returns the match in a body.
func (v *Value) inBody(body []byte) (text, missed string) {
	match := v.pattern.FindSubmatch(body)
	if match == nil {
		return "", "the body has no match of " + v.pattern.String()
	}
	return string(match[min(1, len(match)-1)]), ""
}
