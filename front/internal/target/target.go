// Package target checks the paths and hosts of requests and of configured
// addresses.
package target

import (
	"net/netip"
	"strconv"
	"strings"

	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/internal/yamlfile"
)

// CheckPath returns why a path is ambiguous, or "" if it is not. Two parsers could
// read an ambiguous path differently, and routing, limits, log and upstream must
// all see the same one. These are ambiguous:
//
//   - dot segments in any spelling, also with the parameters that some servers cut
//     off ("..;a") and with %2F, which some servers treat as a slash;
//   - backslashes and control bytes;
//   - malformed escapes.
//
// "//" and %2F are allowed. They are an empty segment and a byte in a segment.
func CheckPath(path string) string {
	if isSimple(path) {
		return ""
	}
	segment := 0 // start of the current segment for a server that decodes the path first
	for i := 0; i <= len(path); i++ {
		switch {
		case i == len(path) || path[i] == '/':
			if dots(path[segment:i]) {
				return "the path has a dot segment"
			}
			segment = i + 1
		case path[i] == '\\':
			return "the path has a backslash"
		case path[i] == '#':
			return "the target has a fragment"
		case path[i] == '%':
			if why := checkEscape(path[i:]); why != "" {
				return why
			}
			if code := path[i+1 : i+3]; code == "2F" || code == "2f" {
				if dots(path[segment:i]) {
					return "the path has a dot segment"
				}
				segment = i + 3
			}
		}
	}
	return ""
}

// checkEscape returns why the escape at the beginning of s is not allowed, or "".
func checkEscape(s string) string {
	if len(s) < 3 {
		return "the path has a bad escape"
	}
	hi, ok1 := httpsyntax.Hex(s[1])
	lo, ok2 := httpsyntax.Hex(s[2])
	switch c := hi<<4 | lo; {
	case !ok1 || !ok2:
		return "the path has a bad escape"
	case c < 0x20 || c == 0x7f:
		return "the path has an escaped control byte"
	case c == '\\':
		return "the path has an escaped backslash"
	}
	return ""
}

// isSimple reports whether a path has none of the bytes that make one ambiguous, and no segment that begins with a dot.
// The searches of package strings take a tenth of the time of the loop over the bytes.
func isSimple(path string) bool {
	return strings.IndexByte(path, '%') < 0 && strings.IndexByte(path, '\\') < 0 && strings.IndexByte(path, '#') < 0 &&
		(strings.IndexByte(path, '.') < 0 || path[0] != '.' && !strings.Contains(path, "/."))
}

// dots reports whether a segment is "." or "..", in any spelling.
func dots(segment string) bool {
	if segment == "" || segment[0] != '.' && segment[0] != '%' {
		return false
	}
	segment, _, _ = strings.Cut(segment, ";")
	n := 0
	for segment != "" {
		switch {
		case segment[0] == '.':
			segment = segment[1:]
		case len(segment) >= 3 && (segment[:3] == "%2e" || segment[:3] == "%2E"):
			segment = segment[3:]
		default:
			return false
		}
		n++
	}
	return n == 1 || n == 2
}

// SplitHost splits a Host (RFC 9110, section 7.2) into its name and port, and
// reports whether it is valid: a name of letters, digits, "-", "_" and ".", or an
// IP address, with an optional port. The port is 0 if there is none.
func SplitHost(host string) (name string, port int, ok bool) {
	name = host
	if strings.HasPrefix(host, "[") {
		end := strings.IndexByte(host, ']')
		if end < 0 {
			return "", 0, false
		}
		addr, err := netip.ParseAddr(host[1:end])
		if err != nil || !addr.Is6() || addr.Zone() != "" {
			return "", 0, false
		}
		name = host[1:end]
		if end+1 < len(host) {
			port, ok = parsePort(host[end+1:])
			return name, port, ok
		}
		return name, 0, true
	}
	if colon := strings.IndexByte(host, ':'); colon >= 0 {
		name = host[:colon]
		if port, ok = parsePort(host[colon:]); !ok {
			return "", 0, false
		}
	}
	return name, port, validName(name)
}

// parsePort parses ":" and a port from 1 to 65535.
func parsePort(s string) (int, bool) {
	if len(s) < 2 || len(s) > 6 || s[0] != ':' {
		return 0, false
	}
	port, err := strconv.ParseUint(s[1:], 10, 16)
	return int(port), err == nil && port > 0
}

func validName(name string) bool {
	if name == "" || len(name) > 255 || name[0] == '.' {
		return false
	}
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_':
		case c == '.' && name[i-1] != '.':
		default:
			return false
		}
	}
	return true
}

// CheckPrefix returns why a text cannot be put before a path, or nil.
func CheckPrefix(prefix string) *yamlfile.Refusal {
	const example = "write a path without a slash at its end, as in /api"
	why := CheckPath(prefix)
	switch i := strings.IndexAny(prefix, "{}*?# "); {
	case i >= 0 && strings.IndexByte("{}*", prefix[i]) >= 0:
		return yamlfile.Refuse("use rewrite for a path with parameters, as in rewrite: /new/{id}",
			"a prefix has no parameters").At(i)
	case i >= 0:
		return yamlfile.Refuse(example, "%s is not a path", yamlfile.Quote(prefix))
	case len(prefix) < 2 || prefix[0] != '/' || strings.HasSuffix(prefix, "/") || strings.Contains(prefix, "//"):
		return yamlfile.Refuse(example, "%s is not a prefix", yamlfile.Quote(prefix))
	case why != "":
		return yamlfile.Refuse(example, "%s: %s", yamlfile.Quote(prefix), why)
	}
	return nil
}
