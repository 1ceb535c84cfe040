package config

import (
	"fmt"
	"slices"
	"strings"

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
	when Conditions
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
		if !before.when.None() && d.when.implies(before.when) {
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

// lookup returns the entry for a GET request for which no conditions hold, or nil.
func lookup(table *router.Table[draft], host, path string) *router.Entry[draft] {
	var p router.Params
	e, _ := table.Lookup("GET", host, "", path, &p)
	for e != nil && !e.Value.when.None() {
		e, _ = table.Next("GET", host, "", path, &p)
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
// that lead to another redirect.
func (t *tableDraft) checkRedirects(table *router.Table[draft]) {
	for _, e := range t.entries {
		if e.Value.line == nil {
			continue
		}
		if by := e.Value.shadow(table); by != nil {
			e.Value.reportShadowed(by.Value)
		} else {
			e.Value.follow(table)
		}
	}
}

// anySegment is a segment that occurs in no file. It replaces the part of a path
// that a prefix leaves open.
const anySegment = "~weir-check~"

// samples returns paths that a redirect matches. The first is the one that the
// fewest other patterns match.
func (l *redirectLine) samples() []string {
	path := l.path()
	if !l.source.Prefix {
		return []string{path}
	}
	path = strings.TrimSuffix(path, "*")
	return []string{path + anySegment + "/" + anySegment, path + anySegment, path}
}

// path returns the path in the from of a line.
func (l *redirectLine) path() string { return l.From[strings.IndexByte(l.From, '/'):] }

// host returns the host in the from of a line, or "" if it has none.
func (l *redirectLine) host() string { return l.From[:strings.IndexByte(l.From, '/')] }

// shadow returns the entry that all GET requests for the redirect reach instead,
// or nil if some of them reach the redirect.
func (d draft) shadow(table *router.Table[draft]) (by *router.Entry[draft]) {
	for _, path := range d.line.samples() {
		e := lookup(table, d.line.host(), path)
		if e == nil || e.Value.line == d.line {
			return nil
		}
		by = e
	}
	return by
}

// maxHops is the number of redirects in a row that most clients follow.
const maxHops = 20

// follow reports a redirect to another redirect.
func (d draft) follow(table *router.Table[draft]) {
	way := []string{d.line.samples()[0]}
	var second *redirectLine
	for line := d.line; len(way) <= maxHops; {
		location := line.target.Location(way[len(way)-1], "")
		way = append(way, location)
		path := strings.TrimSuffix(location, line.target.End)
		next := d.line.at(table, path)
		switch {
		case next == nil && second == nil:
			return
		case next == nil:
			d.chain(second, line, location)
			return
		case slices.Contains(way[:len(way)-1], path):
			d.endless("leads into a loop", way)
			return
		case second == nil:
			second = next
		}
		way[len(way)-1] = path
		line = next
	}
	d.endless(fmt.Sprintf("leads through more than %d redirects", maxHops), way)
}

// at returns the redirect that the clients of l reach at an address. It returns
// nil if there is none, or if the address has another host.
func (l *redirectLine) at(table *router.Table[draft], address string) *redirectLine {
	if !strings.HasPrefix(address, "/") {
		return nil
	}
	e := lookup(table, l.host(), address)
	if e == nil {
		return nil
	}
	return e.Value.line
}

// chain reports a redirect that leads through the second line to the last one,
// whose target is the address.
func (d draft) chain(second, last *redirectLine, address string) {
	if !last.target.AppendsSuffix() {
		address = last.To
	}
	d.Mistakef(d.line.to.Pos, "write "+withStar(address), "%s is redirected again on line %d",
		yamlfile.Quote(d.line.To), second.from.Pos.Line)
}

// endless reports a redirect that never ends at an address.
func (d draft) endless(problem string, way []string) {
	shown := make([]string, 0, 4)
	for _, path := range way[:min(len(way), cap(shown))] {
		shown = append(shown, withStar(path))
	}
	d.Mistakef(d.line.to.Pos, "remove one of the redirects", "%s %s: %s",
		yamlfile.Quote(d.line.From), problem, strings.Join(shown, " -> "))
}

// withStar replaces the part of an address that a prefix leaves open by a "*".
func withStar(address string) string {
	return strings.Replace(strings.Replace(address, anySegment+"/"+anySegment, "*", 1), anySegment, "*", 1)
}
