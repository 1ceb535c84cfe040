package httpsyntax

import "strings"

// MaxQuality is the weight of a value without one, 1.000.
const MaxQuality = 1000

// CodingQuality returns the weight of a content coding in an Accept-Encoding field (RFC 9110,
// sections 12.4.2 and 12.5.3), in thousandths. It is 0 if the client does not accept the
// coding. The coding is in lower case. A malformed element of the field is skipped.
func CodingQuality(acceptEncoding, coding string) int {
	others := 0
	for rest, more := acceptEncoding, true; more; {
		var element string
		element, rest, more = strings.Cut(rest, ",")
		name, parameter, _ := strings.Cut(element, ";")
		switch name = TrimSpace(name); {
		case EqualFold(name, coding), coding == "gzip" && EqualFold(name, "x-gzip"):
			if quality, ok := parseQuality(parameter); ok {
				return quality
			}
		case name == "*":
			if quality, ok := parseQuality(parameter); ok {
				others = quality
			}
		}
	}
	return others
}

// MediaQuality returns the weight of a media type in an Accept field (RFC 9110, section 12.5.1),
// in thousandths. It is 0 if the client does not accept the type. The most specific of several
// ranges applies. Ranges with parameters other than the weight, and malformed ones, are skipped.
func MediaQuality(accept, mediaType string) int {
	kind, _, _ := strings.Cut(mediaType, "/")
	best, specific := 0, 0
	for rest, more := accept, true; more; {
		var element string
		element, rest, more = strings.Cut(rest, ",")
		name, parameter, _ := strings.Cut(element, ";")
		name = TrimSpace(name)
		level := 0
		switch {
		case EqualFold(name, mediaType):
			level = 3
		case len(name) == len(kind)+2 && name[len(kind):] == "/*" && EqualFold(name[:len(kind)], kind):
			level = 2
		case name == "*/*":
			level = 1
		}
		if quality, ok := parseQuality(parameter); ok && level > specific {
			best, specific = quality, level
		}
	}
	return best
}

// parseQuality parses a weight without its semicolon, as in "q=0.5". An empty text is
// MaxQuality.
func parseQuality(s string) (quality int, ok bool) {
	if s = TrimSpace(s); s == "" {
		return MaxQuality, true
	}
	if len(s) < len("q=0") || len(s) > len("q=0.000") || s[0]|0x20 != 'q' || s[1] != '=' || s[2] != '0' && s[2] != '1' ||
		len(s) > len("q=0") && s[3] != '.' {
		return 0, false
	}
	quality = int(s[2]-'0') * MaxQuality
	for i, unit := len("q=0."), MaxQuality/10; i < len(s); i, unit = i+1, unit/10 {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		quality += int(s[i]-'0') * unit
	}
	return quality, quality <= MaxQuality
}
