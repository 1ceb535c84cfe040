package config

import (
	"slices"
	"strings"

	"github.com/weirhq/weir/front/internal/routetable"
	"github.com/weirhq/weir/front/internal/scalar"
	"github.com/weirhq/weir/internal/yamlfile"
)

// groupKeys are the keys of a group that routes do not have.
var groupKeys = []key{
	{Path: routePath + ".group", Doc: "values that several routes share", Read: readGroup},
	{Path: routePath + ".group.name", Doc: "the name of a group with limits, in the log and in metrics", Local: true,
		Read: yamlfile.One(parseGroupName, func(f filling) *yamlfile.Scalar { return &f.group.name })},
	{Path: routePath + ".group.hosts", Doc: "the hosts of the patterns in a group", Local: true,
		Read: yamlfile.Some(parseGroupHost, func(f filling) *[]string { return &f.group.hosts }),
		Off:  func(f filling) { f.group.hosts = []string{} }},
	{Path: routePath + ".group.prefix", Doc: "a prefix of the paths of the patterns in a group", Local: true,
		Read: yamlfile.One(parsePrefix, func(f filling) *yamlfile.Scalar { return &f.group.prefix })},
	{Path: routePath + ".group.routes", Doc: "the routes of a group, and further groups", Local: true,
		Read:     func(_ *fileReader, p place, n *yamlfile.Node) { p.To.group.key, p.To.group.routes = p.Key, n },
		Required: `add at least one route, as in: group: {prefix: /api, routes: [{match: /users, to: api}]}`},
}

// readGroup reads a group, and the routes in it.
func readGroup(r *fileReader, p place, n *yamlfile.Node) {
	from := yamlfile.Outer{Name: "group", At: p.Key.Pos}
	name := n.Find("name")
	if name != nil && name.Value.Kind == yamlfile.Single {
		from.Name += " " + name.Value.Text
	}
	g := &groupDraft{hasName: name != nil}
	p.To.group = g
	delete(r.Positions, routePath+".hosts") // of another group
	in := *r
	in.Foreign = inGroup(r.Foreign)
	s, d := readScope(&in, p, n, from, p.To.groupKeysOf)
	if g.hosts != nil {
		s.hosts = g.hosts
	}
	for i, host := range g.hosts {
		at := r.Positions[routePath+".hosts"][i]
		s.parts = append(slices.Clip(s.parts), &patternPart{text: yamlfile.Scalar{Text: host, Pos: at}})
	}
	if g.prefix.Text != "" {
		s.prefix += g.prefix.Text
		s.parts = append(slices.Clip(s.parts), &patternPart{text: g.prefix})
	}
	p.To.reader.parts = append(p.To.reader.parts, s.parts[len(p.To.outer.parts):]...)
	if d.access != nil {
		s.access = append(slices.Clip(s.access), d.access)
	}
	if d.Limits.count() {
		p.To.addGroup(r, p, s, &d.Limits)
	}
	if g.routes != nil {
		p.Key, p.To.outer = g.key, s
		readList(r, p, g.routes)
	}
}

// addGroup adds a group with limits to the configuration, and to its scope.
func (f filling) addGroup(r *fileReader, p place, s *scope, l *RequestLimits) {
	g := f.group
	name := g.name.Text
	if name == "" {
		if !g.hasName {
			r.Mistakef(p.Key.Pos, "add one, as in name: shop; it is in the log and in metrics",
				"a group whose limits count requests has no name")
		}
		return
	}
	if f.groups == nil {
		f.groups = map[string]yamlfile.Pos{}
	}
	if before, again := f.groups[name]; again {
		r.Mistakef(g.name.Pos, "choose another name", "another group has the name %s, on %s", yamlfile.Quote(name),
			before.LineFrom(g.name.Pos))
		return
	}
	f.groups[name] = g.name.Pos
	f.config.Groups = append(f.config.Groups, Group{Name: name, Limits: l.counting()})
	s.groups = append(slices.Clip(s.groups), name)
}

// count reports whether limits count requests.
func (l *RequestLimits) count() bool { return l.InFlight != 0 || l.Rate.Every != 0 }

