package otlpsink

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"
)

// ownFields are the header fields that a file of headers cannot have.
var ownFields = []string{"Connection", "Content-Encoding", "Content-Length", "Content-Type", "Host",
	"Transfer-Encoding"}

// A headerFile has the header fields of requests, which are often secret. It notices changes
// of the file.
type headerFile struct {
	name    string
	changed time.Time // of the content in fields
	size    int64
	fields  http.Header
}

// read returns the fields, and reports whether they differ from those before.
func (f *headerFile) read() (fields http.Header, changed bool, err error) {
	if f.name == "" {
		return nil, false, nil
	}
	info, err := os.Stat(f.name)
	if err != nil {
		return nil, false, err
	}
	if f.fields != nil && info.ModTime().Equal(f.changed) && info.Size() == f.size {
		return f.fields, false, nil
	}
	text, err := os.ReadFile(f.name)
	if err != nil {
		return nil, false, err
	}
	if fields, err = parseHeaders(string(text)); err != nil {
		return nil, false, fmt.Errorf("%s: %w", f.name, err)
	}
	f.fields, f.changed, f.size = fields, info.ModTime(), info.Size()
	return fields, true, nil
}

// parseHeaders parses lines with NAME: VALUE. Its errors do not contain values.
func parseHeaders(text string) (http.Header, error) {
	fields := http.Header{}
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, value, found := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		if !found || !isToken(name) || strings.ContainsFunc(value, isControl) {
			return nil, fmt.Errorf("line %d is not a header field: write NAME: VALUE", number)
		}
		if name = http.CanonicalHeaderKey(name); slices.Contains(ownFields, name) {
			return nil, fmt.Errorf("line %d: the field %s cannot be set", number, name)
		}
		fields.Add(name, value)
	}
	return fields, nil
}

// isToken reports whether a text is a token of RFC 9110.
func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}

// isControl reports whether a character cannot be in the value of a field.
func isControl(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }
