package replay

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/weirhq/weir/internal/httpsyntax"
)

// maxLine limits a line, in bytes.
const maxLine = 1 << 20

// parse reads a line. It recognizes the format.
func parse(line []byte) (entry, error) {
	trimmed := bytes.TrimSpace(line)
	switch {
	case len(line) > maxLine:
		return entry{}, fmt.Errorf("the line has more than %d bytes", maxLine)
	case len(trimmed) == 0 || trimmed[0] == '#':
		return entry{}, errOther
	case trimmed[0] == '{':
		return parseJSON(trimmed)
	case isLTSV(line):
		return parseLTSV(string(line))
	}
	return parseCombined(string(trimmed))
}

// check returns an error if the request cannot be sent, and completes its target.
func (e *entry) check() error {
	if !httpsyntax.IsToken(e.Method) {
		return fmt.Errorf("%.40q is not a method", e.Method)
	}
	if e.Method == "CONNECT" || e.Target == "*" {
		return errOther
	}
	if _, rest, ok := strings.Cut(e.Target, "://"); ok && !strings.HasPrefix(e.Target, "/") { // of a request to a proxy
		host, path := rest, ""
		if end := strings.IndexAny(rest, "/?"); end >= 0 {
			host, path = rest[:end], rest[end:]
		}
		e.Host, e.Target = host, path
		if !strings.HasPrefix(path, "/") {
			e.Target = "/" + path
		}
	}
	if !strings.HasPrefix(e.Target, "/") {
		return fmt.Errorf("%.40q is not a path", e.Target)
	}
	if strings.ContainsFunc(e.Host, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return fmt.Errorf("%.40q is not a host", e.Host)
	}
	e.Target = encode(e.Target)
	return nil
}

// encode percent-encodes the bytes that no request's target may have: spaces, control characters, # and bytes beyond
// ASCII. Servers log such bytes as they are.
func encode(target string) string {
	bad := func(c byte) bool { return c <= ' ' || c >= 0x7f || c == '#' }
	n := 0
	for i := range len(target) {
		if bad(target[i]) {
			n++
		}
	}
	if n == 0 {
		return target
	}
	out := make([]byte, 0, len(target)+2*n)
	for i := range len(target) {
		if c := target[i]; bad(c) {
			out = fmt.Appendf(out, "%%%02X", c)
		} else {
			out = append(out, c)
		}
	}
	return string(out)
}
