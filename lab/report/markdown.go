package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/weirhq/weir/internal/page"
	"github.com/weirhq/weir/internal/readable"
)

// markdown writes the sentences and tables of the page, with links to its
// plots.
func (d *document) markdown(w io.Writer) error {
	var b bytes.Buffer
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("# %s\n", plainText(d.Title))
	if d.Question != "" {
		line("%s\n", plainText(d.Question))
	}
	line("## Findings\n")
	for _, f := range d.Findings {
		line("- %s%s", markText(f.Verdict), plainText(f.Text))
	}
	if len(d.Warnings) > 0 {
		line("\nBefore relying on this:\n")
		for _, warning := range d.Warnings {
			line("- %s", plainText(warning))
		}
	}
	line("\n## The configurations\n")
	markdownTable(&b, d.Overview)
	for _, s := range d.HowSure {
		line("\n%s", plainText(s))
	}
	line("\n## By configuration")
	markdownPlots(&b, d.Charts)
	if len(d.OverTime) > 0 {
		line("\n## Over time")
	}
	markdownPlots(&b, d.OverTime)
	line("\n## All measurements\n")
	markdownTable(&b, d.Measures)
	line("\n## Every run\n")
	markdownTable(&b, d.Runs)
	for _, run := range d.Unmeasured {
		line("\n### Run %d, %s: %s", run.Number, plainText(run.Configuration), plainText(run.Text))
		if run.LastOutput != "" {
			line("\n%s", codeBlock(run.LastOutput, ""))
		}
	}
	line("\n## How it was measured\n")
	for _, f := range d.Facts {
		line("- %s: %s", f.Name, plainText(f.Text))
	}
	if d.Source != "" {
		line("\n%s", codeBlock(d.Source, "yaml"))
	}
	line("\nruns.csv has every run, samples.csv every sample, and report.html everything.")
	_, err := w.Write(b.Bytes())
	return err
}

func markdownPlots(b *bytes.Buffer, figures []page.Figure) {
	for _, f := range figures {
		title := plainText(f.Title)
		fmt.Fprintf(b, "\n### %s\n\n![%s](plots/%s.svg)\n\n%s\n", title, title, f.File, plainText(f.Help))
	}
}

// plainText escapes a text for Markdown.
func plainText(s string) string {
	var b strings.Builder
	for _, r := range readable.Visible(s) {
		if strings.ContainsRune("\\`*_[]<>#|~!&", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// codeBlock returns a text between fences that it does not contain.
func codeBlock(s, language string) string {
	fence := "```"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	return fence + language + "\n" + strings.TrimRight(visibleLines(s), "\n") + "\n" + fence
}

func markdownTable(b *bytes.Buffer, t page.Table) {
	var head, rule strings.Builder
	for _, c := range t.Columns {
		head.WriteString("| " + plainText(c.Name) + " ")
		rule.WriteString(map[bool]string{false: "|:--", true: "|--:"}[c.Number])
	}
	fmt.Fprintf(b, "%s|\n%s|\n", head.String(), rule.String())
	for _, row := range t.Rows {
		for _, c := range row {
			text := plainText(c.Text)
			if c.Small != "" {
				text += " (" + plainText(c.Small) + ")"
			}
			if c.Class == "outlier" {
				text += " outlier"
			}
			b.WriteString("| " + text + " ")
		}
		b.WriteString("|\n")
	}
}
