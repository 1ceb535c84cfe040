package config

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/weirhq/weir/front/internal/namedfile"
	"github.com/weirhq/weir/front/internal/redirect"
	"github.com/weirhq/weir/internal/yamlfile"
)

// redirectStatuses are the values of [Redirect.Status] by their text in a file.
var redirectStatuses = map[string]int{"301": 301, "302": 302, "": 307, "307": 307, "308": 308}

// redirectColumns are the columns of a file of redirects. The last one is optional.
// The first line may contain these names.
var redirectColumns = []string{"from", "to", "status"}

// maxRedirectBytes is the maximum size of a file of redirects. While it is read,
// several copies of it are in memory.
const maxRedirectBytes = 16 << 20

// readRedirects reads the file of redirects that the configuration names. The name of the
// configuration is file.
func (r *reader) readRedirects(file string) {
	if r.redirectsKey.Text == "" {
		return
	}
	name := namedfile.Resolve(file, r.redirectsKey.Text)
	src, ok := r.readNamed(r.File, r.redirectsKey.Pos, "the redirects", name)
	if !ok {
		return
	}
	r.redirects = parseRedirects(name, src)
	for _, line := range r.redirects.lines {
		r.config.Redirects = append(r.config.Redirects, line.Redirect)
	}
}

// parseRedirects parses a file of redirects, which is CSV.
func parseRedirects(name string, src []byte) *redirectFile {
	f := &redirectFile{File: yamlfile.NewFile(name, "a file of redirects", src, maxRedirectBytes)}
	lines := csv.NewReader(bytes.NewReader(f.Source()))
	lines.FieldsPerRecord = -1
	lines.Comment = '#'
	lines.TrimLeadingSpace = true
	for first := true; ; first = false {
		fields, err := lines.Read()
		var syntax *csv.ParseError
		switch {
		case err == io.EOF:
			return f
		case errors.As(err, &syntax):
			f.addSyntax(syntax)
		default:
			f.addLine(f.scalars(lines, fields), first)
		}
	}
}

// addSyntax reports a line that is not CSV. An unclosed quote makes the following
// lines part of that line.
func (f *redirectFile) addSyntax(err *csv.ParseError) {
	at := yamlfile.Pos{Line: err.StartLine, Col: 1}
	if err.Line == err.StartLine {
		at = f.PosOfColumn(err.Line, err.Column)
	}
	f.Mistakef(at, "put quotes around the whole field, and double those in it", "not CSV: %s", err.Err)
}

// scalars returns the fields of the last line that was read, without surrounding
// blanks.
func (f *redirectFile) scalars(lines *csv.Reader, fields []string) []yamlfile.Scalar {
	all := make([]yamlfile.Scalar, len(fields))
	for i, field := range fields {
		all[i] = yamlfile.Scalar{Text: strings.TrimRight(field, " \t"), Pos: f.PosOfColumn(lines.FieldPos(i))}
	}
	return all
}

// addLine adds a line, unless it has a mistake, is empty, or contains the names of
// the columns.
func (f *redirectFile) addLine(fields []yamlfile.Scalar, first bool) {
	texts := make([]string, len(fields))
	for i := range fields {
		texts[i] = fields[i].Text
	}
	switch n := len(fields); {
	case strings.Join(texts, "") == "":
	case first && n >= 2 && n <= len(redirectColumns) && slices.Equal(texts, redirectColumns[:n]):
	case n < 2:
		f.Mistakef(fields[0].Pos, "write from,to or from,to,status", "the line has no comma")
	case n > len(redirectColumns):
		f.Mistakef(fields[len(redirectColumns)].Pos, "put quotes around a field that contains a comma",
			"the line has %d fields", n)
	default:
		if line := f.parseLine(append(fields, yamlfile.Scalar{})); line != nil {
			f.lines = append(f.lines, line)
		}
	}
}

// parseLine parses the fields from, to and status. An omitted status is empty. It
// returns nil if there is a mistake.
func (f *redirectFile) parseLine(fields []yamlfile.Scalar) *redirectLine {
	from, to, status := fields[0], fields[1], fields[2]
	code, known := redirectStatuses[status.Text]
	if !known {
		f.Refuse(status, refuseRedirectStatus(status))
		return nil
	}
	source, refused := redirect.ParseSource(from.Text)
	if refused != nil {
		f.Refuse(from, refused)
		return nil
	}
	target, refused := redirect.ParseTarget(to.Text, code, source)
	if refused != nil {
		f.Refuse(to, refused)
		return nil
	}
	c := Redirect{From: from.Text, To: to.Text, Status: code, Position: Position{f.Name(), from.Pos.Line}}
	return &redirectLine{Redirect: c, from: from,
		hop: &hop{pattern: source.Pattern, from: from.Text, to: to, target: target}}
}
