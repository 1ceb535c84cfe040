package report

import (
	"github.com/weirhq/weir/internal/page"
	"github.com/weirhq/weir/load"
)

// A Summary is a result in sentences and tables, the same as in Text and HTML.
type Summary struct {
	Headline []string // sentences
	Distrust string   // the reason not to trust the result, or ""
	Warnings []string
	Facts    []page.Fact
	Tables   []page.Table
}

// Summarize returns the summary of a result.
func Summarize(r *load.Result) Summary {
	s := newSheet(r)
	return Summary{Headline: s.Headline, Distrust: s.Distrust, Warnings: s.Warnings, Facts: s.Facts, Tables: s.Tables}
}
