package router

import (
	"slices"
	"strings"
)

// A search is one lookup in a program.
//
// It is a depth-first search that tries the alternatives of every state in the order of
// precedence, so the first pattern that it reaches is the result. When a branch fails,
// it backtracks to the last frame, which it pushes wherever another alternative is
// left. Its bound:
//
//   - A state without a middle wildcard before it can be reached at only one offset of
//     the path and in only one way: it is visited once.
//   - A middle wildcard tries all its ends from left to right. A second one after it
//     would be entered again for each end of the first, always further to the right.
//     But its first visit has already tried all ends that a later visit would try, so
//     it is entered only once, which its visit bit ensures. A state after a middle
//     wildcard is thus visited at most once per segment of the path.
//
// The total is at most segments × nodes steps, with one bit per visit bit and a frame
// per open branch as memory.
type search struct {
	params  *Params
	host    string
	key     string
	methods methodSet // the method of the request; empty if no pattern names it
	escaped bool      // the key escapes some bytes of the path
	again   bool      // leave out the entries in params.passed
	plainAt int       // offset of the segment in plain, 0 for none
	plain   string

	allow        methodSet // of all patterns that match the path but not the method
	steps        int       // states visited, to test the bound
	hasRest      bool      // a non-empty value of the pattern is the rest of the path
	several      bool      // a value may have several segments
	slashMatches bool      // a pattern would match with a slash appended
}

// lookup is [Table.Lookup], but returns the index of the entry. A nil program has none.
func (g *program) lookup(method, path, rawPath string, p *Params, host string) (entry int32, allow string) {
	if g == nil {
		return -1, ""
	}
	if p == nil {
		p = new(Params)
	}
	p.names = nil
	if p.used {
		p.used, p.labelName, p.passed = false, "", p.passed[:0]
	}
	m := g.methods.only(method)
	if g.direct == nil || rawPath != "" {
		s := search{params: p, host: host, methods: m}
		if entry = g.find(&s, path, rawPath); entry < 0 {
			return entry, g.allow(s.allow)
		}
		s.setParams(g.names[entry])
		if g.wildcards != nil {
			p.setLabel(g.wildcards.names[entry])
		}
	} else if entry = g.direct.static.find(path, m); entry < 0 {
		s := search{params: p, key: path, methods: m}
		if entry = s.walk(g, g.direct); entry < 0 {
			return entry, g.allow(s.allow)
		}
		s.setParams(g.names[entry])
	}
	p.entry = entry
	return entry, ""
}

// next is [Table.Next], but returns the index of the entry.
func (g *program) next(method, path, rawPath string, p *Params, host string) (entry int32, allow string) {
	p.used, p.passed = true, append(p.passed, p.entry)
	p.names, p.labelName = nil, ""
	s := search{params: p, host: host, methods: g.methods.only(method), again: true}
	if entry = g.find(&s, path, rawPath); entry < 0 {
		return entry, g.allow(s.allow)
	}
	s.setParams(g.names[entry])
	p.entry = entry
	if g.wildcards != nil {
		p.setLabel(g.wildcards.names[entry])
	}
	return entry, ""
}

// setParams sets the names and the text of the values found.
func (s *search) setParams(names []string) {
	s.params.names, s.params.path = names, s.key
	if s.escaped {
		s.params.path = s.values(len(names)).path
	}
}

// values returns the n values found, valid until params is used again.
func (s *search) values(n int) captures {
	found := captures{s.key, s.params.spans[:n]}
	if s.escaped {
		found.unescape()
		s.key, s.escaped = found.path, false
	}
	return found
}

// find searches the patterns of the host and then those of all hosts. It returns the
// index of an entry, -1 if there is none, and sets the spans of the values in s.params.
// The caller has set params, host and methods of s.
func (g *program) find(s *search, path, rawPath string) int32 {
	s.key = path
	if rawPath != "" || g.special {
		s.setKey(path, rawPath)
	}
	r := g.anyHost
	if g.named {
		host := canonicalHost(s.host)
		if g.wildcards != nil {
			return g.findHost(s, host)
		}
		if own := g.hosts[host]; own != nil {
			r = own
		}
	}
	for ; r != nil; r = r.next {
		if entry := r.static.find(s.key, s.methods); entry >= 0 && !s.again {
			return entry
		}
		if entry := s.walk(g, r); entry >= 0 {
			return entry
		}
	}
	return -1
}

// findPath searches the patterns of a root.
func (s *search) findPath(g *program, r *root) int32 {
	if entry := r.static.find(s.key, s.methods); entry >= 0 && !s.again {
		return entry
	}
	return s.walk(g, r)
}

// notPassed returns entry, which e has for the method, or the next one of e if it has
// been passed: that of GET for HEAD, then that of all methods. It returns -1 if there is
// none.
func (s *search) notPassed(e *ending, entry int32) int32 {
	if s.methods == 1<<headBit && slices.Contains(s.params.passed, entry) && e.methods.has(getBit) {
		entry = e.find(1 << getBit)
	}
	if slices.Contains(s.params.passed, entry) {
		entry = e.anyMethod
	}
	if slices.Contains(s.params.passed, entry) {
		return -1
	}
	return entry
}

// setKey sets the key of a path.
func (s *search) setKey(path, rawPath string) {
	if rawPath != "" {
		s.key = escapedKey(rawPath)
		s.escaped = strings.IndexByte(s.key, keyEscape) >= 0
	} else if !isKey(path) {
		s.key = pathKey(path)
		s.escaped = true
	}
}

// walk searches the patterns of a root and returns an entry, -1 if there is none. It is
// the hot loop of a lookup: it follows literals and a param that is the only
// alternative, and leaves everything else to advance.
func (s *search) walk(g *program, r *root) (entry int32) {
	here, at := r.start, len(r.start.text)
	if !s.fits(here, 0) {
		return -1
	}
	if s.params.last = 0; !s.params.ready(g) {
		s.params.reset(g)
	}
	key, steps := s.key, 0
	for {
		steps++
		if at == len(key) {
			if entry = s.takeEnd(here); entry >= 0 {
				break
			}
		} else {
			if to := here.next(key[at]); to != nil {
				if to.starts(load(key, at)) && to.goesOn(key, at) {
					if here.more != nil {
						s.push(frame{state: here, at: at})
					}
					here, at = to, at+len(to.text)
					continue
				}
				s.noteSlash(to, at)
			}
			if p := here.param; p != nil {
				end := segmentEnd(key, at)
				if end == len(key) {
					if entry = s.takeLast(p, at); entry >= 0 {
						break
					}
				} else if to := p.slash; to != nil && to.starts(load(key, end)) && to.goesOn(key, end) {
					if p.check == nil && at < end { // take, inlined
						s.params.spans[p.capture] = span{at, end}
						here, at = to, end+len(to.text)
						continue
					}
					if s.take(p, at, end) {
						here, at = to, end+len(to.text)
						continue
					}
				} else if to != nil {
					s.noteSlash(to, end)
				}
				if here, at, entry = s.backtrack(); here == nil {
					break
				}
				continue
			}
		}
		if here, at, entry = s.advance(frame{state: here, at: at}); here == nil {
			break
		}
	}
	s.steps += steps
	return entry
}

// advance tries the alternatives of f and then those of earlier frames. It returns the
// state that it enters and the offset after its text, or nil and an entry, -1 if there
// is none.
func (s *search) advance(f frame) (to *state, at int, entry int32) {
	for {
		if m := f.state.more; m != nil {
			to, at, entry = s.tryNext(m, &f)
			if to != nil && f.next < m.choices {
				s.push(f)
			}
			if to != nil || entry >= 0 {
				return to, at, entry
			}
		}
		if !s.pop(&f) {
			return nil, 0, -1
		}
	}
}

// backtrack is advance from the last frame.
func (s *search) backtrack() (to *state, at int, entry int32) {
	var f frame
	if !s.pop(&f) {
		return nil, 0, -1
	}
	return s.advance(f)
}

func (s *search) push(f frame) { s.params.frames = append(s.params.frames, f) }

// pop removes the last frame and reports whether there was one.
func (s *search) pop(f *frame) bool {
	last := len(s.params.frames) - 1
	if last < 0 {
		return false
	}
	*f, s.params.frames = s.params.frames[last], s.params.frames[:last]
	return true
}

// tryNext tries the next alternatives of f, except literals. It returns the same as
// advance.
func (s *search) tryNext(m *branches, f *frame) (to *state, at int, entry int32) {
	if f.at < len(s.key) {
		if f.next < len(m.params) {
			f.end = segmentEnd(s.key, f.at)
		}
		for f.next < len(m.params) {
			p := &m.params[f.next]
			f.next++
			if f.end == len(s.key) {
				if entry = s.takeLast(p, f.at); entry >= 0 {
					return nil, 0, entry
				}
			} else if s.fits(p.slash, f.end) && s.take(p, f.at, f.end) {
				return p.slash, f.end + len(p.slash.text), -1
			}
		}
		if m.middle != nil && f.next <= len(m.params)+1 {
			if s.tryMiddle(m, f) {
				return m.middle.slash, f.end + len(m.middle.slash.text), -1
			}
		}
	}
	f.next = m.choices
	if m.rest == nil {
		return nil, 0, -1
	}
	return nil, 0, s.takeRest(m.rest, f.at)
}

