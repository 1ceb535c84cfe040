// Package ltsv appends labels and values in the LTSV notation of the event
// format. All code that writes events as LTSV uses it.
package ltsv

import (
	"slices"
	"strings"
	"time"

	"github.com/weirhq/weir/log/internal/jsonscan"
	"github.com/weirhq/weir/log/internal/text"
)

// AppendValue appends s as a value: backslash, tab, LF and CR as two
// characters, other characters that control a terminal as \uxxxx, and each byte
// of invalid UTF-8 as U+FFFD.
func AppendValue[T jsonscan.Text](dst []byte, s T) []byte { return text.AppendLTSV(dst, text.View(s)) }

// AppendLabel appends the label of a field: prefix and key. Each byte except
// 0-9A-Za-z_.- becomes an underscore, and so does an empty label. A reserved
// label gets the prefix "data.". For a member of an object, prefix has the keys
// of the enclosing objects, with a dot after each; otherwise it is empty.
func AppendLabel[P jsonscan.Text](dst []byte, prefix P, key string) []byte {
	mark := len(dst)
	return finishLabel(appendSafe(appendSafe(dst, prefix), key), mark)
}

// PutLabel appends in place a tab, the label of a field, and a colon. See
// [AppendLabel], which is its plain equivalent.
func PutLabel(dst *[]byte, prefix []byte, key string) {
	from, n := len(*dst), len(prefix)
	switch {
	case n == 0 && key != "" && !Reserved(key):
		if putSafe(dst, '\t', key) {
			return
		}
	case n > 0 && prefix[n-1] == '.' && putSafe(dst, '\t', text.View(prefix[:n-1])):
		*dst = (*dst)[:from+n]      // without the colon
		if putSafe(dst, '.', key) { // a label with a dot is not reserved
			return
		}
		*dst = (*dst)[:from]
	}
	*dst = append(AppendLabel(append(*dst, '\t'), prefix, key), ':')
}

// putSafe appends in place a separator, a key and a colon. It reports whether
// all bytes of the key are safe; if not, dst is unchanged.
func putSafe(dst *[]byte, separator byte, key string) bool {
	from, size := len(*dst), len(key)+2
	if cap(*dst)-from < size {
		*dst = slices.Grow(*dst, size)
	}
	field := (*dst)[from : from+size]
	label := field[1:][:len(key)]
	for i := range label {
		if label[i] = key[i]; !safe[key[i]] {
			return false
		}
	}
	field[0], field[size-1] = separator, ':'
	*dst = (*dst)[:from+size]
	return true
}

// finishLabel makes the label that begins at mark valid.
func finishLabel(dst []byte, mark int) []byte {
	switch {
	case len(dst) == mark:
		return append(dst, '_')
	case Reserved(string(dst[mark:])):
		dst = append(dst, dataPrefix...)
		copy(dst[mark+len(dataPrefix):], dst[mark:])
		copy(dst[mark:], dataPrefix)
	}
	return dst
}

const dataPrefix = "data."

func appendSafe[T jsonscan.Text](dst []byte, s T) []byte {
	for i := range len(s) {
		if c := s[i]; safe[c] {
			dst = append(dst, c)
		} else {
			dst = append(dst, '_')
		}
	}
	return dst
}

// safe has the bytes that a label may have.
var safe = [256]bool{
	'-': true, '.': true, '_': true,
	'0': true, true, true, true, true, true, true, true, true, true,
	'A': true, true, true, true, true, true, true, true, true, true, true, true, true,
	true, true, true, true, true, true, true, true, true, true, true, true, true,
	'a': true, true, true, true, true, true, true, true, true, true, true, true, true,
	true, true, true, true, true, true, true, true, true, true, true, true, true,
}

// Reserved reports whether the format uses the label itself, so that no field
// may have it.
func Reserved(label string) bool {
	switch label {
	case "time", "level", "namespace", "event", "trace_id", "span_id",
		"host", "method", "protocol", "uri", "scheme", "vhost", "port", "status", "size", "reqsize", "reqtime",
		"started_at", "ended_at", "ua", "referer", "route",
		"identity", "identity_type", "err", "stack", "truncated":
		return true
	}
	return false
}

// sixZeros are the digits of an empty fraction.
const sixZeros = "000000"

// AppendInstant appends a time with six fractional digits. The time is given as
// in JSON, RFC 3339 in UTC. Any other text is appended like a value.
func AppendInstant(dst []byte, rfc3339 string) []byte {
	const secondsLen = len("2006-01-02T15:04:05")
	body, ok := strings.CutSuffix(rfc3339, "Z")
	if !ok || len(body) < secondsLen {
		return AppendValue(dst, rfc3339)
	}
	fraction := strings.TrimPrefix(body[secondsLen:], ".")
	fraction = fraction[:min(len(fraction), len(sixZeros))]
	dst = AppendValue(dst, body[:secondsLen])
	dst = AppendValue(append(dst, '.'), fraction)
	return append(append(dst, sixZeros[len(fraction):]...), 'Z')
}

// AppendSeconds appends a duration in seconds with six fractional digits, not
// rounded.
func AppendSeconds(dst []byte, d time.Duration) []byte {
	if d < 0 {
		dst = append(dst, '-')
	}
	seconds, remainder := d/time.Second, d%time.Second
	var fraction [9]byte
	text.PutFraction(&fraction, uint32(magnitude(remainder)))
	dst = text.AppendUint(dst, magnitude(seconds))
	return append(append(dst, '.'), fraction[:6]...)
}

func magnitude(d time.Duration) uint64 { return uint64(max(d, -d)) }
