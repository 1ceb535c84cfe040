package router

import (
	"math/bits"
	"strings"
)

// isIPv4 is one loop with an index because that takes half the time of a
// function for each number, which the compiler does not inline.
func isIPv4(s string) bool {
	i := 0 // where the next byte is
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
			return false // a fourth digit or one behind a zero, too
		}
		i++
	}
}

func isDigit(c byte) bool { return c-'0' <= 9 }

func isHexDigit(c byte) bool { return isDigit(c) || c|0x20-'a' <= 'f'-'a' }

// maxIPv6 is the length of six groups of four digits and an IPv4 address.
const maxIPv6 = 45

// isIPv6 reads groups of up to four digits, eight of them or fewer with one
// "::"; an IPv4 address may stand for the last two.
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
	// Judged as if "0:0" stood there for the IPv4 address.
	return ok && areGroups(colons|1<<(start+1), start+3) && isIPv4(s[start:])
}

// colonsAmongHex returns one bit for each byte of s, the lowest for the
// first, set for a colon; not ok when there is anything but colons and
// hexadecimal digits.
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

// areGroups judges n characters, two or more, that are colons or digits.
func areGroups(colons uint64, n int) bool {
	digits := (1<<n - 1) &^ colons
	fiveDigits := digits & (digits >> 1) & (digits >> 2) & (digits >> 3) & (digits >> 4)
	gaps := colons & (colons >> 1) // the first of two colons
	alone := colons &^ (gaps | gaps<<1)
	groups := bits.OnesCount64(digits &^ (digits << 1))
	switch {
	case fiveDigits != 0 || alone&(1|1<<(n-1)) != 0 || gaps&(gaps-1) != 0: // ":::" has two gaps
		return false
	case gaps == 0:
		return groups == 8
	}
	return groups < 8 // the gap stands for one or more
}
