package load

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/weirhq/weir/internal/httpsyntax"
)

// A parsedTarget is a Target that was found to be well-formed.
type parsedTarget struct {
	method   string
	location location
	path     template // with the query
	fields   []parsedField
	text     template
	file     io.ReaderAt
	size     int64
}

type parsedField struct {
	name  string
	value template
}

// parseTarget checks a target; the files of its templates are not read yet.
func parseTarget(t *Target) (*parsedTarget, error) {
	p := &parsedTarget{method: t.Method, file: t.Body.File, size: t.Body.Size}
	if err := p.setMethod(t); err != nil {
		return nil, err
	}
	if err := p.setURL(t.URL); err != nil {
		return nil, fmt.Errorf("URL %w", err)
	}
	for _, h := range t.Header {
		if err := p.addField(h); err != nil {
			return nil, fmt.Errorf("header %q: %w", h.Name, err)
		}
	}
	switch {
	case t.Body.File == nil && t.Body.Size != 0:
		return nil, fmt.Errorf("the body has a Size of %d and no File", t.Body.Size)
	case t.Body.File != nil && t.Body.Text != "":
		return nil, errors.New("the body has both a Text and a File")
	case t.Body.Size < 0:
		return nil, fmt.Errorf("the body has a Size of %d bytes", t.Body.Size)
	}
	var err error
	if p.text, err = parseTemplate(t.Body.Text); err != nil {
		return nil, fmt.Errorf("body %w", err)
	}
	return p, nil
}

func (p *parsedTarget) setMethod(t *Target) error {
	switch {
	case p.method == "" && (t.Body.Text != "" || t.Body.File != nil):
		p.method = "POST"
	case p.method == "":
		p.method = "GET"
	}
	if !httpsyntax.IsToken(p.method) {
		return fmt.Errorf("%q is no method; it is a word such as GET", p.method)
	}
	if p.method == "CONNECT" {
		return errors.New("CONNECT asks for a tunnel, in which there would be no more requests to answer")
	}
	return nil
}

// setURL takes the path as it is written, but for letters beyond ASCII, whose
// bytes are percent-encoded as browsers do it. The fragment is not sent.
func (p *parsedTarget) setURL(text string) error {
	var err error
	if p.location, err = parseLocation(text); err != nil {
		return err
	}
	rest := text[p.location.path:]
	path, err := parseTemplate(rest)
	if err != nil {
		return shift(err, p.location.path)
	}
	for i := range path {
		t := &path[i]
		fragment := strings.IndexByte(string(t.text), '#')
		if fragment >= 0 {
			t.text, path = t.text[:fragment], path[:i+1]
		}
		for j, c := range t.text {
			if c == ' ' || c == '\t' || isControl(rune(c)) {
				return at(p.location.path+t.column(rest, j), "%q cannot stand in a URL; write %%%02X", c, c)
			}
		}
		t.text = encodeLetters(t.text)
		if fragment >= 0 {
			break
		}
	}
	if len(rest) == 0 || rest[0] != '/' {
		path = append(template{{text: []byte("/")}}, path...)
	}
	p.path = path
	return nil
}

// encodeLetters percent-encodes the bytes beyond ASCII.
func encodeLetters(text []byte) []byte {
	if !bytes.ContainsFunc(text, func(c rune) bool { return c >= utf8.RuneSelf }) {
		return text
	}
	var encoded []byte
	for _, c := range text {
		if c < utf8.RuneSelf {
			encoded = append(encoded, c)
		} else {
			encoded = appendEncoded(encoded, c)
		}
	}
	return encoded
}

// appendEncoded appends a byte percent-encoded.
func appendEncoded(b []byte, c byte) []byte { return append(b, '%', upperHex[c>>4], upperHex[c&15]) }

// column returns where byte i of a part of a template's text stands in it. What
// was quoted stands where its template does.
func (p *templatePart) column(text string, i int) int {
	if strings.HasPrefix(text[p.offset:], "{{") {
		return p.offset
	}
	return p.offset + i
}

func (p *parsedTarget) addField(h Header) error {
	if !httpsyntax.IsToken(h.Name) {
		return errors.New("this is no name of a header")
	}
	switch {
	case strings.EqualFold(h.Name, "Content-Length"):
		return errors.New("it is made from the body; leave it out")
	case strings.EqualFold(h.Name, "Transfer-Encoding"):
		return errors.New("bodies are sent with a Content-Length; leave it out")
	case strings.EqualFold(h.Name, "Host") && p.has(h.Name):
		return errors.New("a request has one")
	}
	value, err := parseTemplate(h.Value)
	if err != nil {
		return err
	}
	for i := range value {
		for j, c := range value[i].text {
			if isControl(rune(c)) {
				return at(value[i].column(h.Value, j), "the control character %q cannot stand in a header", c)
			}
		}
	}
	p.fields = append(p.fields, parsedField{h.Name, value})
	return nil
}

func (p *parsedTarget) has(name string) bool {
	for _, f := range p.fields {
		if strings.EqualFold(f.name, name) {
			return true
		}
	}
	return false
}

// hasLines reports whether a request takes lines of files.
func (p *parsedTarget) hasLines() bool {
	return p.path.hasLines() || p.text.hasLines() ||
		slices.ContainsFunc(p.fields, func(f parsedField) bool { return f.value.hasLines() })
}

// resolve reads the files of the target's templates.
func (p *parsedTarget) resolve(files *lineFiles) error {
	if err := files.resolve(p.path, inURL); err != nil {
		return fmt.Errorf("URL %w", shift(err, p.location.path))
	}
	for _, f := range p.fields {
		if err := files.resolve(f.value, inHeader); err != nil {
			return fmt.Errorf("header %q: %w", f.name, err)
		}
	}
	if err := files.resolve(p.text, inBody); err != nil {
		return fmt.Errorf("body %w", err)
	}
	return nil
}
