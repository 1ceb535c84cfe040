package replay

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// combinedTime is the format of the time in an access log.
const combinedTime = "02/Jan/2006:15:04:05 -0700"

// combined is an example for error messages.
const combined = `127.0.0.1 - - [29/Nov/2026:10:00:00 +0000] "GET /path HTTP/1.1" 200 512 "-" "curl/8.0"`

// parseCombined reads a line of the common or the combined format of nginx and Apache. A field before the address is the
// host and port, as in vhost_combined of Apache. nginx logs the time at which a request ended, Apache that at which it
// began; both in whole seconds.
func parseCombined(line string) (entry, error) {
	before, rest, ok := strings.Cut(line, " [")
	if !ok {
		return entry{}, fmt.Errorf("there is no time in brackets; a line is such as %s", combined)
	}
	text, rest, ok := strings.Cut(rest, "] ")
	if !ok {
		return entry{}, fmt.Errorf("the time in brackets does not end; a line is such as %s", combined)
	}
	began, err := time.Parse(combinedTime, text)
	if err != nil {
		return entry{}, fmt.Errorf("%.40q is not a time such as %s", text, combinedTime)
	}
	request, ok := quotedText(rest)
	if !ok {
		return entry{}, fmt.Errorf("there is no request in quotes after the time; a line is such as %s", combined)
	}
	e := entry{began: began, wholeSecond: true}
	method, target, ok := strings.Cut(request, " ")
	version := strings.LastIndex(target, " HTTP/")
	if !ok || version < 0 { // the bytes of a client that does not speak HTTP, or "-"
		return entry{}, errOther
	}
	e.Method, e.Target = method, target[:version]
	if fields := strings.Fields(before); len(fields) >= 4 && hasPort(fields[0]) {
		e.Host = strings.TrimSuffix(strings.TrimSuffix(fields[0], ":80"), ":443")
	}
	return e, nil
}

// hasPort reports whether a field is a host and port.
func hasPort(field string) bool {
	colon := strings.LastIndexByte(field, ':')
	if colon <= 0 || strings.Count(field, ":") > 1 && !strings.HasSuffix(field[:colon], "]") {
		return false
	}
	_, err := strconv.ParseUint(field[colon+1:], 10, 16)
	return err == nil
}

// quotedText returns the text in quotes at the beginning of s, without the escapes of nginx (\xHH) and of Apache (\" \\
// \n \t \xhh).
func quotedText(s string) (text string, ok bool) {
	s, ok = strings.CutPrefix(s, `"`)
	if !ok {
		return "", false
	}
	end := strings.IndexAny(s, `"\`)
	if end >= 0 && s[end] == '"' {
		return s[:end], true
	}
	var out []byte
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '"':
			return string(out), true
		case s[i] != '\\' || i+1 == len(s):
			out = append(out, s[i])
		case s[i+1] == 'x' && i+3 < len(s):
			c, err := strconv.ParseUint(s[i+2:i+4], 16, 8)
			if err != nil {
				return "", false
			}
			out = append(out, byte(c))
			i += 3
		default:
			i++
			switch s[i] {
			case 'n', 'r', 't', 'b', 'v', 'f':
				out = append(out, ' ')
			default:
				out = append(out, s[i])
			}
		}
	}
	return "", false
}