// tryMiddle tries the next end of a middle wildcard. The path must continue after it.
func (s *search) tryMiddle(m *branches, f *frame) bool {
	if f.next == len(m.params) { // first attempt
		f.next++
		if m.middle.visitBit > 0 && !s.params.markVisited(m.middle.visitBit) {
			return false
		}
		s.several = true
		f.end = f.at - 1
	}
	for {
		f.end = segmentEnd(s.key, f.end+1)
		if f.end == len(s.key) {
			s.noteSlash(m.middle.slash, f.end)
			return false
		}
		if s.fits(m.middle.slash, f.end) {
			s.params.spans[m.middle.capture] = span{f.at, f.end}
			return true
		}
	}
}

// take reports whether p accepts the segment from at to end, and stores its value.
func (s *search) take(p *paramBranch, at, end int) bool {
	if p.check != nil {
		if !s.satisfies(p.check, at, end) {
			return false
		}
		at, end = at+int(p.prefixLen), end-int(p.suffixLen)
	}
	if at == end {
		return false
	}
	s.params.spans[p.capture] = span{at, end}
	return true
}

// takeEnd returns the entry of a pattern that ends here, at the end of the key, -1 if there is
// none.
func (s *search) takeEnd(here *state) int32 {
	if here.end != nil {
		entry := here.end.find(s.methods)
		if s.again {
			entry = s.notPassed(here.end, entry)
		}
		if entry >= 0 {
			return entry
		}
	}
	s.noteMethods(here.end, here.next('/'))
	return -1
}

// takeLast is take for the last segment of the key. It returns the entry of a pattern
// that ends after p, -1 if there is none.
func (s *search) takeLast(p *paramBranch, at int) int32 {
	switch {
	case at == len(s.key):
		return -1
	case p.check == nil:
		s.params.spans[p.capture] = span{at, len(s.key)}
	case !s.take(p, at, len(s.key)):
		return -1
	}
	entry := p.end.find(s.methods)
	if s.again {
		entry = s.notPassed(&p.end, entry)
	}
	if entry >= 0 {
		return entry
	}
	s.noteMethods(&p.end, p.slash)
	return -1
}

// takeRest takes the rest of the path if the patterns there have the request's method.
func (s *search) takeRest(r *restBranch, at int) int32 {
	entry := r.end.find(s.methods)
	if s.again {
		entry = s.notPassed(&r.end, entry)
	}
	if entry < 0 {
		s.noteMethods(&r.end, nil)
		return -1
	}
	s.hasRest = at < len(s.key)
	s.several = true
	s.params.spans[r.capture] = span{at, len(s.key)}
	return entry
}

// noteMethods records that the patterns in e, which end at the end of the key, do not
// take the method or have been passed, and whether a pattern would match after a slash.
// Both arguments may be nil.
func (s *search) noteMethods(e *ending, slash *state) {
	switch {
	case e == nil:
	case s.again:
		s.allow |= e.without(s.params.passed)
	default:
		s.allow |= e.methods
	}
	if slash != nil {
		s.noteSlash(slash, len(s.key))
	}
}

// fits reports whether the text of a state is at the offset. It returns false for nil.
func (s *search) fits(to *state, at int) bool {
	if to == nil {
		return false
	}
	if to.starts(load(s.key, at)) && to.goesOn(s.key, at) {
		return true
	}
	s.noteSlash(to, at)
	return false
}

// noteSlash records whether the text of a state would match if the key had a final
// slash, and a pattern would end there.
func (s *search) noteSlash(to *state, at int) {
	if left := s.key[at:]; len(to.text) == len(left)+1 && strings.HasPrefix(to.text, left) &&
		to.text[len(left)] == '/' {
		s.slashMatches = s.slashMatches || to.end != nil || to.more != nil && to.more.rest != nil
	}
}

// satisfies reports whether the segment from at to end of the key satisfies c.
func (s *search) satisfies(c *check, at, end int) bool {
	segment := s.plainSegment(at, end)
	if c.memo > 0 {
		return s.memoized(c, segment, at)
	}
	_, ok := c.value(segment)
	return ok
}

// plainSegment returns a segment of the key without the key's escapes. It caches the
// last one, because all params of a state check the same segment.
func (s *search) plainSegment(at, end int) string {
	segment := s.key[at:end]
	if !s.escaped || strings.IndexByte(segment, keyEscape) < 0 {
		return segment
	}
	if s.plainAt != at {
		s.plainAt, s.plain = at, plainText(segment)
	}
	return s.plain
}

// memoized checks a segment, unless c has a memo of it.
func (s *search) memoized(c *check, segment string, at int) bool {
	r := &s.params.memos[c.memo-1]
	if r.search != s.params.searches || r.at != at {
		_, ok := c.value(segment)
		*r = memo{s.params.searches, at, ok}
	}
	return r.ok
}
