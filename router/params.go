package router

// Params are the parameters that a lookup found in the host and in the path, unescaped,
// in the order of the pattern. The zero Params is ready. The caller owns it and may use it for another
// lookup, which replaces its content; one goroutine at a time. The values share memory
// with the host and the path, and stay valid when Params is used again.
type Params struct {
	names []string // the pattern's
	path  string   // contains the values
	spans []span   // of the values in path
	last  int      // the index after the parameter read last

	entry     int32   // of the pattern
	used      bool    // one of the next two is set
	labelName string  // name of the wildcard in the pattern's host, "" if it has none
	passed    []int32 // the entries that [Table.Next] leaves out
	label     string  // value of the wildcard

	frames  []frame  // scratch: the stack of a search
	visited []uint64 // scratch: the visit bits of a search
	memos   []memo   // scratch: results of costly constraints

	searches uint64 // number of searches with a reset
}

// A span is the position of a value.
type span struct{ from, to int }

// Get returns the value of a parameter, "" if there is none of that name. It is fastest
// when parameters are read from left to right.
func (p *Params) Get(name string) string {
	for i := p.last; i < len(p.names); i++ {
		if p.names[i] == name {
			p.last = i + 1
			return p.value(i)
		}
	}
	for i := range min(p.last, len(p.names)) {
		if p.names[i] == name {
			p.last = i + 1
			return p.value(i)
		}
	}
	if p.labelName != "" && name == p.labelName {
		return p.label
	}
	return ""
}

// Len returns the number of parameters.
func (p *Params) Len() int {
	if p.labelName != "" {
		return len(p.names) + 1
	}
	return len(p.names)
}

// At returns the i-th parameter from the left.
func (p *Params) At(i int) (name, value string) {
	if p.labelName != "" {
		if i == 0 {
			return p.labelName, p.label
		}
		i--
	}
	return p.names[i], p.value(i)
}

// setLabel sets the name of the wildcard in the pattern's host.
func (p *Params) setLabel(name string) { p.used, p.labelName = true, name }

// value returns the i-th parameter in the path.
func (p *Params) value(i int) string { return p.captures().value(i) }

// captures returns the values in the path.
func (p *Params) captures() captures { return captures{p.path, p.spans[:len(p.names)]} }

// captures are the values of parameters, from left to right.
type captures struct {
	path  string
	spans []span // of the values in path
}

func (c captures) value(i int) string {
	s := &c.spans[i] // copying the span would wait until both halves are stored
	return c.path[s.from:s.to]
}

// unescape replaces the key by the unescaped values.
func (c *captures) unescape() {
	var text []byte
	for i := range c.spans {
		from := len(text)
		text = append(text, plainText(c.value(i))...)
		c.spans[i] = span{from, len(text)}
	}
	c.path = string(text)
}

// ready reports whether a lookup in g needs no reset.
func (p *Params) ready(g *program) bool {
	return len(p.spans) >= g.captures && len(p.frames) == 0 && g.visitBits+g.memos == 0
}

// reset prepares p for a lookup in g.
func (p *Params) reset(g *program) {
	p.frames = p.frames[:0]
	if len(p.spans) < g.captures {
		p.spans = make([]span, g.captures)
	}
	if g.visitBits > 0 {
		p.visited = resized(p.visited, (g.visitBits+63)/64)
	}
	if len(p.memos) < g.memos {
		p.memos = make([]memo, g.memos)
	}
	p.searches++
}

// Release drops the references to the host and the path of the last lookup. Call it before putting a
// Params into a pool.
func (p *Params) Release() {
	p.names, p.path, p.labelName, p.label = nil, "", "", ""
	p.passed = p.passed[:0]
	clear(p.frames[:cap(p.frames)])
}

// resized returns s with n zero elements, in the same memory if it is large enough.
func resized[E any](s []E, n int) []E {
	if cap(s) < n {
		return make([]E, n)
	}
	s = s[:n]
	clear(s)
	return s
}

// markVisited sets a visit bit and reports whether it was unset.
func (p *Params) markVisited(visitBit int) bool {
	word, bit := (visitBit-1)/64, uint64(1)<<((visitBit-1)%64)
	first := p.visited[word]&bit == 0
	p.visited[word] |= bit
	return first
}

// A memo is the result of a check for the segment at an offset in one search. Memos of
// earlier searches are not cleared: a table may have thousands of expressions, and a
// request reaches few of them.
type memo struct {
	search uint64
	at     int
	ok     bool
}

// A frame is a position in the program and in the key, and the next alternative there:
// literal bytes, the params from an index on, the middle wildcard from an end on, the
// wildcard at the end.
type frame struct {
	state *state
	at    int // the offset after the state's text
	next  int // index of a param; after the params, the middle wildcard and the rest
	end   int // of the middle wildcard: the end tried last, 0 before the first
}
