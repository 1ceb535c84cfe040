// Package routetable checks the routing table of a configuration: patterns that are malformed, conflict or have the
// syntax of other programs, routes and redirects that no request reaches, and chains and loops of redirects.
package routetable

import (
	"slices"
	"strings"

	"github.com/weirhq/weir/front/condition"
	"github.com/weirhq/weir/front/internal/redirect"
	"github.com/weirhq/weir/front/internal/scalar"
	"github.com/weirhq/weir/front/internal/template"
	"github.com/weirhq/weir/internal/yamlfile"
	"github.com/weirhq/weir/router"
)

// An Entry is an entry of the routing table and its place in a file: a route, or a line of a file of
// redirects.
type Entry struct {
	*yamlfile.File
	Text     yamlfile.Scalar // the pattern of a route, or the source of a line
	Pattern  string
	When     condition.Set
	FromFile bool      // it is a line
	Redirect *Redirect // nil for a route without a redirect; not shared by entries
}

// A Redirect is where an entry leads.
type Redirect struct {
	To     yamlfile.Scalar // as in the file
	Target *redirect.Target
}

// Check reports the mistakes in a table, and warns of what is probably one. Routes come before lines of the file
// of redirects. A conflict between the two is therefore reported as a mistake in the line.
func Check(constraints router.Constraints, entries []Entry) {
	t := table{constraints: constraints, groups: map[string]*group{}}
	for _, e := range entries {
		e.warnOfPattern()
		t.add(e)
	}
	t.check()
}

// A table is a routing table that is being checked.
type table struct {
	constraints router.Constraints
	entries     []router.Entry[Entry]
	groups      map[string]*group // by pattern
}

// A group has the entries with one pattern. They have one entry in the table, whose value is the
// one without conditions, if there is one.
type group struct {
	entry   int
	entries []Entry
}

func (t *table) add(e Entry) {
	g := t.groups[e.Pattern]
	if g == nil || e.When.None() && t.entries[g.entry].Value.When.None() {
		g = &group{entry: len(t.entries)}
		t.groups[e.Pattern] = g
		t.entries = append(t.entries, router.Entry[Entry]{Pattern: e.Pattern, Value: e})
	}
	for _, before := range g.entries {
		if !before.When.None() && e.When.Implies(before.When) {
			e.Mistakef(e.Text.Pos, "remove it, or move it before that one",
				"no request reaches this route: the route with the same pattern on %s takes all its requests",
				before.Text.Pos.LineFrom(e.Text.Pos))
		}
	}
	if e.When.None() {
		t.entries[g.entry].Value = e
	}
	g.entries = append(g.entries, e)
}

// warnOfPattern warns of unknown methods, and of a host that is probably the start of the path.
func (e Entry) warnOfPattern() {
	list, rest, found := strings.Cut(e.Text.Text, " ")
	if !found {
		list, rest = "", e.Text.Text
	}
	for offset, method := 0, ""; list != ""; offset += len(method) + 1 {
		method, list, _ = strings.Cut(list, ",")
		at := e.Within(e.Text, offset)
		scalar.WarnOfMethod(e.File, at, method)
		if method == "TRACE" || method == "CONNECT" {
			e.Warnf(at, "remove it", "no request with the method %s reaches a route", method)
		}
	}
	rest = strings.TrimLeft(rest, " \t")
	host, _, _ := strings.Cut(rest, "/")
	if host != "" && host != "localhost" && !strings.ContainsAny(host, ".:{*") {
		e.Warnf(e.Within(e.Text, len(e.Text.Text)-len(rest)), "write "+yamlfile.Quote("/"+rest)+" if it is the start of the path",
			"%s is the name of a host", yamlfile.Quote(host))
	}
}

