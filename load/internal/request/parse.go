// Package request parses requests that people write: URLs, templates and lines
// of headers. Each error has the column of the mistake.
package request

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

// A Parsed is a well-formed request.
type Parsed struct {
	Method   string
	Location Location
	Path     Template // with the query
	Fields   []Field
	Text     Template
	File     io.ReaderAt
	Size     int64
}

// A Field is a line of a request's header.
type Field struct {
	Name  string
	Value Template
}

// A Body has the fields of target.Body.
type Body struct {
	Text string
	File io.ReaderAt
	Size int64
}

// Parse checks a request. It does not read the files of its templates.
func Parse[H ~struct{ Name, Value string }](method, url string, header []H, body Body) (*Parsed, error) {
	p := &Parsed{File: body.File, Size: body.Size}
	if err := p.SetMethod(method, body.Text != "" || body.File != nil); err != nil {
		return nil, err
	}
	if err := p.SetURL(url); err != nil {
		return nil, fmt.Errorf("URL %w", err)
	}
	for _, h := range header {
		f := struct{ Name, Value string }(h)
		if err := p.AddField(f.Name, f.Value); err != nil {
			return nil, fmt.Errorf("header %q: %w", f.Name, err)
		}
	}
	switch {
	case body.File == nil && body.Size != 0:
		return nil, fmt.Errorf("the body has a Size of %d and no File", body.Size)
	case body.File != nil && body.Text != "":
		return nil, errors.New("the body has both a Text and a File")
	case body.Size < 0:
		return nil, fmt.Errorf("the body has a Size of %d bytes", body.Size)
	}
	var err error
	if p.Text, err = ParseTemplate(body.Text); err != nil {
		return nil, fmt.Errorf("body %w", err)
	}
	return p, nil
}

// SetMethod sets the method; "" is POST for a request with a body, else GET.
func (p *Parsed) SetMethod(method string, hasBody bool) error {
	switch {
	case method == "" && hasBody:
		method = "POST"
	case method == "":
		method = "GET"
	}
	if !httpsyntax.IsToken(method) {
		return fmt.Errorf("%q is not a method; it is a word such as GET", method)
	}
	if method == "CONNECT" {
		return errors.New("CONNECT asks for a tunnel, which carries no more requests")
	}
	p.Method = method
	return nil
}

// SetURL sets the origin and the path. The path stays as written, except for
// letters beyond ASCII, whose bytes are percent-encoded as in browsers. The
// fragment is dropped.
func (p *Parsed) SetURL(text string) error {
	var err error
	if p.Location, err = ParseLocation(text); err != nil {
		return err
	}
	rest := text[p.Location.Path:]
	path, err := ParseTemplate(rest)
	if err != nil {
		return Shift(err, p.Location.Path)
	}
	for i := range path {
		t := &path[i]
		fragment := strings.IndexByte(string(t.text), '#')
		if fragment >= 0 {
			t.text, path = t.text[:fragment], path[:i+1]
		}
		for j, c := range t.text {
			if c == ' ' || c == '\t' || IsControl(rune(c)) {
				return ErrorAt(p.Location.Path+t.column(rest, j), "a URL cannot hold %q; write %%%02X", c, c)
			}
		}
		t.text = encodeLetters(t.text)
		if fragment >= 0 {
			break
		}
	}
	if len(rest) == 0 || rest[0] != '/' {
		path = append(Template{Literal("/")}, path...)
	}
	p.Path = path
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

// AddField adds a line of the header.
func (p *Parsed) AddField(name, text string) error {
	if !httpsyntax.IsToken(name) {
		return errors.New("this is not the name of a header")
	}
	switch {
	case strings.EqualFold(name, "Content-Length"):
		return errors.New("it is made from the body; leave it out")
	case strings.EqualFold(name, "Transfer-Encoding"):
		return errors.New("bodies are sent with a Content-Length; leave it out")
	case strings.EqualFold(name, "Host") && p.Has(name):
		return errors.New("a request has one")
	}
	value, err := ParseTemplate(text)
	if err != nil {
		return err
	}
	for i := range value {
		for j, c := range value[i].text {
			if IsControl(rune(c)) {
				return ErrorAt(value[i].column(text, j), "a header cannot hold the control character %q", c)
			}
		}
	}
	p.Fields = append(p.Fields, Field{name, value})
	return nil
}

// Has reports whether the header has a field of that name.
func (p *Parsed) Has(name string) bool {
	return slices.ContainsFunc(p.Fields, func(f Field) bool { return strings.EqualFold(f.Name, name) })
}

// BodyBytes returns the size of the body before its templates are filled in.
func (p *Parsed) BodyBytes() int64 {
	if p.File != nil {
		return p.Size
	}
	var n int64
	for _, part := range p.Text {
		n += int64(len(part.text))
	}
	return n
}

// ReadLines reads the files of the templates.
func (p *Parsed) ReadLines(files *LineFiles) error {
	if err := files.resolve(p.Path, inURL); err != nil {
		return fmt.Errorf("URL %w", Shift(err, p.Location.Path))
	}
	for _, f := range p.Fields {
		if err := files.resolve(f.Value, inHeader); err != nil {
			return fmt.Errorf("header %q: %w", f.Name, err)
		}
	}
	if err := files.resolve(p.Text, inBody); err != nil {
		return fmt.Errorf("body %w", err)
	}
	return nil
}
