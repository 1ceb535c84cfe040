package router

import (
	"maps"
	"slices"
	"strings"
)

// compile returns the program of a tree. They share no mutable data, so patterns may be
// added to the tree while the program is used.
func compile(t *tree, entries int) *program {
	c := compiler{memoIndex: map[memoKey]int{}, program: &program{
		names:     make([][]string, entries),
		hosts:     make(map[string]*root, len(t.hosts)),
		methods:   slices.Clone(t.methods),
		allows:    maps.Clone(t.allows),
		visitBits: t.visitBits,
	}}
	if t.anyHost != nil {
		c.anyHost = c.root(t.anyHost)
	}
	for host, n := range t.hosts {
		r := c.root(n)
		r.next = c.anyHost
		c.hosts[host] = r
	}
	c.wildcards = c.wildcardHosts(t.suffixes)
	c.named = len(c.hosts) > 0 || c.wildcards != nil
	if !c.named && !c.special {
		c.direct = c.anyHost
	}
	return c.program
}

type compiler struct {
	*program
	static     []staticPath // of the current root
	depth      int          // number of segments up to here
	memoIndex  map[memoKey]int
	path       []byte // the key up to here, unless afterParam
	afterParam bool   // the path up to here has a parameter

	states    slab[state]
	branching slab[branches]
	params    slab[paramBranch]
	endings   slab[ending]
	indexes   slab[int32]
	children  slab[*state]
	literals  []literalEdge // scratch: of the nodes up to here, sorted per node
}

func (c *compiler) root(n *node) *root {
	c.static, c.path = nil, append(c.path[:0], '/')
	start := c.start(n, "/")
	return &root{static: newStatics(c.static), start: start}
}

// start returns the state at the start of a segment.
func (c *compiler) start(n *node, text string) *state {
	s := c.states.new()
	s.text, s.more = text, c.branches(n)
	if m := s.more; m != nil && m.choices == 1 {
		s.param = &m.params[0]
	}
	s.end = c.ending(n.slash)
	from := len(c.literals)
	for _, child := range n.literals.list {
		c.literals = append(c.literals, literalEdge{c.literal(child.text), child.to})
	}
	literals := c.literals[from:]
	slices.SortFunc(literals, func(a, b literalEdge) int { return strings.Compare(a.text, b.text) })
	c.addLiterals(s, literals, 0)
	c.literals = c.literals[:from]
	return s.merged()
}

// slash returns the state after the slash that follows the segment of n, nil if there
// is none.
func (c *compiler) slash(n *node) *state {
	if !n.leadsOn() {
		return nil
	}
	c.path, c.depth = append(c.path, '/'), c.depth+1
	s := c.start(n, "/")
	c.path, c.depth = c.path[:len(c.path)-1], c.depth-1
	return s
}

// leadsOn reports whether any pattern continues after a slash.
func (n *node) leadsOn() bool {
	return n.slash != nil || n.rest != nil || n.middle != nil || len(n.params)+len(n.literals.list) > 0
}

// A literalEdge is an edge for a whole segment, with its text as in a key.
type literalEdge struct {
	text string
	to   *node
}

// addLiterals adds edges to s. They are sorted and share their first n bytes, the bytes
// up to s.
func (c *compiler) addLiterals(s *state, edges []literalEdge, n int) {
	for len(edges) > 0 {
		first := edges[0].text
		same := 1
		for same < len(edges) && edges[same].text[n] == first[n] {
			same++
		}
		shared := commonPrefix(first, edges[same-1].text)
		c.path = append(c.path, first[n:shared]...)
		c.add(s, first[n], c.shared(edges[:same], n, shared))
		c.path = c.path[:len(c.path)-(shared-n)]
		edges = edges[same:]
	}
}

// shared returns the state for edges that share their bytes up to the offset shared.
// Its text begins at n.
func (c *compiler) shared(edges []literalEdge, n, shared int) *state {
	s := c.states.new()
	s.text = edges[0].text[n:shared]
	if len(edges[0].text) == shared {
		s.end = c.ending(edges[0].to.leaf)
		if to := c.slash(edges[0].to); to != nil {
			c.add(s, '/', to)
		}
		edges = edges[1:]
	}
	c.addLiterals(s, edges, shared)
	return s.merged()
}

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// add adds a transition from s for a byte.
func (c *compiler) add(s *state, b byte, to *state) {
	if len(s.table) == 0 {
		s.low = b
	}
	low, high := min(s.low, b), max(int(s.low)+len(s.table)-1, int(b))
	table := c.children.slice(high - int(low) + 1)
	copy(table[s.low-low:], s.table)
	table[b-low] = to
	s.low, s.table = low, table
}

