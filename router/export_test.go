package router

// Steps returns how many nodes a lookup visits and how many there are.
func (t *Table[T]) Steps(method, host, path string) (steps, nodes int) {
	f := t.tree.find(method, host, path, new(Params))
	for _, root := range t.tree.hosts {
		nodes += root.count()
	}
	if t.tree.anyHost != nil {
		nodes += t.tree.anyHost.count()
	}
	return f.steps, nodes
}

func (n *node) count() int {
	total := 1
	for _, c := range n.literals.list {
		total += c.to.count()
	}
	for _, e := range n.params {
		total += e.to.count()
	}
	if n.stretch != nil {
		total += n.stretch.to.count()
	}
	return total
}

// Examples returns what a constraint is known to accept.
func (c Constraint) Examples() []string { return c.examples }

// Costly reports whether a search asks the constraint once per segment.
func (c Constraint) Costly() bool { return c.costly }

// Decode returns the unescaped segments of a path.
func Decode(path string) []string {
	var s search
	s.path, s.data = decode(path, nil)
	var segments []string
	for at := 1; at <= len(s.path); {
		end := s.segmentEnd(at)
		segments = append(segments, s.path[at:end])
		at = end + 1
	}
	return segments
}

// CanonicalHost and CanonicalPatternHost name hosts as the table does.
var (
	CanonicalHost        = canonicalHost
	CanonicalPatternHost = canonicalPatternHost
)

// Punycode encodes one label.
func Punycode(label string) string { return string(appendPunycode(nil, []rune(label))) }
