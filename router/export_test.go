package router

import "strings"

// Steps returns the number of states that a lookup visits and the number of all states.
func (t *Table[T]) Steps(method, host, path string) (steps, states int) {
	f := search{params: new(Params), host: host, methods: t.program.methods.only(method)}
	t.program.find(&f, path, "")
	for _, r := range t.program.hosts {
		states += r.start.count()
	}
	if w := t.program.wildcards; w != nil {
		for _, suffix := range w.suffixes {
			for _, b := range suffix.labels {
				states += b.root.start.count()
			}
			if suffix.many != nil {
				states += suffix.many.start.count()
			}
		}
	}
	if r := t.program.anyHost; r != nil {
		states += r.start.count()
	}
	return f.steps, states
}

// FramesWithin reports whether the stack of a lookup never has more frames than the
// given number.
func (t *Table[T]) FramesWithin(most int, method, host, path string) bool {
	p := Params{frames: make([]frame, 0, most)}
	t.program.lookup(method, path, "", &p, host)
	return cap(p.frames) == most
}

func (s *state) count() int {
	if s == nil {
		return 0
	}
	total := 1
	for _, to := range s.table {
		total += to.count()
	}
	if m := s.more; m != nil {
		for _, p := range m.params {
			total += p.slash.count()
		}
		if m.middle != nil {
			total += m.middle.slash.count()
		}
	}
	return total
}

// Comparisons returns the number of segments that are compared to intersect two
// patterns which begin with different constraints.
func Comparisons(first, second string) (compared, segments int) {
	b := newBuilder(nil)
	b.add(first, 0)
	p, _ := parsePattern(second, nil)
	m := newIntersection(p.segments, func(*pattern, []string) {})
	m.walkAlternatives(b.tree.anyHost, 0)
	return m.comparisons, len(p.segments)
}

// Examples returns the examples of a constraint.
func (c Constraint) Examples() []string { return c.examples }

// Told returns a constraint that calls tell with each segment that it checks.
func (c Constraint) Told(tell func(segment string)) Constraint {
	accepts := c.accepts
	c.accepts = func(segment string) bool {
		tell(segment)
		return accepts(segment)
	}
	return c
}

// Costly reports whether a search checks each segment only once with the constraint.
func (c Constraint) Costly() bool { return c.costly }

// Decode returns the unescaped segments of a path.
func Decode(path string) []string {
	var segments []string
	for segment := range strings.SplitSeq(escapedKey(path)[1:], "/") {
		segments = append(segments, plainText(segment))
	}
	return segments
}

// CanonicalHost and CanonicalPatternHost return hosts in the form of the table.
var (
	CanonicalHost        = canonicalHost
	CanonicalPatternHost = func(host string, at int) (string, *Mistake) { return canonicalPatternHost("", host, at) }
)

// Punycode encodes one label.
func Punycode(label string) string { return string(appendPunycode(nil, []rune(label))) }
