package router

import (
	"errors"
	"fmt"
	"mime"
	"strings"
)

// A mediaType is the media type of a route: "text/html", or with parameters
// "text/html;level=1". It is immutable.
type mediaType struct {
	kind, subtype string            // in lower case
	params        map[string]string // by name in lower case
	text          string            // the whole media type in canonical form
}

func parseMediaType(text string) (*mediaType, error) {
	name, params, err := mime.ParseMediaType(text)
	switch {
	case err != nil && strings.Contains(text, ","):
		return nil, errors.New("it is a list; register the handler for each media type")
	case err != nil:
		return nil, err
	}
	kind, subtype, ok := strings.Cut(name, "/")
	switch {
	case !ok || !isToken(kind) || !isToken(subtype):
		return nil, errors.New("it has no type and subtype, such as text/html")
	case strings.Contains(name, "*"):
		return nil, errors.New("a route has one media type, not a range")
	}
	for _, reserved := range []string{"q", "charset"} {
		if _, ok := params[reserved]; ok {
			return nil, fmt.Errorf("the parameter %q of a request does not distinguish media types", reserved)
		}
	}
	return &mediaType{kind, subtype, params, mime.FormatMediaType(name, params)}, nil
}

// A mediaMatch is the preference of a request for a media type, taken from its most
// precise matching range.
type mediaMatch struct {
	precision int // 0: no range contains the media type
	q         int // in thousandths; 0: not acceptable
	position  int // of the range in the request
}

// improve takes another range into account. A nil media type is unknown, so only */*
// contains it.
func (f *mediaMatch) improve(r mediaRange, m *mediaType, position int) {
	if p := r.precision(m); p > f.precision {
		*f = mediaMatch{p, r.q, position}
	}
}

// A mediaRange is one element of an Accept header.
type mediaRange struct {
	kind, subtype string // as sent; * for any
	params        string // the parameters before q
	q             int    // in thousandths
}

// precision returns 0 if the range does not contain the media type. Otherwise, more
// specific ranges have higher values.
func (r mediaRange) precision(m *mediaType) int {
	switch {
	case r.kind == "*":
		return 1
	case m == nil || !strings.EqualFold(r.kind, m.kind):
		return 0
	case r.subtype == "*":
		return 2
	case !strings.EqualFold(r.subtype, m.subtype):
		return 0
	}
	precision := 3
	for params := r.params; params != ""; {
		var name, value string
		name, value, params = nextParam(params)
		if name == "" || strings.EqualFold(name, "charset") {
			continue
		}
		if want, ok := m.params[strings.ToLower(name)]; !ok || !strings.EqualFold(value, want) {
			return 0
		}
		precision++
	}
	return precision
}

// parseMediaRange parses one element of an Accept header. It ignores parameters after
// q, which no RFC has defined.
func parseMediaRange(element string) (r mediaRange, ok bool) {
	name, params, _ := cutUnquoted(element, ';')
	r.kind, r.subtype, ok = strings.Cut(strings.Trim(name, " \t"), "/")
	if !ok || !isToken(r.kind) || !isToken(r.subtype) || r.kind == "*" && r.subtype != "*" {
		return r, false
	}
	r.params, r.q = params, 1000
	for left := params; left != ""; {
		before := len(params) - len(left)
		var name, value string
		name, value, left = nextParam(left)
		if name == "q" || name == "Q" {
			r.params = params[:before]
			r.q, ok = parseQ(value)
			return r, ok
		}
	}
	return r, true
}

// nextParam splits off the first parameter of a list: "a=1; b=2".
func nextParam(params string) (name, value, left string) {
	first, left, _ := cutUnquoted(params, ';')
	name, value, _ = strings.Cut(strings.Trim(first, " \t"), "=")
	if len(value) >= 2 && value[0] == '"' && value[len(value)-1] == '"' {
		value = unquoted(value[1 : len(value)-1])
	}
	return name, value, left
}

// unquoted removes the backslashes from the content of a quoted string.
func unquoted(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// cutUnquoted is strings.Cut for a byte outside of quoted strings.
func cutUnquoted(s string, sep byte) (before, after string, found bool) {
	quoted := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			quoted = !quoted
		case c == '\\' && quoted:
			i++
		case c == sep && !quoted:
			return s[:i], s[i+1:], true
		}
	}
	return s, "", false
}

// parseQ parses a weight, 0 to 1 with up to three decimals, and returns it in
// thousandths.
func parseQ(s string) (q int, ok bool) {
	if s == "" || len(s) > len("0.000") || s[0] != '0' && s[0] != '1' || len(s) > 1 && s[1] != '.' {
		return 0, false
	}
	q = int(s[0]-'0') * 1000
	for i, unit := 2, 100; i < len(s); i, unit = i+1, unit/10 {
		if !isDigit(s[i]) {
			return 0, false
		}
		q += int(s[i]-'0') * unit
	}
	return q, q <= 1000
}
