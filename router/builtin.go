package router

// The constraints that every table has. The examples of each include what
// the others accept too, so that overlaps are found.
var (
	// UUID accepts 8-4-4-4-12 hexadecimal digits of any version, in any case.
	UUID = Constraint{isUUID, []string{"123e4567-e89b-12d3-a456-426614174000"}}

	// IPv4 accepts four decimal numbers from 0 to 255 without leading zeros.
	IPv4 = Constraint{isIPv4, []string{"192.0.2.1"}}

	// IPv6 accepts an address in any form of RFC 4291, without a zone.
	IPv6 = Constraint{isIPv6, []string{"2001:db8::1", "::ffff:192.0.2.1"}}

	// Int accepts a decimal integer that fits 64 bits, with or without a
	// minus sign: what strconv.ParseInt accepts but for a plus sign.
	Int = Constraint{isInt, []string{"1", "-1", "42", "2024"}}

	// Hex accepts one or more hexadecimal digits in any case.
	Hex = Constraint{isHex, []string{"1", "ff", "FF", "c0ffee"}}

	// Slug accepts lower-case letters and digits with single hyphens between.
	Slug = Constraint{isSlug, []string{"a-b", "a", "1", "some-title"}}

	// Word accepts ASCII letters, digits and underscores.
	Word = Constraint{isWord, []string{"word", "a_b", "A", "1"}}

	// Date accepts a day of the calendar as 2006-01-02.
	Date = Constraint{isDate, []string{"2024-02-29"}}
)

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isLower(c byte) bool { return 'a' <= c && c <= 'z' }

func isHexDigit(c byte) bool {
	return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f'
}

// all reports whether s is not empty and ok holds for each of its bytes.
func all(s string, ok func(byte) bool) bool {
	for i := range len(s) {
		if !ok(s[i]) {
			return false
		}
	}
	return s != ""
}

func isHex(s string) bool { return all(s, isHexDigit) }

func isWord(s string) bool {
	return all(s, func(c byte) bool { return c == '_' || isDigit(c) || isLower(c|0x20) })
}

func isSlug(s string) bool {
	hyphen := true // at the start and behind a hyphen there has to be something else
	for i := range len(s) {
		switch c := s[i]; {
		case isLower(c) || isDigit(c):
			hyphen = false
		case c == '-' && !hyphen:
			hyphen = true
		default:
			return false
		}
	}
	return !hyphen
}

func isUUID(s string) bool {
	return len(s) == 36 && s[8] == '-' && s[13] == '-' && s[18] == '-' && s[23] == '-' &&
		isHex(s[:8]) && isHex(s[9:13]) && isHex(s[14:18]) && isHex(s[19:23]) && isHex(s[24:])
}

func isInt(s string) bool {
	limit := "9223372036854775807"
	if len(s) > 0 && s[0] == '-' {
		s, limit = s[1:], "9223372036854775808"
	}
	if !all(s, isDigit) {
		return false
	}
	for len(s) > 1 && s[0] == '0' {
		s = s[1:]
	}
	return len(s) < len(limit) || len(s) == len(limit) && s <= limit
}

func isIPv4(s string) bool {
	for range 3 {
		n := octet(s)
		if n == 0 || n == len(s) || s[n] != '.' {
			return false
		}
		s = s[n+1:]
	}
	return s != "" && octet(s) == len(s)
}

// octet returns how many bytes at the start of s are a number from 0 to 255
// without leading zeros, 0 for none.
func octet(s string) int {
	n, value := 0, 0
	for n < len(s) && isDigit(s[n]) {
		value = 10*value + int(s[n]-'0')
		if n++; value > 255 || n > 1 && s[0] == '0' {
			return 0
		}
	}
	return n
}

// isIPv6 reads groups of up to four digits, eight of them or fewer with one
// "::"; an IPv4 address may stand for the last two.
func isIPv6(s string) bool {
	groups, gap := 0, false
	if len(s) >= 2 && s[:2] == "::" {
		if s, gap = s[2:], true; s == "" {
			return true
		}
	}
	for groups < 8 {
		n := group(s)
		if n == 0 {
			return false
		}
		if n < len(s) && s[n] == '.' {
			return isIPv4(s) && complete(groups+2, gap)
		}
		groups++
		if n == len(s) {
			return complete(groups, gap)
		}
		if s[n] != ':' || n+1 == len(s) {
			return false
		}
		s = s[n+1:]
		if s[0] != ':' {
			continue
		}
		if gap {
			return false
		}
		if s, gap = s[1:], true; s == "" {
			return complete(groups, gap)
		}
	}
	return false
}

// complete reports whether so many groups of 16 bits are an address: all
// eight, or fewer with a gap that stands for one or more.
func complete(groups int, gap bool) bool {
	return groups == 8 && !gap || groups < 8 && gap
}

// group returns how many bytes at the start of s are one to four hexadecimal
// digits, 0 for none or for more.
func group(s string) int {
	n := 0
	for n < len(s) && isHexDigit(s[n]) {
		n++
	}
	if n > 4 {
		return 0
	}
	return n
}

func isDate(s string) bool {
	if len(s) != 10 || s[4] != '-' || s[7] != '-' || !all(s[:4], isDigit) || !all(s[5:7], isDigit) || !all(s[8:], isDigit) {
		return false
	}
	year, month, day := number(s[:4]), number(s[5:7]), number(s[8:])
	return month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month)
}

// number returns the value of a string of a few digits.
func number(digits string) int {
	n := 0
	for i := range len(digits) {
		n = 10*n + int(digits[i]-'0')
	}
	return n
}

func daysIn(year, month int) int {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}
