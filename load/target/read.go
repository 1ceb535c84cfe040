package target

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/load/internal/curl"
	"github.com/weirhq/weir/load/internal/openapi"
	"github.com/weirhq/weir/load/internal/postman"
	"github.com/weirhq/weir/load/internal/request"
)

// Read reads a file of targets. It recognizes these formats:
//
//   - lines of JSON, as in vegeta: {"method": "POST", "url": "http://…",
//     "header": {"Name": ["value"]}, "body": "in base64"}
//   - plain lines, as in vegeta's http format: METHOD URL, then lines of headers,
//     and @ with the name of a file that holds the body; a blank line or the next
//     METHOD ends a target, and # begins a comment
//   - URLs, one per line, which may be mixed with plain lines
//   - commands of curl, as browsers copy them, with the options that describe the request
//   - a collection of Postman 2.0 or 2.1, with the values of its own variables; scripts are not run
//   - a description in OpenAPI 3, in JSON or YAML: a request for each operation, from the examples
//   - HAR, as saved by browsers and proxies: its requests to http and https, in
//     order, without the fields of the connection; websockets and entries that
//     never left the browser are left out, and entries that cannot be sent are
//     skipped and listed
//
// URLs and headers may hold templates, except in HAR: recorded requests are sent
// unchanged, and so are bodies from base64 or a file. Content-Length is left out,
// because the body determines it.
//
// find returns the paths of the files that the targets name; nil opens them by their names.
// Errors begin with name:line:column. The files of large bodies stay open.
func Read(r io.Reader, name string, find func(name string) (path string, err error)) (*List, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("read targets: %w", err)
	}
	f := &targetFile{name: name, find: find, data: bytes.TrimPrefix(data, []byte("\ufeff"))}
	read := f.plainLines
	openAPI := func() error { return f.readOpenAPI(name, f.data) }
	switch {
	case curl.Begins(f.data):
		read = f.curl
	case !bytes.HasPrefix(bytes.TrimLeft(f.data, " \t\r\n"), []byte("{")):
		if openapi.IsYAML(f.data) {
			read, f.Described = openAPI, true
		}
	case f.isHAR():
		read, f.Recorded = f.har, true
	case postman.Is(f.data):
		read = func() error { return f.readPostman(name, f.data) }
	case openapi.IsJSON(f.data):
		read, f.Described = openAPI, true
	default:
		read = f.jsonLines
	}
	if err := read(); err != nil {
		return nil, errors.Join(err, f.close())
	}
	if len(f.Targets) == 0 {
		return nil, fmt.Errorf("%s has no targets; write one a line, such as GET http://127.0.0.1:8080/", name)
	}
	return &f.List, nil
}

// curl reads commands of curl.
func (f *targetFile) curl() error {
	commands, err := curl.Parse(string(f.data), func(name string) (string, error) {
		path, err := f.find.Path(name)
		if err != nil {
			return "", err
		}
		content, err := os.ReadFile(path)
		return string(content), err
	})
	if e, ok := errors.AsType[*curl.Error](err); ok {
		return f.fail(e.Offset, e.Err)
	}
	for _, c := range commands {
		t := Target{Method: c.Method, URL: c.URL, Body: Body{Text: c.Body}}
		for _, h := range c.Header {
			if strings.EqualFold(h.Name, "Host") || !belongsToConnection(h.Name) {
				t.addHeader(Header(h))
			}
		}
		if err := t.check(); err != nil {
			return f.fail(c.Offset, err)
		}
		f.Targets, f.Insecure = append(f.Targets, t), f.Insecure || c.Insecure
	}
	return nil
}

// lines calls blank for each empty line or comment, and read for each other line,
// without the space around it.
func (f *targetFile) lines(read func(line string, offset int) error, blank func(comment bool)) error {
	for offset := 0; offset < len(f.data); {
		raw, _, _ := bytes.Cut(f.data[offset:], []byte("\n"))
		line := string(bytes.TrimLeft(raw, " \t\r"))
		begin := offset + len(raw) - len(line)
		line = strings.TrimRight(line, " \t\r")
		if line == "" || line[0] == '#' {
			blank(line != "")
		} else if err := read(line, begin); err != nil {
			return err
		}
		offset += len(raw) + 1
	}
	return nil
}

