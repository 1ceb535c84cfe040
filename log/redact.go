package log

import (
	"fmt"
	"slices"
	"strings"
)

// redacted is written in place of a secret value.
const redacted = "[redacted]"

// A redactor has the keys whose values are secret. A nil redactor has none.
type redactor struct {
	keys    []string
	lengths uint64 // bit n: a key has n bytes; bit 63: a key has 63 or more
}

// CheckRedactKey returns an error if a key of [Options.Redact] can match
// nothing, because it is empty or a path or a pattern, as in other libraries. A
// program that reads its keys from elsewhere calls it before [New].
func CheckRedactKey(key string) error {
	if key != "" && !strings.ContainsAny(key, "*.[]") {
		return nil
	}
	hint := "write the name of a key, such as password"
	if name := lastName(strings.TrimRight(key, ".[]*")); name != "" {
		hint = fmt.Sprintf("write %q", strings.Trim(name, `"'*`))
	}
	return fmt.Errorf("redact: %q is not the name of a key: %s, which matches at any depth", key, hint)
}

// lastName returns the last part of a key with dots or brackets, such as token
// of user.token, user[token] and user[token][]. Others are unchanged.
func lastName(key string) string {
	if strings.IndexByte(key, '.') < 0 && strings.IndexByte(key, '[') < 0 {
		return key
	}
	key = strings.TrimRight(key, "[]")
	return key[strings.LastIndexAny(key, ".[")+1:]
}

// newRedactor panics if CheckRedactKey refuses a key.
func newRedactor(keys []string) *redactor {
	if len(keys) == 0 {
		return nil
	}
	r := &redactor{keys: slices.Clone(keys)}
	for _, key := range keys {
		if err := CheckRedactKey(key); err != nil {
			panic("log: " + err.Error())
		}
		r.lengths |= lengthBit(len(key))
	}
	return r
}

func lengthBit(n int) uint64 { return 1 << min(n, 63) }

// redacts reports whether values of the key are secret.
func (r *redactor) redacts(key string) bool {
	if r == nil {
		return false
	}
	if key = lastName(key); r.lengths&lengthBit(len(key)) == 0 {
		return false
	}
	for _, secret := range r.keys {
		if equalFold(key, secret) {
			return true
		}
	}
	return false
}

// equalFold compares two keys. Only ASCII letters are folded, so equal keys
// have equal lengths in bytes.
func equalFold(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if toLower(a[i]) != toLower(b[i]) {
			return false
		}
	}
	return true
}

func toLower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c |= 0x20
	}
	return c
}

// redactsEncoded is redacts for a name with URL escapes, which may be encoded
// twice.
func (r *redactor) redactsEncoded(name string) bool {
	var scratch [256]byte
	decoded := append(scratch[:0], name...)
	for range 2 {
		if r.redacts(string(decoded)) {
			return true
		}
		decoded = unescape(decoded)
	}
	return r.redacts(string(decoded))
}

// unescape decodes %xx and + in place. Invalid escapes are unchanged.
func unescape(b []byte) []byte {
	out := b[:0]
	for i := 0; i < len(b); i++ {
		c := b[i]
		if c == '+' {
			c = ' '
		}
		if c == '%' && i+2 < len(b) {
			if high, low := fromHex(b[i+1]), fromHex(b[i+2]); high|low < 16 {
				c = high<<4 | low
				i += 2
			}
		}
		out = append(out, c)
	}
	return out
}

// fromHex returns the value of a hexadecimal digit, or 255 for other
// characters.
func fromHex(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10
	}
	return 255
}
