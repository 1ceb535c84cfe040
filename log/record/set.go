package record

import (
	"strconv"
	"strings"
	"time"
)

// setJSON sets a field to a JSON value. It reports false and changes nothing if
// the field is set already, or if the format has another type there.
func setJSON(field any, n *Node) bool {
	switch field := field.(type) {
	case *string:
		return setText(field, n)
	case *Instant:
		text, ok := n.Text()
		return ok && put(field, instantOf(text))
	case *Severity:
		return setSeverity(field, n.Value)
	case *int:
		return setInt(field, string(n.Value))
	case *int64:
		return setInt(field, string(n.Value))
	case *time.Duration:
		return setInt(field, string(n.Value))
	}
	return false
}

// setLTSV is setJSON for a value of LTSV without escapes.
func setLTSV(field any, value string) bool {
	switch field := field.(type) {
	case *string:
		return put(field, value)
	case *Instant:
		return put(field, instantOf(value))
	case *Severity:
		s := severityOf(value)
		return s != SeverityNone && put(field, s)
	case *int:
		return setInt(field, value)
	case *int64:
		return setInt(field, value)
	case *time.Duration:
		d, ok := parseSeconds(value)
		return ok && put(field, d)
	}
	return false
}

// put sets a field that is zero.
func put[T comparable](field *T, value T) bool {
	var unset T
	if *field != unset {
		return false
	}
	*field = value
	return true
}

func setText(dst *string, n *Node) bool {
	text, ok := n.Text()
	return ok && put(dst, text)
}

func setTexts(dst *[]string, m []Node) bool {
	if *dst != nil || !m[0].isArray() {
		return false
	}
	var texts []string
	for i, next := 1, 0; i < len(m); i = next {
		next = i + 1 + m[i].Inner
		text, ok := m[i].Text()
		if !ok {
			return false
		}
		texts = append(texts, text)
	}
	*dst = texts
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

func setSeverity(dst *Severity, value Value) bool {
	if *dst != SeverityNone || len(value) != 1 || value[0] < '0' || value[0] > '4' {
		return false
	}
	*dst = SeverityFatal + Severity(value[0]-'0')
	return true
}

func setFields(dst *[]Field, m []Node) bool {
	if *dst != nil || !m[0].isObject() {
		return false
	}
	*dst = appendFields(nil, m[1:])
	return true
}

// parseSeconds parses a decimal number of seconds with up to nine decimals,
// without rounding.
func parseSeconds(s string) (time.Duration, bool) {
	whole, fraction, _ := strings.Cut(s, ".")
	digits := strings.TrimPrefix(whole, "-")
	if digits == "" || len(fraction) > 9 {
		return 0, false
	}
	for _, b := range []byte(digits + fraction) {
		if b < '0' || b > '9' {
			return 0, false
		}
	}
	n, err := strconv.ParseInt(whole+fraction+"000000000"[len(fraction):], 10, 64)
	return time.Duration(n), err == nil
}
