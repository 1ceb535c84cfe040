package router

// isDate looks at the eight digits as one word: YYYYMMDD.
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

// isLeap takes a year as its century and its year therein.
func isLeap(century, year int) bool {
	if year == 0 {
		return century%4 == 0
	}
	return year%4 == 0
}

// daysIn has the days of each month, but for the 29th of February.
var daysIn = [13]int{0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}
