package text

import (
	"encoding/binary"
	"math"
	"math/bits"
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
	from := len(*b)
	reserve(b, longestInt)
	buf := (*[longestInt]byte)((*b)[from : from+longestInt])
	*b = (*b)[:from+writeInt(buf, n)]
}

// PutUint appends n in decimal. Unlike strconv.AppendUint, it does not copy the
// digits from another buffer.
func PutUint(b *[]byte, n uint64) {
	from := len(*b)
	reserve(b, longestInt)
	buf := (*[longestInt]byte)((*b)[from : from+longestInt])
	*b = (*b)[:from+writeUint(buf, 0, n)]
}

// longestInt is the length of the longest number, and of the eight bytes that
// are written in place of its last few digits.
const longestInt = len("-18446744073709551615") + 8

// writeInt writes n in decimal and returns the number of bytes.
func writeInt(buf *[longestInt]byte, n int64) int {
	switch {
	case 0 <= n && n < 1e4:
		return writeSmall(buf, 0, uint32(n))
	case n < 0:
		buf[0] = '-'
		return writeUint(buf, 1, -uint64(n))
	}
	return writeUint(buf, 0, uint64(n))
}

// writeUint writes n in decimal at offset from, and returns the end offset.
func writeUint(buf *[longestInt]byte, from int, n uint64) (end int) {
	if n < 1e4 {
		return writeSmall(buf, from, uint32(n))
	}
	if n < 1e8 {
		digits := countDigits(n)
		binary.LittleEndian.PutUint64(buf[from:], eightDigits(uint32(n))>>(64-8*digits))
		return from + digits
	}
	end = writeUint(buf, from, n/1e8)
	binary.LittleEndian.PutUint64(buf[end:], eightDigits(uint32(n%1e8)))
	return end + 8
}

// writeSmall is writeUint for n below 10^4.
func writeSmall(buf *[longestInt]byte, from int, n uint32) (end int) {
	if n < 10 {
		buf[from] = '0' + byte(n)
		return from + 1
	}
	high, low := n/100*2, n%100*2
	if n >= 1000 {
		buf[from], buf[from+1] = allDigits2[high], allDigits2[high+1]
		from += 2
	} else if n >= 100 {
		buf[from] = allDigits2[high+1]
		from++
	}
	buf[from], buf[from+1] = allDigits2[low], allDigits2[low+1]
	return from + 2
}

// eightDigits returns the decimal digits of n, which must be below 10^8, with
// leading zeros. The first digit is the lowest byte. It divides in two lanes,
// then in four, then in eight. A multiplication by 2^k/d, rounded up, and a
// shift by k are exact for the few values of each lane.
func eightDigits(n uint32) uint64 {
	fours := uint64(n/1e4) | uint64(n%1e4)<<32
	hundreds := fours * 10486 >> 20 & 0x0000007F_0000007F
	twos := hundreds | (fours-hundreds*100)<<16
	tens := twos * 103 >> 10 & 0x000F_000F_000F_000F
	ones := tens | (twos-tens*10)<<8
	return ones | 0x30303030_30303030
}

// countDigits returns the number of decimal digits of n. A number of d bits has
// d*log10(2) digits, rounded down, or one more; 0 has one digit.
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

// put2 writes the two digits of n, which must be below 100.
func put2(b []byte, n uint32) {
	_ = b[1]
	b[0], b[1] = allDigits2[2*n], allDigits2[2*n+1]
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

// digits2 returns the two digits of n, which must be below 100.
func digits2(n int) string { return allDigits2[2*n : 2*n+2] }

// AppendFloat appends f as encoding/json and ECMAScript do; bits is 32 or 64.
// NaN and infinities become NaN, +Inf or -Inf, which the caller must quote: see
// [IsNumber].
//
// [PutShort] handles most floats in a third of the time.
func AppendFloat(b []byte, f float64, bits int) []byte {
	if !needsExponent(math.Abs(f), bits) {
		return strconv.AppendFloat(b, f, 'f', -1, bits) // also NaN and the infinities
	}
	b = strconv.AppendFloat(b, f, 'e', -1, bits)
	// strconv pads the exponent to two digits, ECMAScript does not: e-09 is e-9.
	if n := len(b); n >= 4 && b[n-4] == 'e' && b[n-3] == '-' && b[n-2] == '0' {
		b[n-2] = b[n-1]
		b = b[:n-1]
	}
	return b
}

// IsNumber reports whether JSON can express f as a number.
func IsNumber(f float64) bool { return f-f == 0 }

// needsExponent compares in the width of the float, because the limits differ.
func needsExponent(abs float64, bits int) bool {
	if abs == 0 || !IsNumber(abs) {
		return false
	}
	if bits == 32 {
		return float32(abs) < 1e-6 || float32(abs) >= 1e21
	}
	return abs < 1e-6 || abs >= 1e21
}

// PutShort appends f as [AppendFloat] does if it has at most four decimals and
// eleven digits before them, like most logged floats. It reports whether it
// has.
//
// In that case f is n/10000 for an integer n below 10^15. Both are exact as
// floats, and a division is rounded once, like parsing. So the decimal n/10000
// parses as f. Only one decimal of at most fifteen digits does, so it is the
// shortest.
func PutShort(b *[]byte, f float64) bool {
	const limit = 1e11
	if !(f > -limit && f < limit) || f == 0 && math.Signbit(f) {
		return false
	}
	n := int64(f * 1e4)
	if float64(n)/1e4 != f {
		return false
	}
	if n < 0 {
		*b, n = append(*b, '-'), -n
	}
	PutUint(b, uint64(n)/1e4)
	if decimals := uint32(uint64(n) % 1e4); decimals != 0 {
		putDecimals(b, decimals)
	}
	return true
}

// putDecimals appends a point and the four digits of n, without trailing zeros.
func putDecimals(b *[]byte, n uint32) {
	digits := 4
	for n%10 == 0 {
		n /= 10
		digits--
	}
	var buf [8]byte
	binary.LittleEndian.PutUint64(buf[:], eightDigits(n))
	*b = append(append(*b, '.'), buf[8-digits:]...)
}
