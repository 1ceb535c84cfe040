package router

import (
	"maps"
	"slices"
)

// The built-in constraints. Their examples include segments that the other ones accept
// too, to detect overlaps.
var (
	// UUID accepts 8-4-4-4-12 hexadecimal digits of any version, in any case.
	UUID = Constraint{accepts: isUUID, examples: []string{"123e4567-e89b-12d3-a456-426614174000"}}

	// IPv4 accepts four decimal numbers from 0 to 255 without leading zeros.
	IPv4 = Constraint{accepts: isIPv4, examples: []string{"192.0.2.1"}}

	// IPv6 accepts an address in any form of RFC 4291, without a zone.
	IPv6 = Constraint{accepts: isIPv6, examples: []string{"2001:db8::1", "::ffff:192.0.2.1"}}

	// Int accepts a decimal integer that fits in 64 bits, with or without a minus sign:
	// like strconv.ParseInt, but without a plus sign.
	Int = Constraint{accepts: isInt, examples: []string{"1", "-1", "42", "2024"}}

	// Uint accepts a decimal integer without a sign that fits in 64 bits, like
	// strconv.ParseUint.
	Uint = Constraint{accepts: isUint, examples: []string{"1", "42", "2024"}}

	// Hex accepts one or more hexadecimal digits in any case.
	Hex = Constraint{accepts: isHex, examples: []string{"1", "ff", "FF", "c0ffee", "42"}}

	// Slug accepts lower-case letters and digits with single hyphens between them.
	Slug = Constraint{accepts: isSlug, examples: []string{"a-b", "a", "1", "some-title", "42"}}

	// Word accepts ASCII letters, digits and underscores.
	Word = Constraint{accepts: isWord, examples: []string{"word", "a_b", "A", "1", "42"}}

	// Date accepts a calendar day in the form 2006-01-02.
	Date = Constraint{accepts: isDate, examples: []string{"2024-02-29"}}

	// Base64URL accepts the encoding of one or more bytes by RFC 4648, section 5,
	// without padding: letters, digits, - and _, in a length that an encoding can have.
	// Padding is redundant, and = has to be escaped in many places. Unused bits of the
	// last character may have any value, as in base64.RawURLEncoding, so two segments
	// can encode the same bytes.
	Base64URL = Constraint{accepts: isBase64URL, examples: []string{"aGVsbG8", "-_8", "ff", "42", "word"}}
)

// Constraints maps names in patterns, such as {id:uuid}, to constraints. The names
// uuid, ipv4, ipv6, int, uint, hex, slug, word, date and base64url are always defined.
// An entry with one of these names replaces the built-in constraint.
type Constraints map[string]Constraint

// builtin is read-only.
var builtin = Constraints{
	"uuid": UUID, "ipv4": IPv4, "ipv6": IPv6, "int": Int, "uint": Uint,
	"hex": Hex, "slug": Slug, "word": Word, "date": Date, "base64url": Base64URL,
}

func (cs Constraints) find(name string) (Constraint, bool) {
	if c, ok := cs[name]; ok {
		return c, true
	}
	c, ok := builtin[name]
	return c, ok
}

// names returns the names of all constraints, including the built-in ones.
func (cs Constraints) names() []string {
	all := maps.Clone(builtin)
	maps.Copy(all, cs)
	return slices.Sorted(maps.Keys(all))
}
