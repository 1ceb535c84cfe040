package redirects

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/weirhq/weir/front/internal/redirect"
	"github.com/weirhq/weir/internal/yamlfile"
)

// columns are the columns of a file of redirects. The last one is optional.
// The first line may contain these names.
var columns = []string{"from", "to", "status"}

// maxBytes is the maximum size of a file of redirects. While it is read,
// several copies of it are in memory.
const maxBytes = 16 << 20

// Redirect redirects the requests for a path, or for all paths below one. The
// routing table contains redirects and routes. The most specific pattern of both
// wins.
type Redirect struct {
	// From is [HOST]/PATH for one path, or [HOST]/PATH/* for all paths below.
	From string

	// To is a path, or a URL with the scheme http or https. If it ends in /*, From
	// does too, and the part of the path that the * of From matches replaces the *.
	// The query of a request is kept, unless To contains a "?".
	To string

	// Status is 301, 302, 307 or 308.
	Status int

	File string // the place of the line
	Line int    // 1-based
}

// A File is a file of redirects.
type File struct {
	*yamlfile.File
	Lines []Line // the redirects without a mistake
}

// A Line is a line of a file of redirects, and the positions of its fields.
type Line struct {
	Redirect
	Source, Address yamlfile.Scalar
	Pattern         string // of the requests that are redirected
	Target          *redirect.Target
}

// ParseFile parses a file of redirects, which is CSV.
func ParseFile(name string, src []byte) *File {
	f := &File{File: yamlfile.NewFile(name, "a file of redirects", src, maxBytes)}
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
func (f *File) addSyntax(err *csv.ParseError) {
	at := yamlfile.Pos{Line: err.StartLine, Col: 1}
	if err.Line == err.StartLine {
		at = f.PosOfColumn(err.Line, err.Column)
	}
	f.Mistakef(at, "put quotes around the whole field, and double the quotes in it", "not CSV: %s", err.Err)
}

// scalars returns the fields of the last line that was read, without surrounding
// blanks.
func (f *File) scalars(lines *csv.Reader, fields []string) []yamlfile.Scalar {
	all := make([]yamlfile.Scalar, len(fields))
	for i, field := range fields {
		all[i] = yamlfile.Scalar{Text: strings.TrimRight(field, " \t"), Pos: f.PosOfColumn(lines.FieldPos(i))}
	}
	return all
}

// addLine adds a line, unless it has a mistake, is empty, or contains the names of
// the columns.
func (f *File) addLine(fields []yamlfile.Scalar, first bool) {
	texts := make([]string, len(fields))
	for i := range fields {
		texts[i] = fields[i].Text
	}
	switch n := len(fields); {
	case strings.Join(texts, "") == "":
	case first && n >= 2 && n <= len(columns) && slices.Equal(texts, columns[:n]):
	case n < 2:
		f.Mistakef(fields[0].Pos, "write from,to or from,to,status", "the line has no comma")
	case n > len(columns):
		f.Mistakef(fields[len(columns)].Pos, "put quotes around a field that contains a comma",
			"the line has %d fields", n)
	default:
		if line, ok := f.parseLine(append(fields, yamlfile.Scalar{})); ok {
			f.Lines = append(f.Lines, line)
		}
	}
}

// parseLine parses the fields from, to and status, or reports a mistake. An omitted status is empty.
func (f *File) parseLine(fields []yamlfile.Scalar) (line Line, ok bool) {
	from, to, status := fields[0], fields[1], fields[2]
	code, known := statuses[status.Text]
	if !known {
		f.Refuse(status, refuseStatus(status))
		return line, false
	}
	source, refused := redirect.ParseSource(from.Text)
	if refused != nil {
		f.Refuse(from, refused)
		return line, false
	}
	target, refused := redirect.ParseTarget(to.Text, code, source)
	if refused != nil {
		f.Refuse(to, refused)
		return line, false
	}
	return Line{
		Redirect: Redirect{From: from.Text, To: to.Text, Status: code, File: f.Name(), Line: from.Pos.Line},
		Source:   from, Address: to, Pattern: source.Pattern, Target: target,
	}, true
}
