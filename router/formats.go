package router

import (
	"math"
	"math/bits"
	"strings"
)

func isHex(s string) bool { return hexDigits.hasAll(s) }

func isWord(s string) bool { return wordBytes.hasAll(s) }

// isBase64URL: three bytes are four characters, and a single remaining character is too
// short for a byte.
func isBase64URL(s string) bool { return len(s)%4 != 1 && base64URL.hasAll(s) }

func isUUID(s string) bool {
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return false
	}
	marks := hexDigits.marks(word(s, 0)) &
		hexDigits.marks(fourBytes(s[9:])|fourBytes(s[14:])<<32) &
		hexDigits.marks(fourBytes(s[19:])|fourBytes(s[24:])<<32) &
		hexDigits.marks(word(s, 28))
	return marks == allMarks
}

// isSlug rejects hyphens at the ends and pairs of hyphens. Each word of eight bytes
// begins with the last byte of the previous one, so no pair is missed.
func isSlug(s string) bool {
	n := len(s)
	if n == 0 || s[0] == '-' || s[n-1] == '-' {
		return false
	}
	if n < 8 {
		return isSlugWord(fewBytes(s))
	}
	last := word(s, n-8)
	for len(s) > 8 {
		if !isSlugWord(word(s, 0)) {
			return false
		}
		s = s[7:]
	}
	return isSlugWord(last)
}

func isSlugWord(x uint64) bool {
	hyphens := equal(x, '-')
	return slugBytes.marks(x) == allMarks && hyphens&(hyphens<<8)&allMarks == 0
}

var (
	digits    = newClass(0, '0', '9', '0', '0')
	hexDigits = newClass(0x20, 'a', 'f', '0', '0')
	wordBytes = newClass(0x20, 'a', 'z', '_', '_')
	slugBytes = newClass(0, 'a', 'z', '-', '-')
	base64URL = newClass(0x20, 'a', 'z', '-', '_')
)

// safeDigits is the number of digits that always fit in 64 bits, also with a sign.
const safeDigits = 18

func isUint(s string) bool {
	return digits.hasAll(s) && (len(s) <= safeDigits || atMost(s, "18446744073709551615"))
}

func isInt(s string) bool {
	if s != "" && s[0] == '-' {
		s = s[1:]
		return digits.hasAll(s) && (len(s) <= safeDigits || atMost(s, "9223372036854775808"))
	}
	return digits.hasAll(s) && (len(s) <= safeDigits || atMost(s, "9223372036854775807"))
}

// atMost reports whether a number is at most the limit, both as digits, the limit
// without leading zeros.
func atMost(digits, limit string) bool {
	digits = strings.TrimLeft(digits, "0")
	return len(digits) < len(limit) || len(digits) == len(limit) && digits <= limit
}

// integer returns the value of a segment that isInt accepts.
func integer(s string) (n int64, ok bool) {
	negative := s != "" && s[0] == '-'
	if negative {
		s = s[1:]
	}
	if len(s) > safeDigits {
		return longInteger(s, negative)
	}
	for i := range len(s) {
		digit := s[i] - '0'
		if digit > 9 {
			return 0, false
		}
		n = 10*n + int64(digit)
	}
	if negative {
		n = -n
	}
	return n, s != ""
}

// longInteger is integer for more digits, which may have leading zeros or be too many.
func longInteger(s string, negative bool) (int64, bool) {
	s = strings.TrimLeft(s, "0")
	if len(s) > safeDigits+1 || s != "" && !digits.hasAll(s) {
		return 0, false
	}
	var n uint64 // 19 digits fit
	for i := range len(s) {
		n = 10*n + uint64(s[i]-'0')
	}
	if negative {
		return -int64(n), n <= -math.MinInt64
	}
	return int64(n), n <= math.MaxInt64
}

