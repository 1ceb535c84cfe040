package record

import (
	"strings"
	"time"
)

// An Instant is a point in time as JSON has it: RFC 3339 in UTC with up to nine
// digits of the second, trailing zeros trimmed. What a line has in place of
// one stays as it is. The empty text stands for no instant.
type Instant string

// Time returns the point in time, or false when the text is none.
func (i Instant) Time() (t time.Time, ok bool) {
	t, err := time.Parse(time.RFC3339Nano, string(i))
	return t, err == nil
}

// instantOf brings an instant into its usual form.
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

// isUsual reports whether nothing is to be done to a text, be it an instant or
// not, since it is in UTC and has no zeros to trim. It spares nearly all of the
// instants that are read the way through package time.
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