// counting returns the limits that count requests.
func (l *RequestLimits) counting() RequestLimits {
	return RequestLimits{InFlight: l.InFlight, InFlightShared: l.InFlightShared, Queue: l.Queue, Rate: l.Rate}
}

// parseGroupName reads a name that no route and no other label of metrics has.
func parseGroupName(s yamlfile.Scalar) (yamlfile.Scalar, *yamlfile.Refusal) {
	s.Describe(yamlfile.Form{Name: "name", Pattern: scalar.NamePattern})
	switch {
	case !scalar.IsName(s.Text):
		return s, yamlfile.Refuse("a name has letters, digits, '.', '_' and '-'", "%s cannot name a group",
			yamlfile.Quote(s.Text))
	case slices.Contains(reservedGroups, s.Text):
		return s, yamlfile.Refuse("choose another name", "metrics have the name %s for other requests", yamlfile.Quote(s.Text))
	}
	return s, nil
}

// reservedGroups are labels of metrics beside those of routes.
var reservedGroups = []string{"all", "redirects", "unmatched"}

// parseGroupHost reads a host of a pattern, whose wildcards are checked with all patterns.
func parseGroupHost(s yamlfile.Scalar) (string, *yamlfile.Refusal) {
	s.Describe(yamlfile.Form{Name: "host", Pattern: "[^/ ]+"})
	if s.Text == "" || strings.ContainsAny(s.Text, "/ \t") {
		return "", yamlfile.Refuse("write a host, as in example.com; a path is written in prefix", "%s is not a host",
			yamlfile.Quote(s.Text))
	}
	return s.Text, nil
}

// parsePrefix reads the start of a path, whose parameters are checked with all patterns.
func parsePrefix(s yamlfile.Scalar) (yamlfile.Scalar, *yamlfile.Refusal) {
	s.Describe(yamlfile.Form{Name: "start of a path", Pattern: "/[^ ]*[^/ ]"})
	switch {
	case !strings.HasPrefix(s.Text, "/") || strings.ContainsAny(s.Text, " \t"):
		return s, yamlfile.Refuse("write the start of a path, as in /api", "%s is not a prefix of a path",
			yamlfile.Quote(s.Text))
	case s.Text == "/":
		return s, yamlfile.Refuse("leave it out", "%s is the start of all paths", yamlfile.Quote(s.Text))
	case strings.HasSuffix(s.Text, "/*"):
		return s, yamlfile.Refuse("write it without the wildcard: the prefix is the start of the paths of all routes in the group",
			"%s has a wildcard", yamlfile.Quote(s.Text))
	case strings.HasSuffix(s.Text, "/"):
		return s, yamlfile.Refuse("write it without the slash at its end: the patterns in the group begin with one",
			"%s ends in a slash", yamlfile.Quote(s.Text))
	}
	return s, nil
}

// check reports a mistake in the part.
func (part *patternPart) check(r *reader) {
	refused := routetable.Refuse(part.text.Text+"/", r.constraints)
	if part.bad = refused != nil; part.bad {
		r.Refuse(part.text, refused)
	}
}

// patterns returns the patterns of a route in s with a match, one for each host, and a name of all of them. It returns
// none if it has reported a mistake.
func (s *scope) patterns(r *fileReader, match yamlfile.Scalar) (patterns []string, name string) {
	begin := strings.LastIndexAny(match.Text, " \t") + 1
	methods, rest := match.Text[:begin], match.Text[begin:]
	slash := strings.IndexByte(rest, '/')
	switch {
	case slash < 0 || s.prefix == "" && len(s.hosts) == 0:
		return []string{match.Text}, match.Text
	case len(s.hosts) == 0:
		name = methods + rest[:slash] + s.prefix + rest[slash:]
		return []string{name}, name
	case slash > 0:
		hint := "remove it, or write " + yamlfile.Quote(methods+"/"+rest) + " if it is the start of the path"
		r.Mistakef(r.Within(match, begin), hint, "the pattern has the host %s, and its group has hosts",
			yamlfile.Quote(rest[:slash]))
		return nil, ""
	}
	for _, host := range s.hosts {
		patterns = append(patterns, methods+host+s.prefix+rest)
	}
	return patterns, methods + strings.Join(s.hosts, ",") + s.prefix + rest
}
