package router

import (
	"fmt"
	"math"
	"strings"
)

// safeDigits is how many digits fit 64 bits whatever they are, with a sign too.
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

// atMost compares two numbers given as digits, the limit without leading zeros.
func atMost(digits, limit string) bool {
	digits = strings.TrimLeft(digits, "0")
	return len(digits) < len(limit) || len(digits) == len(limit) && digits <= limit
}

// Range accepts the decimal integers from min to max, written as [Int] has
// them: without a plus sign, perhaps with leading zeros. It panics when min is
// greater than max.
func Range(min, max int64) Constraint {
	if min > max {
		panic(fmt.Sprintf("router: Range(%d, %d): the least number is greater than the greatest", min, max))
	}
	inRange := func(s string) bool {
		n, ok := integer(s)
		return ok && min <= n && n <= max
	}
	return Constraint{accepts: inRange, examples: rangeExamples(min, max)}
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

// longInteger is integer for so many digits that zeros may lead them or that
// they may be too many.
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
