package target

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/weirhq/weir/load/internal/random"
	"github.com/weirhq/weir/load/internal/request"
)

// A FormField is one part of a form: a value or a file.
type FormField struct {
	Name  string
	Value string // may hold templates if no field of the form has a Path

	// Path names a file to send instead of Value.
	Path string

	// Inline sends the content of Path as the field's value, without a file name.
	Inline bool

	// Filename is sent to the server: "" is the last element of Path, and no name
	// for a value.
	Filename string

	// ContentType of a file: "" is the type of the extension, as in curl, or
	// application/octet-stream. The type of a value is "" for none.
	ContentType string
}

// ParseFormField reads fields in the notation of curl's -F:
//
//	name=value;type=text/plain
//	name=@file,another;type=image/png;filename=photo.png
//	name=<file
//
// Names of files and the values of type= and filename= may be quoted, with \" and
// \\ in quotes. Several files are several fields of one name, as in browsers (RFC
// 7578 section 4.3); curl sends them as multipart/mixed.
func ParseFormField(s string) ([]FormField, error) {
	name, rest, ok := strings.Cut(s, "=")
	if !ok {
		return nil, fmt.Errorf("form field %q: there is no =; write name=value, name=@file or name=<file", s)
	}
	scan := &formScanner{text: s, offset: len(name) + 1}
	var fields []FormField
	var err error
	switch {
	case strings.HasPrefix(rest, "@"), strings.HasPrefix(rest, "<"):
		fields, err = scan.files(name, rest[0] == '<')
	default:
		field := FormField{Name: name, Value: scan.word(";")}
		err = scan.attributes(&field)
		fields = []FormField{field}
	}
	if err == nil && scan.offset < len(s) {
		err = request.ErrorAt(scan.offset, "%q is left over", s[scan.offset:])
	}
	if err != nil {
		return nil, fmt.Errorf("form field %q: %w", s, err)
	}
	return fields, nil
}

type formScanner struct {
	text   string
	offset int
}

// files reads the files after an @ or a <, each with its attributes.
func (s *formScanner) files(name string, inline bool) ([]FormField, error) {
	var fields []FormField
	for more := true; more; more = s.skip(",") {
		if len(fields) == 0 {
			s.offset++ // the @ or <
		}
		begin := s.offset
		field := FormField{Name: name, Inline: inline, Path: s.word(",;")}
		if field.Path == "" {
			return nil, request.ErrorAt(begin, "the name of a file is missing")
		}
		if err := s.attributes(&field); err != nil {
			return nil, err
		}
		if inline && field.Filename != "" {
			return nil, request.ErrorAt(begin, "a file after < is sent as a value, which has no filename; write @")
		}
		fields = append(fields, field)
	}
	if inline && len(fields) > 1 {
		return nil, request.ErrorAt(0, "< reads one file")
	}
	return fields, nil
}

// attributes reads ;type= and ;filename=. A type may have parameters, such as
// ;charset=utf-8.
func (s *formScanner) attributes(field *FormField) error {
	end := ";"
	if field.Path != "" {
		end = ",;"
	}
	for s.skip(";") {
		s.spaces()
		begin := s.offset
		switch {
		case s.skip("type="):
			field.ContentType = s.word(end)
		case s.skip("filename="):
			field.Filename = s.word(end)
		case field.ContentType != "":
			field.ContentType += ";" + s.word(end)
		default:
			return request.ErrorAt(begin, `%q is neither type= nor filename=; put a value with a semicolon in quotes`,
				s.text[begin:])
		}
	}
	return nil
}

func (s *formScanner) skip(prefix string) bool {
	if !strings.HasPrefix(s.text[s.offset:], prefix) {
		return false
	}
	s.offset += len(prefix)
	return true
}

func (s *formScanner) spaces() {
	for s.skip(" ") || s.skip("\t") {
	}
}

// word reads a quoted text, or the text up to one of the bytes that end it. Quotes
// that end in the middle of a word belong to the text.
func (s *formScanner) word(end string) string {
	rest := s.text[s.offset:]
	if text, length, ok := quotedWord(rest); ok && (length == len(rest) || strings.IndexByte(end, rest[length]) >= 0) {
		s.offset += length
		return text
	}
	length := strings.IndexAny(rest, end)
	if length < 0 {
		length = len(rest)
	}
	s.offset += length
	return rest[:length]
}

func quotedWord(s string) (text string, length int, ok bool) {
	if !strings.HasPrefix(s, `"`) {
		return "", 0, false
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '"':
			return b.String(), i + 1, true
		case s[i] == '\\' && i+1 < len(s) && (s[i+1] == '"' || s[i+1] == '\\'):
			i++
			b.WriteByte(s[i])
		default:
			b.WriteByte(s[i])
		}
	}
	return "", 0, false
}

