package report

import (
	"bytes"
	"fmt"
	"io"

	"github.com/weirhq/weir/internal/page"
	"github.com/weirhq/weir/lab/guard"
)

// Guard writes the result of a guard as text: the answer, a table of the
// conditions, and notes. It writes once.
func Guard(w io.Writer, r *guard.Result, style Style) error {
	p := newPaper(style)
	p.Println(p.Clean(r.Sentence()))
	if f := r.Failure; f != nil && f.Run.LastOutput != "" {
		p.Println("its last output:\n" + visibleLines(f.Run.LastOutput))
	}
	if len(r.Blocks) > 0 {
		p.Println("")
		p.table(cellsOf(guard.Columns, r.Rows()))
	}
	for _, note := range r.Notes() {
		p.Println(p.Clean(note))
	}
	_, err := w.Write(p.Bytes())
	return err
}

// GuardMarkdown writes the result of a guard for a pull request.
func GuardMarkdown(w io.Writer, r *guard.Result) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "### weir lab guard: %s\n\n%s\n", r.Answer, plainText(r.Sentence()))
	if f := r.Failure; f != nil && f.Run.LastOutput != "" {
		fmt.Fprintf(&b, "\n%s\n", codeBlock(f.Run.LastOutput, ""))
	}
	if len(r.Blocks) > 0 {
		b.WriteByte('\n')
		markdownTable(&b, cellsOf(guard.Columns, r.Rows()))
	}
	for _, note := range r.Notes() {
		fmt.Fprintf(&b, "\n%s\n", plainText(note))
	}
	fmt.Fprintf(&b, "\n<details><summary>How it was measured</summary>\n\nThe base is %s. The machine: %s, %d CPUs, %s. "+
		"The seed of the order: %d.\n\n", plainText(r.Base), plainText(r.Machine.Processor), r.Machine.CPUs,
		plainText(r.Machine.System), r.Seed)
	if len(r.Blocks) > 0 {
		markdownTable(&b, blocksTable(r))
	}
	fmt.Fprintf(&b, "\n%s\n\n</details>\n", codeBlock(r.Load, "yaml"))
	_, err := w.Write(b.Bytes())
	return err
}

// blocksTable has the differences of each block.
func blocksTable(r *guard.Result) page.Table {
	columns := []string{"block", "first"}
	if r.Duet {
		columns[1] = "first on the first half"
	}
	for _, j := range r.Conditions {
		columns = append(columns, j.Metric)
	}
	var rows [][]string
	for i, b := range r.Blocks {
		first := guard.BaseName
		if b.Pairs[0].Change.Number < b.Pairs[0].Base.Number {
			first = guard.ChangeName
		}
		row := []string{fmt.Sprint(i + 1), first}
		for _, j := range r.Conditions {
			row = append(row, j.Show(j.Difference(b)))
		}
		rows = append(rows, row)
	}
	return cellsOf(columns, rows)
}

// cellsOf returns a table whose first column has texts, and the others numbers.
func cellsOf(columns []string, rows [][]string) page.Table {
	t := page.Table{Columns: append(page.Texts(columns[0]), page.Numbers(columns[1:]...)...)}
	for _, row := range rows {
		var cells []page.Cell
		for _, text := range row {
			cells = append(cells, page.Cell{Text: text})
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}
