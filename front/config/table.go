package config

import (
	"slices"

	"github.com/weirhq/weir/front/condition"
	"github.com/weirhq/weir/front/internal/template"
	"github.com/weirhq/weir/internal/yamlfile"
	"github.com/weirhq/weir/router"
)

// A tableDraft is the routing table of a configuration that is being read. Routes
// are added before redirects. A conflict between the two is therefore reported as
// a mistake in the redirect.
type tableDraft struct {
	reader  *reader
	entries []router.Entry[draft]
	groups  map[string]*group // by pattern
}

// A draft is an entry of the routing table and its place in a file.
type draft struct {
	*yamlfile.File
	text yamlfile.Scalar // the pattern of a route, or the from of a redirect
	line *redirectLine   // nil for a route
	hop  *hop            // nil for a route without a redirect
	when condition.Set
}

// A group has the drafts with one pattern. They have one entry, whose value is the draft
// without conditions, if there is one.
type group struct {
	entry  int
	drafts []draft
}

func (t *tableDraft) add(pattern string, d draft) {
	if t.groups == nil {
		t.groups = map[string]*group{}
	}
	g := t.groups[pattern]
	if g == nil || d.when.None() && t.entries[g.entry].Value.when.None() {
		g = &group{entry: len(t.entries)}
		t.groups[pattern] = g
		t.entries = append(t.entries, router.Entry[draft]{Pattern: pattern, Value: d})
	}
	for _, before := range g.drafts {
		if !before.when.None() && d.when.Implies(before.when) {
			d.Mistakef(d.text.Pos, "remove it, or move it before that one",
				"no request reaches this route: the route with the same pattern on %s takes all its requests",
				before.text.Pos.LineFrom(d.text.Pos))
		}
	}
	if d.when.None() {
		t.entries[g.entry].Value = d
	}
	g.drafts = append(g.drafts, d)
}

// lookup returns the entry for a request for which no conditions hold, or nil. It sets the
// parameters.
func lookup(table *router.Table[draft], v *template.Values) *router.Entry[draft] {
	e, _ := table.Lookup(v.Method, v.Host, "", v.Path, v.Params)
	for e != nil && !e.Value.when.None() {
		e, _ = table.Next(v.Method, v.Host, "", v.Path, v.Params)
	}
	return e
}

// check reports the patterns that are malformed or conflict. With a table of the
// others, it checks the redirects.
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

// report reports a mistake of the router at the position of the pattern.
func (t *tableDraft) report(m *router.Mistake) {
	d := t.entries[m.Entry].Value
	if m.Other < 0 {
		d.Mistakef(d.Within(d.text, m.Offset), m.Hint, "pattern %s: %s", yamlfile.Quote(d.text.Text), m.Problem)
		return
	}
	other := t.entries[m.Other].Value
	switch {
	case d.line == nil:
		hint := "make one of them more specific"
		if !d.when.None() || !other.when.None() {
			hint += ", or write the same pattern in both"
		}
		d.Mistakef(d.text.Pos, hint,
			"pattern %s conflicts with %s on %s: both match %s",
			yamlfile.Quote(m.Pattern), yamlfile.Quote(m.OtherPattern), other.text.Pos.LineFrom(d.text.Pos), m.Example)
	case other.line == nil:
		d.reportShadowed(other)
	case d.text.Text == other.text.Text:
		d.Mistakef(d.text.Pos, "keep one of the two", "%s is given twice, first on line %d",
			yamlfile.Quote(d.text.Text), other.text.Pos.Line)
	default:
		d.Mistakef(d.text.Pos, "keep one of the two", "%s is the same as %s on line %d",
			yamlfile.Quote(d.text.Text), yamlfile.Quote(other.text.Text), other.text.Pos.Line)
	}
}

// reportShadowed adds the mistake of a redirect that no GET request reaches because of a route.
func (d draft) reportShadowed(route draft) {
	d.Mistakef(d.text.Pos, "remove the redirect or the route", "%s is shadowed by the route %s on %s",
		yamlfile.Quote(d.text.Text), yamlfile.Quote(route.text.Text), route.text.Pos.LineFrom(d.text.Pos))
}

// checkRedirects reports the redirects that are shadowed by routes and those
// that lead to another redirect. It leaves out routes with conditions.
func (t *tableDraft) checkRedirects(table *router.Table[draft]) {
	for _, e := range t.entries {
		d := e.Value
		switch {
		case d.hop == nil || !d.when.None():
		case d.shadow(table) != nil:
			d.reportShadowed(*d.shadow(table))
		default:
			d.follow(table, t.reader.constraints)
		}
	}
}

// shadow returns the route that all GET requests for a line of the file of redirects reach
// instead, or nil if some of them reach the line.
func (d draft) shadow(table *router.Table[draft]) (by *draft) {
	if d.line == nil {
		return nil
	}
	for _, path := range d.hop.samples(anySegment) {
		e := lookup(table, &template.Values{Params: new(router.Params), Method: "GET", Host: d.hop.host(), Path: path})
		if e == nil || e.Value.line == d.line {
			return nil
		}
		by = &e.Value
	}
	return by
}
