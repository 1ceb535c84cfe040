package request

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
)

// A place is the part of a request that has a template. It decides which bytes
// a line of a file may have.
type place uint8

const (
	inBody place = iota
	inHeader
	inURL
)

// LineFiles reads the files of templates. It reads each file once and encodes it
// once for each place.
type LineFiles struct {
	Find Find

	// From returns the index of a value of a response. inHeader reports that it is for a field's value. Nil is for
	// requests that are not of a flow, and have none.
	From func(f From, inHeader bool) (index int, err error)

	fitted map[lineFile][][]byte
}

type lineFile struct {
	name  string
	where place
}

// resolve sets the lines of the template's files.
func (f *LineFiles) resolve(t Template, where place) error {
	for i := range t {
		p := &t[i]
		var err error
		switch p.kind {
		case partFrom:
			if err := f.resolveFrom(p, where); err != nil {
				return &ColumnError{p.offset + 1, err}
			}
			continue
		case partLine:
		default:
			continue
		}
		if p.lines, err = f.fit(p.file, where); err != nil {
			return &ColumnError{p.offset + 1, err}
		}
	}
	return nil
}

// resolveFrom sets the index of a value of a response.
func (f *LineFiles) resolveFrom(p *Part, where place) (err error) {
	if f.From == nil {
		return errors.New("{{from}} is for the steps of --flows: there is no response before this request")
	}
	p.where = where
	p.value, err = f.From(p.from, where == inHeader)
	return err
}

// fit returns a file's lines, encoded for a place.
func (f *LineFiles) fit(name string, where place) ([][]byte, error) {
	if lines, ok := f.fitted[lineFile{name, where}]; ok {
		return lines, nil
	}
	var lines [][]byte
	var err error
	if where == inBody {
		lines, err = f.read(name)
	} else {
		lines, err = f.fit(name, inBody)
	}
	if err != nil {
		return nil, err
	}
	switch where {
	case inURL:
		lines = escapeLines(lines)
	case inHeader:
		if err := checkLines(name, lines); err != nil {
			return nil, err
		}
	}
	if f.fitted == nil {
		f.fitted = make(map[lineFile][][]byte)
	}
	f.fitted[lineFile{name, where}] = lines
	return lines, nil
}

// A Find returns the path of a file that a request names. The nil Find returns the name.
type Find func(name string) (path string, err error)

// Path calls the function.
func (f Find) Path(name string) (string, error) {
	if f == nil {
		return name, nil
	}
	return f(name)
}

func (f *LineFiles) read(name string) ([][]byte, error) {
	path, err := f.Find.Path(name)
	if err != nil {
		return nil, fmt.Errorf("the lines of a template: %w", err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("the lines of a template: %w", err)
	}
	if len(data) == 0 {
		return nil, fmt.Errorf("%s is empty; a template needs at least one line", name)
	}
	lines := bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
	for i, line := range lines {
		lines[i] = bytes.TrimSuffix(line, []byte("\r"))
	}
	return lines, nil
}

// escapeLines percent-encodes all but the unreserved characters of RFC 3986
// section 2.3, since a line may be in a path or in a query.
func escapeLines(lines [][]byte) [][]byte {
	escaped := make([][]byte, len(lines))
	for i, line := range lines {
		out := make([]byte, 0, len(line))
		for _, c := range line {
			if isUnreserved(c) {
				out = append(out, c)
			} else {
				out = appendEncoded(out, c)
			}
		}
		escaped[i] = out
	}
	return escaped
}

const upperHex = "0123456789ABCDEF"

// appendEncoded appends a byte percent-encoded.
func appendEncoded(b []byte, c byte) []byte { return append(b, '%', upperHex[c>>4], upperHex[c&15]) }

func isUnreserved(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~", c) >= 0
}

// checkLines returns an error for a line that would not be a field's value.
func checkLines(name string, lines [][]byte) error {
	for i, line := range lines {
		if j := bytes.IndexFunc(line, IsControl); j >= 0 {
			return fmt.Errorf("%s:%d:%d: a header cannot hold the control character %q", name, i+1, j+1, line[j])
		}
	}
	return nil
}

// IsControl reports whether RFC 9110 section 5.5 excludes the character from a
// field's value.
func IsControl(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }
