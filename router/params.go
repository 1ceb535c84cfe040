package router

// Params are the parameters that a lookup found in a path, unescaped, in the
// order of the pattern. The zero Params is ready. The caller owns it and may
// use it again for the next lookup, which replaces what it holds; one
// goroutine at a time. The values share memory with the path that was looked
// up; they stay valid when Params is used again.
type Params struct {
	names   []string // the pattern's
	values  []string
	entered []uint64 // scratch: a bit for each guard that the search passed
	slashes []int    // scratch: see decode
}

// Get returns the value of a parameter, "" when there is none of that name.
func (p *Params) Get(name string) string {
	for i := range p.names {
		if p.names[i] == name {
			return p.values[i]
		}
	}
	return ""
}

// Len returns how many parameters there are.
func (p *Params) Len() int { return len(p.names) }

// At returns the i-th parameter from the left.
func (p *Params) At(i int) (name, value string) { return p.names[i], p.values[i] }

// reset makes room for a lookup in t.
func (p *Params) reset(t *tree) {
	p.names = nil
	p.values = resized(p.values, t.params)
	p.entered = resized(p.entered, (t.guards+63)/64)
	p.slashes = p.slashes[:0]
}

// maxKeptSlashes is for how many escaped slashes in a path a Params keeps
// space. All else in it is bounded by the table.
const maxKeptSlashes = 256

// Release forgets what the last lookup found, the path included that its
// values share, and lets go of space that only a path out of the ordinary
// needs. Whoever keeps a Params in a pool calls it before.
func (p *Params) Release() {
	p.names = nil
	clear(p.values)
	if cap(p.slashes) > maxKeptSlashes {
		p.slashes = nil
	}
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
func (p *Params) enter(guard int) bool {
	word, bit := (guard-1)/64, uint64(1)<<((guard-1)%64)
	first := p.entered[word]&bit == 0
	p.entered[word] |= bit
	return first
}
