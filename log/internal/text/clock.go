package text

import "time"

// RFC 3339 has four digits for the year. These are the seconds since 1970 at
// which year 0 begins and year 9999 has ended.
const (
	firstSecond = -62167219200
	afterLast   = 253402300800
)

// A Clock writes instants as RFC 3339 in UTC and remembers the second it wrote
// last, since the instants of one event mostly fall into the same.
type Clock struct {
	second int64
	text   [len("2006-01-02T15:04:05")]byte // all zero: nothing remembered
}

// Append appends t with up to nine digits of the second, trailing zeros
// trimmed. A year that RFC 3339 cannot hold becomes an error text.
func (c *Clock) Append(b []byte, t time.Time) []byte {
	second := t.Unix()
	if second != c.second || c.text[0] == 0 {
		if second < firstSecond || second >= afterLast {
			return append(b, "!ERROR: year outside of 0 to 9999"...)
		}
		c.set(second, t.UTC())
	}
	b = append(b, c.text[:]...)
	return append(appendFraction(b, uint32(t.Nanosecond())), 'Z')
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

// appendFraction appends the point and the digits of a fraction of a second;
// nothing when it is 0.
func appendFraction(b []byte, ns uint32) []byte {
	if ns == 0 {
		return b
	}
	var text [10]byte
	text[0] = '.'
	for i := 8; i > 0; i -= 2 {
		copy(text[i:], digits2(int(ns%100)))
		ns /= 100
	}
	text[1] = '0' + byte(ns)
	n := len(text)
	for text[n-1] == '0' {
		n--
	}
	return append(b, text[:n]...)
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
