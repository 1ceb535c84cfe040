package text

import (
	"time"
)

// RFC 3339 has years of four digits. These are the seconds since 1970 at the
// start of year 0 and at the end of year 9999.
const (
	firstSecond = -62167219200
	afterLast   = 253402300800
)

// BadYear replaces a time whose year RFC 3339 cannot express.
const BadYear = "!ERROR: year outside of 0 to 9999"

// A Clock writes times as RFC 3339 in UTC. It caches the text of the last even
// and the last odd second, because the times of a request's events are in few
// seconds. The zero value is ready. Only one goroutine at a time may use it.
type Clock struct {
	second [2]int64
	text   [2]secondText // all zero: empty
}

const secondLen = len("2006-01-02T15:04:05")

type secondText [secondLen]byte

// Append appends t with up to nine fractional digits, without trailing zeros,
// or BadYear.
func (c *Clock) Append(b []byte, t time.Time) []byte {
	c.Put(&b, "", t)
	return b
}

// AppendMicros appends t with six fractional digits, not rounded.
func (c *Clock) AppendMicros(b []byte, t time.Time) []byte {
	second := c.Second(t.Unix())
	if second == nil {
		return append(b, BadYear...)
	}
	var fraction [9]byte
	PutFraction(&fraction, uint32(t.Nanosecond()))
	b = append(append(b, second[:]...), '.')
	return append(append(b, fraction[:6]...), 'Z')
}

// Put appends a label, and t as [Clock.Append] does, to *b.
func (c *Clock) Put(b *[]byte, label string, t time.Time) {
	const longest, point = len("2006-01-02T15:04:05.123456789Z"), secondLen
	second := c.Second(t.Unix())
	if second == nil {
		*b = append(append(*b, label...), BadYear...)
		return
	}
	n := len(*b) + len(label)
	reserve(b, len(label)+longest)
	copy((*b)[len(*b):n], label)
	buf := (*[longest]byte)((*b)[n : n+longest])
	*(*[secondLen]byte)(buf[:]) = *second
	ns := uint32(t.Nanosecond())
	buf[point] = '.'
	PutFraction((*[9]byte)(buf[point+1:]), ns)
	end := longest - 1 - TrailingZeros(ns)
	if ns == 0 {
		end = point
	}
	buf[end] = 'Z'
	*b = (*b)[:n+end+1]
}

// Second returns the text of a second since 1970, or nil if RFC 3339 cannot
// express it. The text is valid until the next call.
func (c *Clock) Second(second int64) *[secondLen]byte {
	text := &c.text[second&1]
	if second == c.second[second&1] && text[0] != 0 {
		return (*[secondLen]byte)(text)
	}
	if second < firstSecond || second >= afterLast {
		return nil
	}
	c.second[second&1] = second
	text.set(time.Unix(second, 0).UTC())
	return (*[secondLen]byte)(text)
}

func (s *secondText) set(t time.Time) {
	year, month, day := t.Date()
	hour, minute, second := t.Clock()
	b := append(s[:0], digits2(year/100)...)
	b = append(append(b, digits2(year%100)...), '-')
	b = append(append(b, digits2(int(month))...), '-')
	b = append(append(b, digits2(day)...), 'T')
	b = append(append(b, digits2(hour)...), ':')
	b = append(append(b, digits2(minute)...), ':')
	_ = append(b, digits2(second)...)
}

// TrailingZeros returns the number of trailing zeros of the nine digits of a
// fraction of a second.
func TrailingZeros(ns uint32) int {
	if ns == 0 {
		return 9
	}
	zeros := 0
	for ns%10 == 0 {
		ns /= 10
		zeros++
	}
	return zeros
}

// PutFraction writes the nine digits of a fraction of a second. Its divisions
// do not depend on each other, so that the processor overlaps them. Their
// latency matters, because the next read of the clock waits for them.
func PutFraction(b *[9]byte, ns uint32) {
	a1, a3, a5, a7 := ns/1e8, ns/1e6, ns/1e4, ns/1e2 // the first digit, the first three, ...
	b[0] = '0' + byte(a1)
	put2(b[1:3], a3-100*a1)
	put2(b[3:5], a5-100*a3)
	put2(b[5:7], a7-100*a5)
	put2(b[7:9], ns-100*a7)
}
