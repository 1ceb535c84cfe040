package page

import (
	"bytes"
	_ "embed"
	"html/template"
	"io"
	"strings"

	"github.com/weirhq/weir/internal/readable"
)

// A Sheet is the part that all pages have in common.
type Sheet struct {
	Title    string
	Facts    []Fact
	Warnings []string
	CSS      template.CSS
	JS       template.JS
}

// A Fact is a named property of the subject.
type Fact struct{ Name, Text string }

// A Table has named columns and a cell for each in every row.
type Table struct {
	Columns []Column
	Rows    [][]Cell
	Notes   []string // below the table
}

// A Column holds texts or numbers.
type Column struct {
	Name   string
	Number bool
}

// Texts returns columns of texts.
func Texts(names ...string) []Column { return columns(names, false) }

// Numbers returns columns of numbers.
func Numbers(names ...string) []Column { return columns(names, true) }

func columns(names []string, number bool) []Column {
	var all []Column
	for _, name := range names {
		all = append(all, Column{name, number})
	}
	return all
}

// Parts splits the name where a line may break. The name of a benchmark case is
// longer than a column is wide.
func (c Column) Parts() []string {
	parts := strings.SplitAfter(c.Name, "/")
	if rest, ok := strings.CutPrefix(parts[0], "Benchmark"); ok {
		parts = append([]string{"Benchmark", rest}, parts[1:]...)
	}
	if parts[0] == "/" { // "/request" stays whole
		parts = []string{c.Name}
	}
	return parts
}

// A Cell is a text with a smaller one beside it.
type Cell struct {
	Text, Small string
	Sort        string // sort key, if it is not the text
	Class       string // CSS class
	Why         string // tooltip
}

var (
	//go:embed palette.css
	paletteCSS string
	//go:embed chart.css
	chartCSS string
	//go:embed base.css
	baseCSS string
	//go:embed page.js
	pageJS string
	//go:embed head.html
	headText string
	//go:embed parts.html
	partsText string
	//go:embed picture.html
	pictureText string
)

// NewSheet returns a sheet with the style and the script that all pages have,
// followed by those of a page. The style covers light and dark screens, paper and
// phones. The script sorts the tables in an element of class sortable.
func NewSheet(title string, facts []Fact, css, js string) Sheet {
	return Sheet{
		Title: title, Facts: facts,
		CSS: template.CSS(paletteCSS + chartCSS + baseCSS + css), JS: template.JS(pageJS + js),
	}
}

// Template parses a page. It may use the function visible, which is
// [readable.Visible], and these templates: head (all elements before the body, of
// a Sheet; it forbids the browser to load anything), facts, table (a Table) and
// figure (a *Figure).
func Template(functions template.FuncMap, texts ...string) *template.Template {
	t := template.New("page").Funcs(template.FuncMap{"visible": readable.Visible}).Funcs(functions)
	for _, text := range append([]string{headText, partsText}, texts...) {
		template.Must(t.Parse(text))
	}
	return t
}

// Write executes a template and writes the page in one call. It writes nothing
// if the template fails.
func Write(w io.Writer, t *template.Template, data any) error {
	var b bytes.Buffer
	if err := t.Execute(&b, data); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}
