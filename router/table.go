package router

// An Entry is one pattern of a table and what it stands for.
type Entry[T any] struct {
	Pattern string
	Value   T
}

// A Table maps requests to values. It never changes, and any number of
// goroutines may look up in it at once. The zero Table matches nothing.
type Table[T any] struct {
	tree    tree
	entries []Entry[T]
}

// NewTable returns the table of the entries, whose order does not matter. The
// error, if any, is a [Mistakes] with every pattern that cannot be read and
// every pattern that conflicts with an earlier one. The table keeps neither
// the slice nor the map.
func NewTable[T any](c Constraints, entries []Entry[T]) (*Table[T], error) {
	b := newBuilder(c)
	var mistakes Mistakes
	for i := range entries {
		if m := b.add(entries[i].Pattern, i); m != nil {
			mistakes = append(mistakes, m)
		}
	}
	if mistakes != nil {
		return nil, mistakes
	}
	return &Table[T]{b.tree, append([]Entry[T](nil), entries...)}, nil
}

// A Match is what a lookup found.
type Match[T any] struct {
	Value   T
	Pattern string // the text of the pattern
	Found   bool

	// Allow is set when patterns match the path, but none of them the
	// method: the methods that they do take, as the Allow header of the
	// answer 405 lists them, such as "GET, HEAD, POST".
	Allow string
}

// Lookup finds the pattern for a request. The host may have a port and be in
// any case; the path is the escaped one ("/a%2Fb/c"), without a query, and
// cleaned by the caller if "//" or ".." have a meaning to it. A path that
// does not begin with a slash matches nothing.
//
// The parameters go into p, which may be nil when nobody wants them and is
// empty when nothing was found. Lookup allocates nothing once p has been used,
// but for a path with a '%', a host in upper case, and the Allow of several
// patterns at once.
func (t *Table[T]) Lookup(method, host, path string, p *Params) Match[T] {
	if p == nil {
		p = new(Params)
	}
	f := t.tree.find(method, host, path, p)
	if f.pattern == nil {
		return Match[T]{Allow: t.tree.allowHeader(f.allow)}
	}
	e := &t.entries[f.pattern.entry]
	return Match[T]{Value: e.Value, Pattern: e.Pattern, Found: true}
}

// String draws the tree, a line for each segment in the order in which a
// lookup tries them, with the patterns that end there.
func (t *Table[T]) String() string { return t.tree.draw() }

// A finding is what a search brought home.
type finding struct {
	pattern  *pattern // nil: none
	allow    methodSet
	steps    int
	hasRest  bool // the pattern ends in a wildcard that took more than nothing
	slashFit bool // another slash at the end of the path may find a pattern
}

// find searches the patterns of the host, then those of every host.
func (t *tree) find(method, host, path string, p *Params) finding {
	p.reset(t)
	if path == "" || path[0] != '/' {
		return finding{}
	}
	s := search{method: method, params: p}
	s.path, p.slashes = decode(path, p.slashes)
	s.data = p.slashes
	var found *pattern
	if len(t.hosts) > 0 {
		if root := t.hosts[canonicalHost(host)]; root != nil {
			found = s.walk(root, 1)
		}
	}
	if found == nil && t.anyHost != nil {
		found = s.walk(t.anyHost, 1)
	}
	if found != nil {
		p.names = found.names
	}
	return finding{found, s.allow, s.steps, s.hasRest, s.slashFit}
}

// allowHeader returns the methods as the value of an Allow header.
func (t *tree) allowHeader(s methodSet) string {
	if header, ok := t.allows[s]; ok || s == 0 {
		return header
	}
	return t.methods.allow(s)
}
