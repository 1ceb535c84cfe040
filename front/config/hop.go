package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weirhq/weir/front/internal/template"
	"github.com/weirhq/weir/internal/yamlfile"
	"github.com/weirhq/weir/router"
)

// anySegment is a segment that occurs in no file. It replaces the part of a path
// that a pattern leaves open.
const anySegment = "~weir-check~"

// segmentExamples are values for parameters. The first that all constraints of a pattern
// accept is used.
var segmentExamples = []string{anySegment, "1", "a", "2000-01-01", "00000000-0000-4000-8000-000000000000", "192.0.2.1",
	"2001:db8::1"}

// samples returns paths that the hop's pattern matches, if its constraints accept a value for
// its parameters. The first is the one that the fewest other patterns match.
func (h *hop) samples(value string) []string {
	path := h.pattern[strings.IndexByte(h.pattern, '/'):]
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(path, "{")
		b.WriteString(before)
		if !found {
			break
		}
		name, after, _ := strings.Cut(rest, "}")
		if name != "$" && after == "" && strings.HasSuffix(name, "...") {
			start := b.String()
			return []string{start + value + "/" + value, start + value, start}
		}
		if name != "$" {
			b.WriteString(value)
		}
		path = after
	}
	return []string{b.String()}
}

// host returns a host that the hop's pattern matches, or "" for all hosts.
func (h *hop) host() string {
	host := h.pattern[strings.LastIndexByte(h.pattern, ' ')+1:]
	host = host[:strings.IndexByte(host, '/')]
	if _, suffix, found := strings.Cut(host, "}"); found {
		return "x" + suffix
	}
	return strings.Replace(host, "*", "x", 1)
}

// method returns a method that the hop's pattern matches.
func (h *hop) method() string {
	methods, _, found := strings.Cut(h.pattern, " ")
	if !found {
		return "GET"
	}
	method, _, _ := strings.Cut(methods, ",")
	return method
}

// start returns the values of a request for the hop. ok is false if none is found.
func (h *hop) start(constraints router.Constraints) (_ *template.Values, ok bool) {
	v := &template.Values{Params: new(router.Params), Method: h.method(), Host: h.host()}
	if !h.target.FollowsRequest() {
		v.Path = h.samples(anySegment)[0]
		return v, true
	}
	own, err := router.NewTable(constraints, []router.Entry[bool]{{Pattern: h.pattern}})
	if err != nil {
		return nil, false
	}
	for _, value := range segmentExamples {
		v.Path = h.samples(value)[0]
		if e, _ := own.Lookup(v.Method, v.Host, "", v.Path, v.Params); e != nil {
			return v, true
		}
	}
	return nil, false
}

// maxHops is the number of redirects in a row that most clients follow.
const maxHops = 20

// follow reports a redirect to another redirect.
func (d draft) follow(table *router.Table[draft], constraints router.Constraints) {
	v, ok := d.hop.start(constraints)
	if !ok {
		return
	}
	way := []string{v.Path}
	var second *draft
	for here := d; len(way) <= maxHops; {
		b, err := here.hop.target.AppendLocation(nil, v)
		if err != nil {
			return
		}
		location := string(b)
		v.Path = pathOf(location)
		next := hopAt(table, v)
		switch {
		case next == nil && second == nil:
			return
		case next == nil:
			d.chain(second, here, location)
			return
		case slices.Contains(way, v.Path):
			d.endless("leads into a loop", append(way, v.Path))
			return
		case second == nil:
			second = next
		}
		way = append(way, v.Path)
		here = *next
	}
	d.endless(fmt.Sprintf("leads through more than %d redirects", maxHops), way)
}

// pathOf returns the path of a location of the same host, or "".
func pathOf(location string) string {
	if i := strings.IndexAny(location, "?#"); i >= 0 {
		location = location[:i]
	}
	if !strings.HasPrefix(location, "/") {
		return ""
	}
	return location
}

// hopAt returns the redirect that a client reaches with a path, and sets the parameters. It
// returns nil if there is none.
func hopAt(table *router.Table[draft], v *template.Values) *draft {
	e := lookup(table, v)
	if e == nil || e.Value.hop == nil {
		return nil
	}
	return &e.Value
}

// chain reports a redirect that leads through the second one to the last one,
// whose target is the address.
func (d draft) chain(second *draft, last draft, address string) {
	hint := "write " + last.hop.to.Text
	switch {
	case !last.hop.target.FollowsRequest():
	case d.line != nil && last.line != nil:
		hint = "write " + withStar(address)
	default:
		hint = "write the last address, which has the form " + last.hop.to.Text
	}
	d.Mistakef(d.hop.to.Pos, hint, "%s is redirected again on %s", yamlfile.Quote(d.hop.to.Text),
		second.text.Pos.LineFrom(d.hop.to.Pos))
}

// endless reports a redirect that never ends at an address.
func (d draft) endless(problem string, way []string) {
	shown := make([]string, 0, 4)
	for _, path := range way[:min(len(way), cap(shown))] {
		shown = append(shown, withStar(path))
	}
	d.Mistakef(d.hop.to.Pos, "remove one of the redirects", "%s %s: %s",
		yamlfile.Quote(d.hop.from), problem, strings.Join(shown, " -> "))
}

// withStar replaces the part of an address that a pattern leaves open by a "*".
func withStar(address string) string {
	return strings.ReplaceAll(strings.Replace(address, anySegment+"/"+anySegment, "*", 1), anySegment, "*")
}
