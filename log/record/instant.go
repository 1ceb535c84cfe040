package record

import (
	"strings"
	"time"
)

// An Instant is a point in time in the form of the JSON: RFC 3339 in UTC with
// up to nine decimals of the second and no trailing zeros. A text that is not a
// time is kept unchanged. The empty text means no instant.
type Instant string

// Time returns the point in time, or false if the text is not a time.
func (i Instant) Time() (t time.Time, ok bool) {
	t, err := time.Parse(time.RFC3339Nano, string(i))
	return t, err == nil
}

// instantOf converts an instant to its usual form.
func instantOf(text string) Instant {
	if isUsual(text) {
		return Instant(text)
	}
	t, ok := Instant(text).Time()
	if !ok {
		return Instant(text)
	}
	if t = t.UTC(); t.Year() < 0 || t.Year() > 9999 {
		return Instant(text)
	}
	return Instant(t.Format(time.RFC3339Nano))
}

// isUsual reports whether a text needs no conversion: it ends in Z and has no
// trailing zeros. Nearly all instants are usual, and are not parsed by package
// time.
func isUsual(text string) bool {
	body, ok := strings.CutSuffix(text, "Z")
	n := len("2006-01-02T15:04:05")
	switch {
	case !ok || len(body) < n:
		return false
	case len(body) == n:
		return true
	}
	return body[n] == '.' && len(body) > n+1 && len(body) <= n+len(".999999999") && !strings.HasSuffix(body, "0")
}
