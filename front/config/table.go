package config

import (
	"slices"

	"github.com/weirhq/weir/internal/yamlfile"
	"github.com/weirhq/weir/router"
)

// A tableDraft is the routing table of a configuration that is being read. The
// routes are added before the redirects, which therefore are the ones reported
// in a conflict.
type tableDraft struct {
	reader  *reader
	entries []router.Entry[draft]
}

// A draft is an entry of the routing table and its place in a file.
type draft struct {
	*yamlfile.File
	text yamlfile.Scalar // of a route its pattern, of a redirect its from
	line *redirectLine   // nil for a route
}

func (t *tableDraft) add(pattern string, d draft) {
	t.entries = append(t.entries, router.Entry[draft]{Pattern: pattern, Value: d})
}

// check reports the patterns that are wrong or in conflict. The rest make a
// table, in which it follows the redirects.
func (t *tableDraft) check() {
	table, err := router.NewTable(t.reader.constraints, t.entries)
	if wrong, ok := err.(interface{ Unwrap() []error }); ok {
		refused := map[int]bool{}
		for _, e := range wrong.Unwrap() {
			m := e.(*router.Mistake)
			t.report(m)
			refused[m.Entry] = true
		}
		i := -1
		t.entries = slices.DeleteFunc(t.entries, func(router.Entry[draft]) bool { i++; return refused[i] })
		table, err = router.NewTable(t.reader.constraints, t.entries)
	}
	if err == nil {
		t.checkRedirects(table)
	}
}

// report reports the router's mistake at the place of the pattern.
func (t *tableDraft) report(m *router.Mistake) {
	d := t.entries[m.Entry].Value
	if m.Other < 0 {
		d.Mistakef(d.Within(d.text, m.Offset), m.Hint, "pattern %s: %s", yamlfile.Quote(d.text.Text), m.Problem)
		return
	}
	other := t.entries[m.Other].Value
	switch {
	case d.line == nil:
		d.Mistakef(d.text.Pos, "make one of them more specific",
			"pattern %s conflicts with %s on line %d: both match %s",
			yamlfile.Quote(m.Pattern), yamlfile.Quote(m.OtherPattern), other.text.Pos.Line, m.Example)
	case other.line == nil:
		d.shadowedBy(other)
	case d.text.Text == other.text.Text:
		d.Mistakef(d.text.Pos, "keep one of the two", "%s is given twice, first on line %d",
			yamlfile.Quote(d.text.Text), other.text.Pos.Line)
	default:
		d.Mistakef(d.text.Pos, "keep one of the two", "%s is the same as %s on line %d",
			yamlfile.Quote(d.text.Text), yamlfile.Quote(other.text.Text), other.text.Pos.Line)
	}
}

// shadowedBy reports a redirect that no GET request reaches because of a route.
func (d draft) shadowedBy(route draft) {
	d.Mistakef(d.text.Pos, "remove the redirect or the route", "%s is shadowed by the route %s on line %d of %s",
		yamlfile.Quote(d.text.Text), yamlfile.Quote(route.text.Text), route.text.Pos.Line, route.Name())
}

// checkRedirects reports the redirects that are shadowed by routes and those
// that lead to another redirect.
func (t *tableDraft) checkRedirects(table *router.Table[draft]) {
	for _, e := range t.entries {
		if e.Value.line == nil {
			continue
		}
		if by := e.Value.shadow(table); by != nil {
			e.Value.shadowedBy(by.Value)
		} else {
			e.Value.follow(table)
		}
	}
}