// lookup returns the entry for a request for which no conditions hold, or nil. It sets the
// parameters.
func lookup(table *router.Table[Entry], v *template.Values) *router.Entry[Entry] {
	e, _ := table.Lookup(v.Method, v.Host, "", v.Path, v.Params)
	for e != nil && !e.Value.When.None() {
		e, _ = table.Next(v.Method, v.Host, "", v.Path, v.Params)
	}
	return e
}

// check reports the patterns that are malformed or conflict. With a table of the
// others, it checks the redirects.
func (t *table) check() {
	built, err := router.NewTable(t.constraints, t.entries)
	if wrong, ok := err.(interface{ Unwrap() []error }); ok {
		refused := map[int]bool{}
		for _, e := range wrong.Unwrap() {
			m := e.(*router.Mistake)
			t.report(m)
			refused[m.Entry] = true
		}
		i := -1
		t.entries = slices.DeleteFunc(t.entries, func(router.Entry[Entry]) bool { i++; return refused[i] })
		built, err = router.NewTable(t.constraints, t.entries)
	}
	if err == nil {
		t.checkRedirects(built)
	}
}

// report reports a mistake of the router at the position of the pattern.
func (t *table) report(m *router.Mistake) {
	e := t.entries[m.Entry].Value
	if m.Other < 0 {
		e.Mistakef(e.Within(e.Text, m.Offset), hintFor(e.Text.Text, m.Hint), "pattern %s: %s", yamlfile.Quote(e.Text.Text), m.Problem)
		return
	}
	other := t.entries[m.Other].Value
	switch {
	case !e.FromFile:
		hint := "make one of them more specific"
		if m.Pattern == m.OtherPattern {
			hint = "keep one of them, or distinguish them with when"
		} else if !e.When.None() || !other.When.None() {
			hint += ", or write the same pattern in both"
		}
		e.Mistakef(e.Text.Pos, hint,
			"pattern %s conflicts with %s on %s: both match %s",
			yamlfile.Quote(m.Pattern), yamlfile.Quote(m.OtherPattern), other.Text.Pos.LineFrom(e.Text.Pos), m.Example)
	case !other.FromFile:
		e.reportShadowed(other)
	case e.Text.Text == other.Text.Text:
		e.Mistakef(e.Text.Pos, "keep one of the two", "%s is given twice, first on line %d",
			yamlfile.Quote(e.Text.Text), other.Text.Pos.Line)
	default:
		e.Mistakef(e.Text.Pos, "keep one of the two", "%s is the same as %s on line %d",
			yamlfile.Quote(e.Text.Text), yamlfile.Quote(other.Text.Text), other.Text.Pos.Line)
	}
}

// reportShadowed adds the mistake of a redirect that no GET request reaches because of a route.
func (e Entry) reportShadowed(route Entry) {
	e.Mistakef(e.Text.Pos, "remove the redirect or the route", "%s is shadowed by the route %s on %s",
		yamlfile.Quote(e.Text.Text), yamlfile.Quote(route.Text.Text), route.Text.Pos.LineFrom(e.Text.Pos))
}

// checkRedirects reports the redirects that are shadowed by routes and those
// that lead to another redirect. It leaves out routes with conditions.
func (t *table) checkRedirects(built *router.Table[Entry]) {
	for i := range t.entries {
		e := t.entries[i].Value
		if e.Redirect == nil || !e.When.None() {
			continue
		}
		if by := e.shadow(built); by != nil {
			e.reportShadowed(*by)
		} else {
			e.follow(built, t.constraints)
		}
	}
}

// shadow returns the route that all GET requests for a line of the file of redirects reach
// instead, or nil if some of them reach the line.
func (e Entry) shadow(built *router.Table[Entry]) (by *Entry) {
	if !e.FromFile {
		return nil
	}
	for _, path := range e.samples(anySegment) {
		found := lookup(built, &template.Values{Params: new(router.Params), Method: "GET", Host: e.host(), Path: path})
		if found == nil || found.Value.Redirect == e.Redirect {
			return nil
		}
		by = &found.Value
	}
	return by
}
