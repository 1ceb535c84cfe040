package router

// Params are the parameters that a lookup found in a path, unescaped, in the
// order of the pattern. The zero Params is ready. The caller owns it and may
// use it again for the next lookup, which replaces what it holds; one
// goroutine at a time. The values share memory with the path that was looked
// up; they stay valid when Params is used again.
type Params struct {
	names []string // the pattern's
	path  string   // what the values are parts of
	spans []span   // of the values
	last  int      // behind the parameter that was read last

	frames  []frame  // scratch: where a search can go on
	visited []uint64 // scratch: a bit for each guard that the search passed
	memos   []memo   // scratch: what constraints that run once said

	searches uint64 // how many there were that needed a reset
}

// A span is where a value stands.
type span struct{ from, to int }

// Get returns the value of a parameter, "" when there is none of that name.
// Reading them from left to right costs the least.
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
	return ""
}

// Len returns how many parameters there are.
func (p *Params) Len() int { return len(p.names) }

// At returns the i-th parameter from the left.
func (p *Params) At(i int) (name, value string) { return p.names[i], p.value(i) }

func (p *Params) value(i int) string { return p.captures().value(i) }

// captures returns the values that p holds.
func (p *Params) captures() captures { return captures{p.path, p.spans[:len(p.names)]} }

// captures are the values of parameters, from left to right.
type captures struct {
	path  string
	spans []span // of the values in path
}

func (c captures) value(i int) string {
	s := &c.spans[i] // a copy would wait for both halves to be stored
	return c.path[s.from:s.to]
}

// unescape replaces a key by the values' own text.
func (c *captures) unescape() {
	var text []byte
	for i := range c.spans {
		from := len(text)
		text = append(text, plainText(c.value(i))...)
		c.spans[i] = span{from, len(text)}
	}
	c.path = string(text)
}

// fit reports whether a lookup in g needs no reset.
func (p *Params) ready(g *program) bool {
	return len(p.spans) >= g.captures && len(p.frames) == 0 && g.visitBits+g.memos == 0
}

// reset makes room for a lookup in g.
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

// Release forgets what the last lookup found, the path included that its
// values share. Whoever keeps a Params in a pool calls it before.
func (p *Params) Release() {
	p.names, p.path = nil, ""
	clear(p.frames[:cap(p.frames)])
}

// resized returns s with n zero elements, in the same memory if it suffices.
func resized[E any](s []E, n int) []E {
	if cap(s) < n {
		return make([]E, n)
	}
	s = s[:n]
	clear(s)
	return s
}

// enter passes a guard and reports whether this is the first time.
func (p *Params) firstVisit(guard int) bool {
	word, bit := (guard-1)/64, uint64(1)<<((guard-1)%64)
	first := p.visited[word]&bit == 0
	p.visited[word] |= bit
	return first
}

// A run is what a check said of the segment at an offset in one search. Those
// of earlier searches are left where they are: a table may have thousands of
// expressions of which a request comes near none.
type memo struct {
	search uint64
	at     int
	ok     bool
}

// A frame is a place in the program and in the key, and what is to be tried
// there next: literal bytes, the params from an index on, the stretch from an
// end on, the rest.
type frame struct {
	state *state
	at    int // behind the state's text
	next  int // index of a param; behind the params the stretch and the rest
	end   int // of the stretch: the end that was tried last, 0 before the first
}