// plainLines reads plain lines and URLs. Headers and bodies belong to the METHOD
// URL before them. After a URL without a method they are an error, since that is
// likely a misspelt METHOD URL.
func (f *targetFile) plainLines() error {
	var open *request.Parsed // headers may be added to it; nil if not
	read := func(line string, offset int) error {
		method, url, ok := strings.Cut(line, " ")
		if isURL(line) {
			method, url, ok, open = "", line, true, nil
		} else if tab := strings.IndexByte(method, '\t'); tab >= 0 {
			method, url, ok = line[:tab], line[tab+1:], true
		}
		switch {
		case strings.HasPrefix(line, "/"): // it is no method, and no header of the request before
			return f.fail(offset, new(request.Parsed).SetURL(line))
		case ok && (method == "" || httpsyntax.IsToken(method)):
			t := Target{Method: method, URL: strings.TrimLeft(url, " \t")}
			p := new(request.Parsed)
			if err := p.SetMethod(method, false); err != nil {
				return f.fail(offset, err)
			}
			if err := p.SetURL(t.URL); err != nil {
				return f.fail(offset+len(line)-len(t.URL), err)
			}
			f.Targets = append(f.Targets, t)
			if open = p; method == "" {
				open = nil
			}
			return nil
		case open == nil:
			return f.fail(offset, fmt.Errorf("%q is neither METHOD URL nor a URL that begins with http:// or "+
				"https://; a header or an @body follows a METHOD URL", line))
		case line[0] == '@':
			return f.plainBody(line[1:], offset)
		}
		return f.plainHeader(open, line, offset)
	}
	return f.lines(read, func(comment bool) {
		if !comment {
			open = nil
		}
	})
}

func (f *targetFile) plainHeader(open *request.Parsed, line string, offset int) error {
	name, value, ok := strings.Cut(line, ":")
	if !ok {
		return f.fail(offset, fmt.Errorf("%q is not a header; write Name: value", line))
	}
	h := Header{strings.TrimRight(name, " \t"), strings.TrimLeft(value, " \t")}
	t := &f.Targets[len(f.Targets)-1]
	before := len(t.Header)
	t.addHeader(h)
	if len(t.Header) == before {
		return nil
	}
	if err := open.AddField(h.Name, h.Value); err != nil {
		if _, ok := errors.AsType[*request.ColumnError](err); ok {
			offset += len(line) - len(h.Value)
		}
		return f.fail(offset, err)
	}
	return nil
}

func (f *targetFile) plainBody(path string, offset int) error {
	path = strings.TrimSpace(path)
	body, ok := f.bodies[path]
	if !ok {
		file, err := f.find.Path(path)
		if err == nil {
			body, err = fileBody(file)
		}
		if err != nil {
			return f.fail(offset, fmt.Errorf("the target's body: %w", err))
		}
		if f.bodies == nil {
			f.bodies = make(map[string]Body)
		}
		f.bodies[path] = body
	}
	f.Targets[len(f.Targets)-1].Body = body
	return nil
}

// smallBody is the largest size of a file that is kept in memory and sent together
// with the header.
const smallBody = 64 << 10

// fileBody returns a body with a file's content, without templates.
func fileBody(path string) (Body, error) {
	file, size, err := openBody(path)
	if err != nil || size > smallBody {
		return Body{File: file, Size: size}, err
	}
	content, err := io.ReadAll(io.NewSectionReader(file, 0, size))
	if closer, ok := file.(io.Closer); ok {
		err = errors.Join(err, closer.Close())
	}
	return Body{Text: request.EscapeTemplate(string(content))}, err
}

// jsonLines reads one object per line.
func (f *targetFile) jsonLines() error {
	return f.lines(func(line string, offset int) error {
		t, err := parseJSONTarget(line)
		if err == nil {
			err = t.check()
		}
		if err != nil {
			return f.fail(offset, err)
		}
		f.Targets = append(f.Targets, t)
		return nil
	}, func(bool) {})
}

func parseJSONTarget(line string) (Target, error) {
	var in struct {
		Method string
		URL    string
		Body   []byte
		Header map[string][]string
	}
	d := json.NewDecoder(strings.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		return Target{}, atJSON(err)
	}
	if rest := strings.TrimLeft(line[d.InputOffset():], " \t"); rest != "" {
		return Target{}, request.ErrorAt(len(line)-len(rest), "%.20q follows the object; write one per line", rest)
	}
	t := Target{Method: in.Method, URL: in.URL, Body: Body{Text: request.EscapeTemplate(string(in.Body))}}
	for _, name := range slices.Sorted(maps.Keys(in.Header)) {
		for _, value := range in.Header[name] {
			t.addHeader(Header{name, value})
		}
	}
	return t, nil
}

// atJSON adds the column to an error of the decoder.
func atJSON(err error) error {
	const known = `a target is {"method": …, "url": …, "header": {"Name": ["value"]}, "body": "in base64"} on a line`
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		return request.ErrorAt(int(e.Offset)-1, "%w; %s", err, known)
	}
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return request.ErrorAt(int(e.Offset)-1, "%w; %s", err, known)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return request.ErrorAt(0, "the object does not end on this line; %s", known)
	}
	return request.ErrorAt(0, "%w; %s", err, known)
}
