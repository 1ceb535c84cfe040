package router

// The constraints that every table has. The examples of each include what
// the others accept too, so that overlaps are found.
var (
	// UUID accepts 8-4-4-4-12 hexadecimal digits of any version, in any case.
	UUID = Constraint{accepts: isUUID, examples: []string{"123e4567-e89b-12d3-a456-426614174000"}}

	// IPv4 accepts four decimal numbers from 0 to 255 without leading zeros.
	IPv4 = Constraint{accepts: isIPv4, examples: []string{"192.0.2.1"}}

	// IPv6 accepts an address in any form of RFC 4291, without a zone.
	IPv6 = Constraint{accepts: isIPv6, examples: []string{"2001:db8::1", "::ffff:192.0.2.1"}}

	// Int accepts a decimal integer that fits 64 bits, with or without a
	// minus sign: what strconv.ParseInt accepts but for a plus sign.
	Int = Constraint{accepts: isInt, examples: []string{"1", "-1", "42", "2024"}}

	// Uint accepts a decimal integer that fits 64 bits, without a sign: what
	// strconv.ParseUint accepts.
	Uint = Constraint{accepts: isUint, examples: []string{"1", "42", "2024"}}

	// Hex accepts one or more hexadecimal digits in any case.
	Hex = Constraint{accepts: isHex, examples: []string{"1", "ff", "FF", "c0ffee", "42"}}

	// Slug accepts lower-case letters and digits with single hyphens between.
	Slug = Constraint{accepts: isSlug, examples: []string{"a-b", "a", "1", "some-title", "42"}}

	// Word accepts ASCII letters, digits and underscores.
	Word = Constraint{accepts: isWord, examples: []string{"word", "a_b", "A", "1", "42"}}

	// Date accepts a day of the calendar as 2006-01-02.
	Date = Constraint{accepts: isDate, examples: []string{"2024-02-29"}}

	// Base64URL accepts what RFC 4648, section 5, makes of one or more bytes:
	// letters, digits, - and _, in a length that bytes can have. Padding is
	// refused: = has to be escaped in many places, and the length says as
	// much. Bits that the last character has too many may be anything, as
	// they may for base64.RawURLEncoding; two segments can stand for the same
	// bytes.
	Base64URL = Constraint{accepts: isBase64URL, examples: []string{"aGVsbG8", "-_8", "ff", "42", "word"}}
)

var (
	digits    = newClass(0, '0', '9', '0', '0')
	hexDigits = newClass(0x20, 'a', 'f', '0', '0')
	wordBytes = newClass(0x20, 'a', 'z', '_', '_')
	slugBytes = newClass(0, 'a', 'z', '-', '-')
	base64URL = newClass(0x20, 'a', 'z', '-', '_')
)

func isHex(s string) bool { return hexDigits.hasAll(s) }

func isWord(s string) bool { return wordBytes.hasAll(s) }

// isBase64URL knows that three bytes make four characters, and that a single
// character behind those is too few for a byte.
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

// isSlug looks for a hyphen that follows another or stands at an end. Each
// word begins with the last byte of the one before, so that no pair is missed.
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
