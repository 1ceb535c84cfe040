package router

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// canonicalHost returns the value of a Host field in the form of patterns: lower case,
// in ASCII, without port, brackets and final dot. It returns "" for a host that no
// pattern can name. It allocates only for capital letters and Unicode.
//
// canonicalHost is idempotent.
func canonicalHost(host string) string {
	if isCanonicalName(host) {
		return host
	}
	name := host
	if colon := strings.IndexByte(host, ':'); colon >= 0 {
		if strings.IndexByte(host[colon+1:], ':') >= 0 {
			return canonicalAddress(host)
		}
		name = host[:colon]
	}
	if isCanonicalName(name) {
		return name
	}
	return canonicalName(name)
}

// isCanonicalName reports whether a host needs no change: no capital letter, colon,
// bracket or Unicode, and no dot at the end.
func isCanonicalName(name string) bool {
	n := len(name)
	switch {
	case n == 0:
		return true
	case name[n-1] == '.':
		return false
	case n < 8:
		return isCanonicalWord(fewBytes(name))
	}
	last := word(name, n-8)
	for len(name) > 8 {
		if !isCanonicalWord(word(name, 0)) {
			return false
		}
		name = name[8:]
	}
	return isCanonicalWord(last)
}

// isCanonicalWord checks one range of bytes: from the colon over the capital letters to
// the bracket. The few other characters in it take the slower way to the same result.
func isCanonicalWord(x uint64) bool { return (between(x, ':', '[')|x)&allMarks == 0 }

// canonicalAddress is canonicalHost for a host with several colons: an IPv6 address.
// Addresses are compared as text.
func canonicalAddress(host string) string {
	if host[0] == '[' {
		end := strings.IndexByte(host, ']')
		if end < 0 || end+1 < len(host) && host[end+1] != ':' {
			return ""
		}
		host = host[1:end]
	}
	if strings.Count(host, ":") < 2 || strings.IndexByte(host, '[') >= 0 || !isASCII(host) {
		return ""
	}
	return strings.ToLower(host)
}

// canonicalName is canonicalHost for a name without a port.
func canonicalName(name string) string {
	name = strings.TrimSuffix(name, ".")
	switch {
	case strings.HasSuffix(name, ".") || strings.IndexByte(name, '[') >= 0:
		return ""
	case isASCII(name):
		return strings.ToLower(name)
	}
	name, err := asciiName(name)
	if err != nil {
		return ""
	}
	return name
}

// maxLabel is the limit of DNS for a label, and maxName is more than any name has in
// UTF-8.
const (
	maxLabel = 63
	maxName  = 253 * utf8.UTFMax
)

// asciiName returns a name of letters, marks, digits, - and _ with each label that is
// not ASCII as an A-label (RFC 5890): bücher.example becomes xn--bcher-kva.example.
//
// It converts to lower case, but omits the rest of the mapping that browsers apply (UTS
// 46): it does not compose characters (u and a combining diaeresis are not ü), does not
// replace compatibility characters (full-width letters, ligatures), and does not check
// scripts and directions. Names that need more have to be written with A-labels.
func asciiName(name string) (string, error) {
	if len(name) > maxName {
		return "", fmt.Errorf("the name is too long")
	}
	var ascii []byte
	for _, label := range strings.Split(name, ".") {
		var err error
		if ascii, err = appendLabel(ascii, label); err != nil {
			return "", err
		}
		ascii = append(ascii, '.')
	}
	return string(ascii[:len(ascii)-1]), nil
}

func appendLabel(dst []byte, label string) ([]byte, error) {
	lower := make([]rune, 0, maxLabel)
	for _, c := range label {
		l, ok := lowerInHost(c)
		if !ok {
			return nil, fmt.Errorf("%q is not allowed in a host", c)
		}
		if len(lower) == maxLabel {
			return nil, fmt.Errorf("the label %q is too long", label)
		}
		lower = append(lower, l)
	}
	start := len(dst)
	if isASCII(label) {
		dst = append(dst, string(lower)...)
	} else if strings.HasPrefix(string(lower), "xn--") {
		return nil, fmt.Errorf("the label %q is a partial A-label", label)
	} else {
		dst = appendPunycode(append(dst, "xn--"...), lower)
	}
	if len(dst)-start > maxLabel {
		return nil, fmt.Errorf("the label %q is too long", label)
	}
	return dst, nil
}

// lowerInHost returns the lower case of a character and reports whether it is allowed
// in a label. The two characters whose lower case is an ASCII letter are not allowed: İ
// (i with a dot above) and the Kelvin sign. They would make two different names equal.
func lowerInHost(c rune) (rune, bool) {
	if c < utf8.RuneSelf {
		return unicode.ToLower(c), c == '-' || c == '_' || unicode.IsLetter(c) || unicode.IsDigit(c)
	}
	lower := unicode.ToLower(c)
	return lower, lower >= utf8.RuneSelf && (unicode.IsLetter(c) || unicode.IsMark(c) || unicode.IsDigit(c))
}

// canonicalPatternHost returns the host of a pattern, which begins at the given offset,
// in the form of canonicalHost. wildcard is the text before it, such as "*.", for hints.
func canonicalPatternHost(wildcard, host string, at int) (string, *Mistake) {
	for i, c := range host {
		if _, ok := lowerInHost(c); !ok && (c >= utf8.RuneSelf || !strings.ContainsRune(".:[]", c)) {
			_, size := utf8.DecodeRuneInString(host[i:])
			return "", syntaxMistake(at+i, "%q is not allowed in a host", host[i:i+size]).
				hint("use letters, digits, - and _, or write the name as an A-label: xn--")
		}
	}
	canonical := canonicalHost(host)
	switch {
	case canonical == "" && host != "":
		return "", notAHost(host, at)
	case strings.Count(host, ":") == 1 || strings.Contains(host, "]:") || strings.HasSuffix(host, "."):
		if strings.HasPrefix(host, "[") {
			canonical = "[" + canonical + "]"
		}
		return "", syntaxMistake(at, "the host %q has a port or a final dot", host).
			hint("write %s: it is matched on every port", wildcard+canonical)
	}
	return canonical, nil
}

func notAHost(host string, at int) *Mistake {
	if _, err := asciiName(host); err != nil && !isASCII(host) {
		return syntaxMistake(at, "%q is not a host: %v", host, err)
	}
	return syntaxMistake(at, "%q is not a host: neither a name nor an IPv6 address in brackets", host)
}