// Form returns the fields as a multipart/form-data body (RFC 7578) and its
// Content-Type. The boundary depends on the seed.
//
// Without files the body is a Text, and the values may hold templates. Regular
// files are opened and stay open until the process ends. They are read for each
// request, and must not change their size. Other files, such as pipes, are read
// now.
func Form(fields []FormField, seed uint64) (Body, Header, error) {
	r := random.New(seed, 0)
	boundary := string(random.AppendUUID([]byte("------------------------weir-"), r.Next(), r.Next()))
	header := Header{"Content-Type", "multipart/form-data; boundary=" + boundary}
	var form composed
	for _, f := range fields {
		head, err := f.head()
		if err != nil {
			return Body{}, Header{}, err
		}
		form.addText("--" + boundary + "\r\n" + head + "\r\n")
		if f.Path == "" {
			form.addText(f.Value + "\r\n")
			continue
		}
		file, size, err := openBody(f.Path)
		if err != nil {
			return Body{}, Header{}, fmt.Errorf("form field %q: %w", f.Name, err)
		}
		form.add(file, size)
		form.addText("\r\n")
	}
	form.addText("--" + boundary + "--\r\n")
	if text, ok := form.text(); ok {
		return Body{Text: text}, header, nil
	}
	for _, f := range fields {
		if f.Path == "" && strings.Contains(f.Value, "{{") {
			const format = "form field %q: the values of a form with files cannot hold templates"
			return Body{}, Header{}, fmt.Errorf(format, f.Name)
		}
	}
	return Body{File: &form, Size: form.size}, header, nil
}

// head returns the field's header lines, with the line break of the last one.
func (f FormField) head() (string, error) {
	switch {
	case f.Path != "" && f.Value != "":
		return "", fmt.Errorf("form field %q has both a Value and a Path", f.Name)
	case f.Path == "" && f.Inline:
		return "", fmt.Errorf("form field %q is Inline and has no Path", f.Name)
	case strings.ContainsFunc(f.ContentType, request.IsControl):
		return "", fmt.Errorf("form field %q: the type %q has control characters", f.Name, f.ContentType)
	}
	name, kind := f.Filename, f.ContentType
	if f.Path != "" && !f.Inline {
		if name == "" {
			name = filepath.Base(f.Path)
		}
		if kind == "" {
			kind = cmp.Or(extensionTypes[strings.ToLower(filepath.Ext(name))], "application/octet-stream")
		}
	}
	head := `Content-Disposition: form-data; name="` + escapeQuoted(f.Name) + `"`
	if name != "" {
		head += `; filename="` + escapeQuoted(name) + `"`
	}
	if kind != "" {
		head += "\r\nContent-Type: " + kind
	}
	return head + "\r\n", nil
}

// escapeQuoted escapes a name as browsers do (WHATWG HTML, "multipart/form-data
// encoding algorithm").
func escapeQuoted(s string) string {
	return strings.NewReplacer("\r", "%0D", "\n", "%0A", `"`, "%22").Replace(s)
}

// extensionTypes has the same types as curl (lib/mime.c, Curl_mime_contenttype).
// Package mime would depend on the machine's tables.
var extensionTypes = map[string]string{
	".gif": "image/gif", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".png": "image/png", ".svg": "image/svg+xml",
	".txt": "text/plain", ".htm": "text/html", ".html": "text/html",
	".pdf": "application/pdf", ".xml": "application/xml",
}

// openBody opens a file to send. A regular file stays open and is read later.
// Others, such as pipes, can be read only once, and are read now.
func openBody(path string) (file io.ReaderAt, size int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil && info.Mode().IsRegular() {
		return f, info.Size(), nil
	}
	var content []byte
	if err == nil {
		content, err = io.ReadAll(f)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, 0, err
	}
	return strings.NewReader(string(content)), int64(len(content)), nil
}

// composed is a sequence of contents. Goroutines may share it if they may share
// each of its files.
type composed struct {
	sections []section
	size     int64
}

type section struct {
	begin, size int64
	text        string // the content if file is nil
	file        io.ReaderAt
}

func (c *composed) addText(text string) {
	c.sections = append(c.sections, section{begin: c.size, size: int64(len(text)), text: text})
	c.size += int64(len(text))
}

func (c *composed) add(file io.ReaderAt, size int64) {
	c.sections = append(c.sections, section{begin: c.size, size: size, file: file})
	c.size += size
}

// text returns the content, and whether it has no files.
func (c *composed) text() (string, bool) {
	var b strings.Builder
	for _, s := range c.sections {
		if s.file != nil {
			return "", false
		}
		b.WriteString(s.text)
	}
	return b.String(), true
}

// ReadAt implements io.ReaderAt. It returns io.ErrUnexpectedEOF for a file that has
// become shorter.
func (c *composed) ReadAt(p []byte, offset int64) (int, error) {
	if offset < 0 {
		return 0, fmt.Errorf("load: read a form at %d", offset)
	}
	i := sort.Search(len(c.sections), func(i int) bool { return c.sections[i].begin+c.sections[i].size > offset })
	done := 0
	for ; done < len(p) && i < len(c.sections); i++ {
		n, err := c.sections[i].readAt(p[done:], offset+int64(done)-c.sections[i].begin)
		done += n
		if err != nil {
			return done, err
		}
	}
	if done < len(p) {
		return done, io.EOF
	}
	return done, nil
}

// readAt fills p from the section, up to its end.
func (s *section) readAt(p []byte, offset int64) (int, error) {
	if left := s.size - offset; int64(len(p)) > left {
		p = p[:left]
	}
	if s.file == nil {
		return copy(p, s.text[offset:]), nil
	}
	n, err := s.file.ReadAt(p, offset)
	switch {
	case n == len(p):
		return n, nil
	case errors.Is(err, io.EOF):
		return n, io.ErrUnexpectedEOF
	}
	return n, err
}