// merged returns s, or s joined with its only successor if nothing else can follow.
func (s *state) merged() *state {
	s.setText(s.text)
	if s.end != nil || s.more != nil || len(s.table) != 1 {
		return s
	}
	only := s.table[0]
	only.setText(s.text + only.text)
	return only
}

func (s *state) setText(text string) {
	s.text, s.head, s.mask = text, 0, 0
	for i := range min(len(text), 8) {
		s.head |= uint64(text[i]) << (8 * i)
		s.mask |= 0xff << (8 * i)
	}
}

func (c *compiler) branches(n *node) *branches {
	if len(n.params) == 0 && n.middle == nil && n.rest == nil {
		return nil
	}
	outer := c.afterParam
	c.afterParam = true
	b := c.branching.new()
	b.choices, b.params = len(n.params), c.params.slice(len(n.params))
	for i := range n.params {
		b.params[i] = c.param(&n.params[i])
	}
	if e := n.middle; e != nil {
		c.captures = max(c.captures, e.capture+1)
		b.middle = &middleBranch{slash: c.slash(e.to), capture: e.capture, visitBit: e.to.visitBit}
		b.choices = len(n.params) + 2
	}
	if n.rest != nil {
		c.captures = max(c.captures, n.rest.capture+1)
		b.rest = &restBranch{end: *c.ending(&n.rest.leaf), capture: n.rest.capture}
		b.choices = len(n.params) + 3
	}
	c.afterParam = outer
	return b
}

func (c *compiler) param(e *edge) paramBranch {
	p := paramBranch{
		end: ending{anyMethod: -1}, slash: c.slash(e.to), capture: int32(e.capture),
		prefixLen: int32(len(c.literal(e.prefix))), suffixLen: int32(len(c.literal(e.suffix))),
	}
	if end := c.ending(e.to.leaf); end != nil {
		p.end = *end
	}
	c.captures = max(c.captures, e.capture+1)
	if e.constraintName != "" || e.prefix != "" || e.suffix != "" {
		p.check = &check{form: e.form}
		if e.constraint.costly {
			p.check.memo = c.memoOf(e)
		}
	}
	return p
}

// memo returns the index of the memo for the constraint of e. All edges of the same
// form at the same depth share it, because two branches of a program can try them on
// the same segment.
func (c *compiler) memoOf(e *edge) int {
	key := memoKey{e.prefix, e.suffix, e.constraintName, c.depth}
	if c.memoIndex[key] == 0 {
		c.memos++
		c.memoIndex[key] = c.memos
	}
	return c.memoIndex[key]
}

type memoKey struct {
	prefix, suffix, constraint string
	depth                      int
}

// literal returns unescaped text in the form of a key.
func (c *compiler) literal(text string) string {
	if text == "" || isKey(text) && strings.IndexByte(text, '/') < 0 {
		return text // nearly always
	}
	key := keyText(text)
	c.special = true
	return key
}

func (c *compiler) ending(l *leaf) *ending {
	if l == nil {
		return nil
	}
	e := c.endings.new()
	*e = ending{methods: l.allow, anyMethod: -1, byMethod: c.indexes.slice(l.allow.count())}
	for _, mp := range l.methods {
		m := c.methods.only(mp.method)
		e.byMethod[e.rank(m)] = c.addEntry(mp.pattern)
		if m == 1<<getBit && !l.names("HEAD") {
			e.byMethod[e.rank(1<<headBit)] = c.addEntry(mp.pattern)
		}
	}
	if e.only = -1; len(e.byMethod) > 0 && slices.Min(e.byMethod) == slices.Max(e.byMethod) {
		e.only = e.byMethod[0]
	}
	if l.anyMethod != nil {
		e.anyMethod = c.addEntry(l.anyMethod)
	}
	if !c.afterParam {
		c.static = append(c.static, staticPath{c.staticText(l), *e})
	}
	return e
}

// staticText returns the key up to here, as a substring of a pattern of l if possible.
func (c *compiler) staticText(l *leaf) string {
	p := l.anyMethod
	if p == nil {
		p = l.methods[0].pattern
	}
	if n := len(p.text) - len(c.path); n >= 0 && p.text[n:] == string(c.path) {
		return p.text[n:]
	}
	return string(c.path)
}

// addEntry records the names of a pattern and returns the index of its entry.
func (c *compiler) addEntry(p *pattern) int32 {
	c.names[p.entry] = p.names
	if c.wildcards != nil {
		c.wildcards.names[p.entry] = p.labelName
	}
	return int32(p.entry)
}
