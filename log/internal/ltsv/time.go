package ltsv

import (
	"strings"
	"time"

	"github.com/weirhq/weir/log/internal/text"
)

// sixDigits is the zeros that a fraction without digits lacks.
const sixDigits = "000000"

// AppendInstant appends an instant with six digits of the second. It is given
// as JSON has it, RFC 3339 in UTC; a text that is no such thing is appended as
// any value is.
func AppendInstant(dst []byte, rfc3339 string) []byte {
	const secondsLen = len("2006-01-02T15:04:05")
	body, ok := strings.CutSuffix(rfc3339, "Z")
	if !ok || len(body) < secondsLen {
		return AppendValue(dst, rfc3339)
	}
	fraction := strings.TrimPrefix(body[secondsLen:], ".")
	fraction = fraction[:min(len(fraction), len(sixDigits))]
	dst = AppendValue(dst, body[:secondsLen])
	dst = AppendValue(append(dst, '.'), fraction)
	return append(append(dst, sixDigits[len(fraction):]...), 'Z')
}

// AppendSeconds appends a duration as seconds with six digits of the second,
// the rest cut off.
func AppendSeconds(dst []byte, d time.Duration) []byte {
	if d < 0 {
		dst = append(dst, '-')
	}
	seconds, rest := d/time.Second, d%time.Second
	var fraction [9]byte
	text.PutFraction(&fraction, uint32(magnitude(rest)))
	dst = text.AppendUint(dst, magnitude(seconds))
	return append(append(dst, '.'), fraction[:6]...)
}

func magnitude(d time.Duration) uint64 { return uint64(max(d, -d)) }
