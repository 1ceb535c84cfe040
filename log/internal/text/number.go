package text

import (
	"math"
	"math/bits"
	"slices"
	"strconv"
)

// AppendInt appends n in decimal.
func AppendInt(b []byte, n int64) []byte {
	PutInt(&b, n)
	return b
}

// AppendUint appends n in decimal.
func AppendUint(b []byte, n uint64) []byte {
	PutUint(&b, n)
	return b
}

// PutInt appends n in decimal.
func PutInt(b *[]byte, n int64) {
	if n < 0 {
		*b = append(*b, '-')
		n = -n // the least stays what it is, and is right as a uint64
	}
	PutUint(b, uint64(n))
}

// PutUint appends n in decimal: strconv.AppendUint without the copy from a
// buffer of its own.
func PutUint(b *[]byte, n uint64) {
	const longest = len("18446744073709551615")
	from := len(*b)
	if cap(*b)-from < longest {
		*b = slices.Grow(*b, longest)
	}
	room := (*[longest]byte)((*b)[from : from+longest])
	digits := countDigits(n)
	i := digits
	for n >= 10 {
		rest := n / 100
		pair := (n - rest*100) * 2
		i -= 2
		room[i], room[i+1] = allDigits2[pair], allDigits2[pair+1]
		n = rest
	}
	if i > 0 {
		room[0] = '0' + byte(n)
	}
	*b = (*b)[:from+digits]
}

// countDigits returns how many decimal digits n has. A number of d bits has
// d*log10(2) digits, rounded down, or one more; 0 counts as 1.
func countDigits(n uint64) int {
	digits := bits.Len64(n|1) * 1233 >> 12
	if n|1 >= powersOf10[digits] {
		digits++
	}
	return digits
}

var powersOf10 = [...]uint64{
	1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9,
	1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
}

// AppendFloat appends f as encoding/json does, which is as ECMAScript does;
// bits is 32 or 64. What JSON has no number for becomes NaN, +Inf or -Inf,
// which the caller has to quote: see [IsNumber].
func AppendFloat(b []byte, f float64, bits int) []byte {
	if bits == 64 {
		if short, ok := appendShort(b, f); ok {
			return short
		}
	}
	if !needsExponent(math.Abs(f), bits) {
		return strconv.AppendFloat(b, f, 'f', -1, bits) // NaN and the infinities, too
	}
	b = strconv.AppendFloat(b, f, 'e', -1, bits)
	// strconv pads the exponent to two digits, ECMAScript does not: e-09 is e-9.
	if n := len(b); n >= 4 && b[n-4] == 'e' && b[n-3] == '-' && b[n-2] == '0' {
		b[n-2] = b[n-1]
		b = b[:n-1]
	}
	return b
}

// IsNumber reports whether JSON has a number for f.
func IsNumber(f float64) bool { return f-f == 0 }

// needsExponent compares in the float's own width, where the cut-offs differ.
func needsExponent(abs float64, bits int) bool {
	if abs == 0 || !IsNumber(abs) {
		return false
	}
	if bits == 32 {
		return float32(abs) < 1e-6 || float32(abs) >= 1e21
	}
	return abs < 1e-6 || abs >= 1e21
}

// appendShort appends f when it has at most four decimals and eleven digits
// before them, as most of what is logged; ok tells whether.
//
// Then it is n/10000 for a whole n below 10^15. Such an n and 10000 are exact
// as floats, and a division is rounded once, as parsing is: the decimal
// n/10000 reads back as f. Of decimals of at most fifteen digits only one does,
// so it is the shortest.
func appendShort(b []byte, f float64) (short []byte, ok bool) {
	const limit = 1e11 // n has at most 15 digits
	if !(f > -limit && f < limit) || f == 0 && math.Signbit(f) {
		return b, false
	}
	scaled := f * 1e4
	n := int64(scaled)
	if float64(n)/1e4 != f {
		return b, false
	}
	if n < 0 {
		b, n = append(b, '-'), -n
	}
	b = AppendUint(b, uint64(n)/1e4)
	if decimals := n % 1e4; decimals != 0 {
		high, low := digits2(int(decimals/100)), digits2(int(decimals%100))
		b = append(b, '.', high[0], high[1], low[0], low[1])
		for b[len(b)-1] == '0' {
			b = b[:len(b)-1]
		}
	}
	return b, true
}
