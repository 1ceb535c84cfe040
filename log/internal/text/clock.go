package text

import (
	"slices"
	"time"
)

// RFC 3339 has four digits for the year. These are the seconds since 1970 at
// which year 0 begins and year 9999 has ended.
const (
	firstSecond = -62167219200
	afterLast   = 253402300800
)

const badYear = "!ERROR: year outside of 0 to 9999"

// A Clock writes instants as RFC 3339 in UTC and remembers the second it wrote
// last, since the instants of one event mostly fall into the same. The zero
// value is ready. Only one goroutine at a time may use it.
type Clock struct {
	second int64
	text   [len("2006-01-02T15:04:05")]byte // all zero: nothing remembered
}

// Append appends t with up to nine digits of the second, trailing zeros
// trimmed. A year that RFC 3339 cannot hold becomes an error text.
func (c *Clock) Append(b []byte, t time.Time) []byte {
	if !c.tick(t) {
		return append(b, badYear...)
	}
	ns := uint32(t.Nanosecond())
	return c.append(b, ns, fractionDigits(ns))
}

// AppendMicros appends t with six digits of the second, the rest cut off.
func (c *Clock) AppendMicros(b []byte, t time.Time) []byte {
	if !c.tick(t) {
		return append(b, badYear...)
	}
	return c.append(b, uint32(t.Nanosecond()), 6)
}

// append appends the second that c is set to and that many digits of a
// fraction of it. It may write on the bytes behind what it appends.
func (c *Clock) append(b []byte, ns uint32, digits int) []byte {
	const longest = len("2006-01-02T15:04:05.123456789Z")
	n := len(b)
	b = slices.Grow(b, longest)
	room := (*[longest]byte)(b[n : n+longest])
	copy(room[:], c.text[:])
	end := len(c.text)
	if digits > 0 {
		putFraction((*[10]byte)(room[end:]), ns)
		end += 1 + digits
	}
	room[end] = 'Z'
	return b[:n+end+1]
}

// tick sets c to the second of t and reports whether RFC 3339 can hold it.
func (c *Clock) tick(t time.Time) bool {
	second := t.Unix()
	if second == c.second && c.text[0] != 0 {
		return true
	}
	if second < firstSecond || second >= afterLast {
		return false
	}
	c.set(second, t.UTC())
	return true
}

func (c *Clock) set(second int64, t time.Time) {
	year, month, day := t.Date()
	hour, minute, sec := t.Clock()
	c.second = second
	b := append(c.text[:0], digits2(year/100)...)
	b = append(append(b, digits2(year%100)...), '-')
	b = append(append(b, digits2(int(month))...), '-')
	b = append(append(b, digits2(day)...), 'T')
	b = append(append(b, digits2(hour)...), ':')
	b = append(append(b, digits2(minute)...), ':')
	_ = append(b, digits2(sec)...)
}

// fractionDigits returns how many digits it takes to write a fraction of a
// second without trailing zeros.
func fractionDigits(ns uint32) int {
	if ns == 0 {
		return 0
	}
	digits := 9
	for ns%10 == 0 {
		ns /= 10
		digits--
	}
	return digits
}

// putFraction writes the point and the nine digits of a fraction of a second.
func putFraction(b *[10]byte, ns uint32) {
	b[0] = '.'
	for i := 8; i > 0; i -= 2 {
		n := ns % 100 * 2
		b[i], b[i+1] = allDigits2[n], allDigits2[n+1]
		ns /= 100
	}
	b[1] = '0' + byte(ns)
}

const allDigits2 = "00010203040506070809" +
	"10111213141516171819" +
	"20212223242526272829" +
	"30313233343536373839" +
	"40414243444546474849" +
	"50515253545556575859" +
	"60616263646566676869" +
	"70717273747576777879" +
	"80818283848586878889" +
	"90919293949596979899"

// digits2 returns the two digits of n, which is below 100.
func digits2(n int) string { return allDigits2[2*n : 2*n+2] }
