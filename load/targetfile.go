package load

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/weirhq/weir/internal/httpsyntax"
)

// ReadTargets reads a file of targets, and knows which of these it is:
//
//   - lines of JSON, as vegeta has them: {"method": "POST", "url": "http://…",
//     "header": {"Name": ["value"]}, "body": "in base64"}
//   - plain lines, as vegeta's http format has them: METHOD URL, then lines of
//     headers, and @ with the name of a file whose content is the body; a blank
//     line or the next METHOD ends a target, and # begins a comment
//   - bare URLs, one a line, which may stand among the plain lines
//   - HAR, as browsers and proxies save it: its requests to http and https, in
//     order, without the fields that belong to the connection they went over;
//     websockets and what never left the browser are not requests
//
// URLs and headers may hold templates, but not in HAR: what was recorded is sent
// as it was, and so is a body from base64 or a file. A Content-Length is left
// out, since the body says it.
//
// Relative names of files are below folder, which is the working folder when it
// is "". Errors begin with name:line:column. Files of bodies that are large stay
// open.
func ReadTargets(r io.Reader, name, folder string) ([]Target, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("read targets: %w", err)
	}
	f := &targetFile{name: name, folder: folder, data: bytes.TrimPrefix(data, []byte("\ufeff"))}
	read := f.plainLines
	switch {
	case !bytes.HasPrefix(bytes.TrimLeft(f.data, " \t\r\n"), []byte("{")):
	case f.isHAR():
		read = f.har
	default:
		read = f.jsonLines
	}
	if err := read(); err != nil {
		return nil, errors.Join(err, f.close())
	}
	if len(f.targets) == 0 {
		return nil, fmt.Errorf("%s has no targets; write one a line, such as GET http://127.0.0.1:8080/", name)
	}
	return f.targets, nil
}

// A targetFile is a file of targets while it is read.
type targetFile struct {
	name    string
	folder  string
	data    []byte // without a byte order mark
	targets []Target
	bodies  map[string]Body // by the file that they come from
}

// fail says where in the file something is wrong, by its offset.
func (f *targetFile) fail(offset int, err error) error {
	if e, ok := err.(*columnError); ok { // a column in what begins at offset
		offset, err = offset+e.column-1, e.why
	}
	before := f.data[:min(max(offset, 0), len(f.data))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := len(before) - bytes.LastIndexByte(before, '\n')
	return fmt.Errorf("%s:%d:%d: %w", f.name, line, column, err)
}

// close closes the files of bodies, which nobody gets when there is an error.
func (f *targetFile) close() error {
	var errs []error
	for _, body := range f.bodies {
		if file, ok := body.File.(io.Closer); ok {
			errs = append(errs, file.Close())
		}
	}
	return errors.Join(errs...)
}

// lines calls read with each line that is more than space and no comment, and
// blank with the others; lines come without the space around them.
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

// plainLines reads plain lines and bare URLs. Headers and bodies belong to the
// METHOD URL before them; behind a bare URL they would hide a misspelt one.
func (f *targetFile) plainLines() error {
	var open *parsedTarget // to which headers may be added
	read := func(line string, offset int) error {
		method, url, ok := strings.Cut(line, " ")
		if isURL(line) {
			method, url, ok, open = "", line, true, nil
		} else if tab := strings.IndexByte(method, '\t'); tab >= 0 {
			method, url, ok = line[:tab], line[tab+1:], true
		}
		switch {
		case ok && (method == "" || httpsyntax.IsToken(method)):
			t := Target{Method: method, URL: strings.TrimLeft(url, " \t")}
			p := &parsedTarget{method: method}
			if err := p.setMethod(&t); err != nil {
				return f.fail(offset, err)
			}
			if err := p.setURL(t.URL); err != nil {
				return f.fail(offset+len(line)-len(t.URL), err)
			}
			f.targets = append(f.targets, t)
			if open = p; method == "" {
				open = nil
			}
			return nil
		case open == nil:
			return f.fail(offset, fmt.Errorf("%q is neither METHOD URL nor a URL that begins with http:// or https://; a header or an @body follows a METHOD URL", line))
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

func isURL(s string) bool {
	scheme, _, ok := strings.Cut(s, "://")
	return ok && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https"))
}

func (f *targetFile) plainHeader(open *parsedTarget, line string, offset int) error {
	name, value, ok := strings.Cut(line, ":")
	if !ok {
		return f.fail(offset, fmt.Errorf("%q is no header; write Name: value", line))
	}
	h := Header{strings.TrimRight(name, " \t"), strings.TrimLeft(value, " \t")}
	t := &f.targets[len(f.targets)-1]
	before := len(t.Header)
	t.addHeader(h)
	if len(t.Header) == before {
		return nil
	}
	if err := open.addField(h); err != nil {
		if _, ok := errors.AsType[*columnError](err); ok {
			offset += len(line) - len(h.Value)
		}
		return f.fail(offset, err)
	}
	return nil
}

// addHeader adds what a file says, but for the length of the body.
func (t *Target) addHeader(h Header) {
	if !strings.EqualFold(h.Name, "Content-Length") {
		t.Header = append(t.Header, h)
	}
}

func (f *targetFile) plainBody(path string, offset int) error {
	path = strings.TrimSpace(path)
	body, ok := f.bodies[path]
	if !ok {
		var err error
		if body, err = fileBody(inFolder(f.folder, path)); err != nil {
			return f.fail(offset, fmt.Errorf("the target's body: %w", err))
		}
		if f.bodies == nil {
			f.bodies = make(map[string]Body)
		}
		f.bodies[path] = body
	}
	f.targets[len(f.targets)-1].Body = body
	return nil
}

// smallBody is up to which size a file is kept in memory and sent in one piece
// with the head.
const smallBody = 64 << 10

// inFolder is where the file of that name is, for a folder that is not "".
func inFolder(folder, name string) string {
	if folder == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(folder, name)
}

// fileBody returns a file's content as a body, without templates.
func fileBody(path string) (Body, error) {
	file, size, err := openBody(path)
	if err != nil || size > smallBody {
		return Body{File: file, Size: size}, err
	}
	content, err := io.ReadAll(io.NewSectionReader(file, 0, size))
	if closer, ok := file.(io.Closer); ok {
		err = errors.Join(err, closer.Close())
	}
	return Body{Text: escapeTemplate(string(content))}, err
}

// jsonLines reads an object a line.
func (f *targetFile) jsonLines() error {
	return f.lines(func(line string, offset int) error {
		t, err := parseJSONTarget(line)
		if err == nil {
			_, err = parseTarget(&t)
		}
		if err != nil {
			return f.fail(offset, err)
		}
		f.targets = append(f.targets, t)
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
		return Target{}, at(len(line)-len(rest), "%.20q follows the object; there is one on a line", rest)
	}
	t := Target{Method: in.Method, URL: in.URL, Body: Body{Text: escapeTemplate(string(in.Body))}}
	for _, name := range slices.Sorted(maps.Keys(in.Header)) {
		for _, value := range in.Header[name] {
			t.addHeader(Header{name, value})
		}
	}
	return t, nil
}

// atJSON gives a decoder's error its column on the line.
func atJSON(err error) error {
	const known = `a target is {"method": …, "url": …, "header": {"Name": ["value"]}, "body": "in base64"} on one line`
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		return at(int(e.Offset)-1, "%w; %s", err, known)
	}
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return at(int(e.Offset)-1, "%w; %s", err, known)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return at(0, "the object does not end on this line; %s", known)
	}
	return at(0, "%w; %s", err, known)
}