// isDate checks the eight digits YYYYMMDD as one word.
func isDate(s string) bool {
	if len(s) != 10 || s[4] != '-' || s[7] != '-' {
		return false
	}
	x := fourBytes(s) | uint64(s[5])<<32 | uint64(s[6])<<40 | uint64(s[8])<<48 | uint64(s[9])<<56
	if digits.marks(x) != allMarks {
		return false
	}
	month, day := twoDigits(s[5:7]), twoDigits(s[8:])
	if month == 2 && day == 29 {
		return isLeap(twoDigits(s[:2]), twoDigits(s[2:4]))
	}
	return month >= 1 && month <= 12 && day >= 1 && day <= daysIn[month]
}

func twoDigits(s string) int { return 10*int(s[0]-'0') + int(s[1]-'0') }

// isLeap takes the century of a year and the year within the century.
func isLeap(century, year int) bool {
	if year == 0 {
		return century%4 == 0
	}
	return year%4 == 0
}

// daysIn has the number of days of each month, without the 29th of February.
var daysIn = [13]int{0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}

// isIPv4 is a single loop because a function for each number, which the compiler does
// not inline, takes twice as long.
func isIPv4(s string) bool {
	i := 0 // index of the next byte
	for numbers := 1; ; numbers++ {
		if i == len(s) || !isDigit(s[i]) {
			return false
		}
		value := int(s[i] - '0')
		i++
		if i < len(s) && isDigit(s[i]) && value > 0 {
			value = 10*value + int(s[i]-'0')
			i++
			if i < len(s) && isDigit(s[i]) {
				value = 10*value + int(s[i]-'0')
				i++
			}
		}
		if numbers == 4 {
			return value <= 255 && i == len(s)
		}
		if value > 255 || i == len(s) || s[i] != '.' {
			return false // also for a fourth digit, or a digit after a leading zero
		}
		i++
	}
}

// maxIPv6 is the length of six groups of four digits and an IPv4 address.
const maxIPv6 = 45

// isIPv6 accepts groups of up to four digits: eight groups, or fewer with one "::". An
// IPv4 address may replace the last two groups.
func isIPv6(s string) bool {
	if len(s) < 2 || len(s) > maxIPv6 {
		return false
	}
	dot := strings.IndexByte(s, '.')
	if dot < 0 {
		colons, ok := colonsAmongHex(s)
		return ok && areGroups(colons, len(s))
	}
	start := strings.LastIndexByte(s[:dot], ':') + 1
	colons, ok := colonsAmongHex(s[:start])
	// Checked as if the IPv4 address were "0:0".
	return ok && areGroups(colons|1<<(start+1), start+3) && isIPv4(s[start:])
}

// colonsAmongHex returns one bit for each byte of s, the lowest bit for the first byte,
// set for a colon. ok is false if s contains anything except colons and hexadecimal
// digits.
func colonsAmongHex(s string) (colons uint64, ok bool) {
	for at := 0; at < len(s); at += 8 {
		var x uint64
		if at+8 <= len(s) {
			x = word(s, at)
		} else {
			x = fewBytes(s[at:])
		}
		marks := equal(x, ':') &^ x & allMarks
		if marks|hexDigits.marks(x) != allMarks {
			return 0, false
		}
		colons |= bitsOf(marks) << at
	}
	return colons, true
}

// areGroups reports whether n characters, at least two, that are colons or digits form
// the groups of an IPv6 address.
func areGroups(colons uint64, n int) bool {
	digits := (1<<n - 1) &^ colons
	fiveDigits := digits & (digits >> 1) & (digits >> 2) & (digits >> 3) & (digits >> 4)
	gaps := colons & (colons >> 1) // the first colon of each pair
	alone := colons &^ (gaps | gaps<<1)
	groups := bits.OnesCount64(digits &^ (digits << 1))
	switch {
	case fiveDigits != 0 || alone&(1|1<<(n-1)) != 0 || gaps&(gaps-1) != 0: // ":::" has two gaps
		return false
	case gaps == 0:
		return groups == 8
	}
	return groups < 8 // the gap replaces one or more groups
}
