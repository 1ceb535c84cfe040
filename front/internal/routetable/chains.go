package routetable

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

// samples returns paths that the entry's pattern matches, if its constraints accept a value for
// its parameters. The first is the one that the fewest other patterns match.
func (e Entry) samples(value string) []string {
	path := e.Pattern[strings.IndexByte(e.Pattern, '/'):]
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

// host returns a host that the entry's pattern matches, or "" for all hosts.
func (e Entry) host() string {
	host := e.Pattern[strings.LastIndexByte(e.Pattern, ' ')+1:]
	host = host[:strings.IndexByte(host, '/')]
	if _, suffix, found := strings.Cut(host, "}"); found {
		return "x" + suffix
	}
	return strings.Replace(host, "*", "x", 1)
}

// method returns a method that the entry's pattern matches.
func (e Entry) method() string {
	methods, _, found := strings.Cut(e.Pattern, " ")
	if !found {
		return "GET"
	}
	method, _, _ := strings.Cut(methods, ",")
	return method
}

// start returns the values of a request for the entry. ok is false if none is found.
func (e Entry) start(constraints router.Constraints) (_ *template.Values, ok bool) {
	v := &template.Values{Params: new(router.Params), Method: e.method(), Host: e.host()}
	if !e.Redirect.Target.FollowsRequest() {
		v.Path = e.samples(anySegment)[0]
		return v, true
	}
	own, err := router.NewTable(constraints, []router.Entry[bool]{{Pattern: e.Pattern}})
	if err != nil {
		return nil, false
	}
	for _, value := range segmentExamples {
		v.Path = e.samples(value)[0]
		if found, _ := own.Lookup(v.Method, v.Host, "", v.Path, v.Params); found != nil {
			return v, true
		}
	}
	return nil, false
}

// maxHops is the number of redirects in a row that most clients follow.
const maxHops = 20

// follow reports a redirect to another redirect.
func (e Entry) follow(table *router.Table[Entry], constraints router.Constraints) {
	v, ok := e.start(constraints)
	if !ok {
		return
	}
	way := []string{v.Path}
	var second *Entry
	for here := e; len(way) <= maxHops; {
		b, err := here.Redirect.Target.AppendLocation(nil, v)
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
			e.chain(second, here, location)
			return
		case slices.Contains(way, v.Path):
			e.endless("leads into a loop", append(way, v.Path))
			return
		case second == nil:
			second = next
		}
		way = append(way, v.Path)
		here = *next
	}
	e.endless(fmt.Sprintf("leads through more than %d redirects", maxHops), way)
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
func hopAt(table *router.Table[Entry], v *template.Values) *Entry {
	found := lookup(table, v)
	if found == nil || found.Value.Redirect == nil {
		return nil
	}
	return &found.Value
}

// chain reports a redirect that leads through the second one to the last one,
// whose target is the address.
func (e Entry) chain(second *Entry, last Entry, address string) {
	hint := "write " + last.Redirect.To.Text
	switch {
	case !last.Redirect.Target.FollowsRequest():
	case e.FromFile && last.FromFile:
		hint = "write " + withStar(address)
	default:
		hint = "write the last address, which has the form " + last.Redirect.To.Text
	}
	e.Mistakef(e.Redirect.To.Pos, hint, "%s is redirected again on %s", yamlfile.Quote(e.Redirect.To.Text),
		second.Text.Pos.LineFrom(e.Redirect.To.Pos))
}

// endless reports a redirect that never ends at an address.
func (e Entry) endless(problem string, way []string) {
	shown := make([]string, 0, 4)
	for _, path := range way[:min(len(way), cap(shown))] {
		shown = append(shown, withStar(path))
	}
	e.Mistakef(e.Redirect.To.Pos, "remove one of the redirects", "%s %s: %s",
		yamlfile.Quote(e.Text.Text), problem, strings.Join(shown, " -> "))
}

// withStar replaces the part of an address that a pattern leaves open by a "*".
func withStar(address string) string {
	return strings.ReplaceAll(strings.Replace(address, anySegment+"/"+anySegment, "*", 1), anySegment, "*")
}
