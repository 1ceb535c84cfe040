package router

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
