package router

import (
	"slices"
	"strings"
)

// The host of a pattern may begin with a wildcard: *.example.com and
// {tenant}.example.com match one label before the suffix example.com, and
// {sub...}.example.com one or more.
//
// In the tree, the wildcard is an edge like that of a parameter in a path. It leads from
// the node of the suffix to the node where the paths begin. In a program, the suffixes
// are the keys of a map, so the number of hosts does not matter to a lookup.

// parseWildcard parses a host that begins with a wildcard, at the given offset, into
// p.label, p.labelName and p.host.
func (p *pattern) parseWildcard(host string, at int, constraints Constraints) *Mistake {
	end := 1
	if host[0] == '{' {
		if end = strings.IndexByte(host, '}') + 1; end == 0 {
			return syntaxMistake(at, "a parameter ends with }")
		}
	}
	label, suffix := host[:end], host[end:]
	if m := checkSuffix(label, suffix, at); m != nil {
		return m
	}
	s := &segment{kind: parameter}
	if label != "*" {
		if m := s.parseInside(label[1:end-1], at+1, false, constraints); m != nil {
			return m
		}
		s.constraint = s.constraint.forLabels()
	}
	canonical, m := canonicalPatternHost(label+".", suffix[1:], at+end+1)
	switch {
	case m != nil:
		return m
	case isAddress(canonical):
		return syntaxMistake(at+end+1, "%q is part of an address, which has no subdomains", suffix[1:])
	}
	p.host, p.label, p.labelName = canonical, s, s.name
	if s.name = strings.ToLower(s.name); !isLabel(s.name) {
		s.name = "x" // for examples
	}
	return nil
}

// checkSuffix checks the text after the wildcard of a host, which begins at the given
// offset.
func checkSuffix(label, suffix string, at int) *Mistake {
	switch i := strings.LastIndexAny(suffix, "{}*"); {
	case i >= 0:
		_, name, _ := strings.Cut(suffix[i+1:], ".")
		if name == "" {
			name = "example.com"
		}
		return syntaxMistake(at+len(label)+strings.IndexAny(suffix, "{}*"), onlyFirstLabel).
			hint("write {name...}.%s for several labels", name)
	case label == "*" && suffix == "":
		return syntaxMistake(at, "the host * has no name").
			hint("leave it out to match every host, or write *.example.com for subdomains")
	case suffix == "":
		return syntaxMistake(at, "a host has no parameters, except in place of its first label").
			hint("a path begins with a slash")
	case suffix == ".":
		return syntaxMistake(at+len(label), "there is no name after %s.", label)
	case strings.HasPrefix(suffix, ".."):
		return syntaxMistake(at+len(label)+1, "a label of the host is empty")
	case suffix[0] != '.':
		return syntaxMistake(at+len(label), "a wildcard is the whole first label of a host").
			hint("write %s.%s", label, strings.TrimLeft(suffix, "-_"))
	}
	return nil
}

const onlyFirstLabel = "only the first label of a host can be a wildcard"

// isAddress reports whether a canonical host is an IP address or the end of one.
func isAddress(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	return strings.IndexByte(host, ':') >= 0 || strings.Trim(last, "0123456789") == ""
}

// forLabels returns the constraint with those examples that occur in canonical hosts.
func (c Constraint) forLabels() Constraint {
	var examples []string
	for _, e := range c.examples {
		if e = strings.ToLower(e); isLabel(e) && c.Match(e) && !slices.Contains(examples, e) {
			examples = append(examples, e)
		}
	}
	c.examples = examples
	return c
}

// withLabel returns the segments of the path after the wildcard of the host, if there is
// one.
func (p *pattern) withLabel() []segment {
	if p.label == nil {
		return p.segments
	}
	return slices.Insert(slices.Clone(p.segments), 0, *p.label)
}

// allNames returns the names of all parameters, from left to right.
func (p *pattern) allNames() []string {
	if p.labelName == "" {
		return p.names
	}
	return slices.Insert(slices.Clone(p.names), 0, p.labelName)
}

// wildcardHosts are the patterns of a program whose hosts begin with a wildcard.
type wildcardHosts struct {
	suffixes map[string]*wildcardSuffix
	longest  int      // length of the longest suffix, so that a long host is not hashed again and again
	several  bool     // a wildcard matches several labels
	names    []string // names of the wildcards, by entry
}

// A wildcardSuffix has the patterns of one suffix.
type wildcardSuffix struct {
	labels []labelBranch // for one label, in the order of precedence
	many   *root         // for several labels, nil if there is none
}

// A labelBranch matches one label.
type labelBranch struct {
	form
	root *root
}

// findHost is find for a table with wildcard hosts. host is canonical.
func (g *program) findHost(s *search, host string) int32 {
	if own := g.hosts[host]; own != nil {
		if entry := s.findPath(g, own); entry >= 0 {
			return entry
		}
	}
	if entry := g.wildcards.find(s, g, host); entry >= 0 {
		return entry
	}
	if g.anyHost == nil {
		return -1
	}
	return s.findPath(g, g.anyHost)
}

// find searches the patterns whose suffixes host has, the longest first. It sets the
// label in s.params.
func (w *wildcardHosts) find(s *search, g *program, host string) int32 {
	for at := 0; ; {
		end := at + strings.IndexByte(host[at:], '.')
		if end < at || !isLabel(host[at:end]) {
			return -1
		}
		if suffix := host[end+1:]; len(suffix) <= w.longest {
			if found := w.suffixes[suffix]; found != nil {
				s.params.label = host[:end]
				if entry := found.find(s, g, at == 0); entry >= 0 {
					return entry
				}
			}
		}
		if at = end + 1; !w.several {
			return -1
		}
	}
}

func (f *wildcardSuffix) find(s *search, g *program, oneLabel bool) int32 {
	for i := 0; i < len(f.labels) && oneLabel; i++ {
		b := &f.labels[i]
		if b.constraintName != "" && !b.constraint.Match(s.params.label) {
			continue
		}
		if entry := s.findPath(g, b.root); entry >= 0 {
			return entry
		}
	}
	if f.many == nil {
		return -1
	}
	return s.findPath(g, f.many)
}

// isLabel reports whether a wildcard may match a label: 1 to 63 lower-case letters,
// digits, - and _.
func isLabel(label string) bool {
	for i := range len(label) {
		if c := label[i]; ('a' > c || c > 'z') && !isDigit(c) && c != '-' && c != '_' {
			return false
		}
	}
	return 0 < len(label) && len(label) <= maxLabel
}

// wildcardHosts compiles the patterns of the suffixes.
func (c *compiler) wildcardHosts(suffixes map[string]*node) *wildcardHosts {
	if len(suffixes) == 0 {
		return nil
	}
	w := &wildcardHosts{suffixes: make(map[string]*wildcardSuffix, len(suffixes)), names: make([]string, len(c.names))}
	c.wildcards = w
	for suffix, n := range suffixes {
		to := new(wildcardSuffix)
		for i := range n.params {
			to.labels = append(to.labels, labelBranch{n.params[i].form, c.root(n.params[i].to)})
		}
		if n.middle != nil {
			to.many, w.several = c.root(n.middle.to), true
		}
		w.suffixes[suffix] = to
		w.longest = max(w.longest, len(suffix))
	}
	return w
}
