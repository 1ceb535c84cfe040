package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weirhq/weir/internal/yamlfile"
	"github.com/weirhq/weir/router"
)

// anySegment is a segment that no file has. It takes the place of the part of a
// path that a prefix leaves open.
const anySegment = "~weir-check~"

// samples returns paths that a redirect takes, the one that the fewest other
// patterns take first.
func (l *redirectLine) samples() []string {
	path := l.path()
	if !l.source.Prefix {
		return []string{path}
	}
	path = strings.TrimSuffix(path, "*")
	return []string{path + anySegment + "/" + anySegment, path + anySegment, path}
}

// path returns the from of a line without its host.
func (l *redirectLine) path() string { return l.From[strings.IndexByte(l.From, '/'):] }

// host returns the host in the from of a line, "" for every host.
func (l *redirectLine) host() string { return l.From[:strings.IndexByte(l.From, '/')] }

// shadow returns the entry that GET requests reach in the place of the redirect,
// and nil if there are some that reach the redirect.
func (d draft) shadow(table *router.Table[draft]) (by *router.Entry[draft]) {
	for _, path := range d.line.samples() {
		e, _ := table.Lookup("GET", d.line.host(), "", path, nil)
		if e == nil || e.Value.line == d.line {
			return nil
		}
		by = e
	}
	return by
}

// maxHops is the number of redirects in a row that most clients follow.
const maxHops = 20

// follow reports a redirect that leads to another one.
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

// at returns the redirect that the clients of l reach at an address, nil for
// none. It follows no address of another host.
func (l *redirectLine) at(table *router.Table[draft], address string) *redirectLine {
	if !strings.HasPrefix(address, "/") {
		return nil
	}
	e, _ := table.Lookup("GET", l.host(), "", address, nil)
	if e == nil {
		return nil
	}
	return e.Value.line
}

// chain reports a redirect that leads through the second line to the last one
// and its address.
func (d draft) chain(second, last *redirectLine, address string) {
	if !last.target.AppendsSuffix() {
		address = last.To
	}
	d.Mistakef(d.line.to.Pos, "write "+withStar(address), "%s is redirected again on line %d",
		yamlfile.Quote(d.line.To), second.from.Pos.Line)
}

// endless reports a redirect that leads a client to no address.
func (d draft) endless(problem string, way []string) {
	shown := make([]string, 0, 4)
	for _, path := range way[:min(len(way), cap(shown))] {
		shown = append(shown, withStar(path))
	}
	d.Mistakef(d.line.to.Pos, "remove one of the redirects", "%s %s: %s",
		yamlfile.Quote(d.line.From), problem, strings.Join(shown, " -> "))
}

// withStar returns an address with a "*" for the part that a prefix leaves open.
func withStar(address string) string {
	return strings.Replace(strings.Replace(address, anySegment+"/"+anySegment, "*", 1), anySegment, "*", 1)
}
