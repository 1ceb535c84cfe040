package router

import "strings"

// A search is one lookup on its way through the tree.
//
// It is a depth-first walk that tries the edges of every node in the order of
// precedence, so that the first pattern it arrives at is the one to take, and
// that goes back when a branch leads nowhere. What bounds it is this:
//
//   - A node with no stretch above it can be reached at one place of the path
//     only, its depth, and by one chain of edges: it is visited once.
//   - A stretch tries all its ends from left to right. A stretch below another
//     is entered again and again as the one above grows, always further to the
//     right. But the first time it has tried all ends that any later time would
//     try. So once is enough, which its guard sees to: a node below a stretch
//     is visited at most once for each segment of the path.
//
// That makes segments × nodes at most, with no memory but a bit per guard.
// The recursion follows the edges of the tree; a stretch is a loop.
type search struct {
	path   string // unescaped, "/" first
	data   []int  // offsets of the slashes in path that are no separators
	method string
	params *Params
	allow  methodSet // of all patterns that match the path, but not the method

	steps    int  // nodes visited, for the test of the bound
	hasRest  bool // the pattern found took something by a rest
	slashFit bool // a pattern would match with one more slash at the end
}

// walk returns the first pattern at or below n that the path from the offset
// on leads to. The offset is that of a segment's start, len(path)+1 at the end.
func (s *search) walk(n *node, at int) *pattern {
	s.steps++
	if at > len(s.path) {
		s.slashFit = s.slashFit || n.rest != nil || n.slash != nil
		return s.accept(n.leaf)
	}
	end := s.segmentEnd(at)
	if p := s.walkSegment(n, at, end); p != nil {
		return p
	}
	if n.stretch != nil {
		if p := s.walkStretch(n.stretch, at, end); p != nil {
			return p
		}
	}
	return s.walkRest(n, at)
}

// walkSegment tries the edges that take one segment.
func (s *search) walkSegment(n *node, at, end int) *pattern {
	segment := s.path[at:end]
	if segment == "" {
		if end == len(s.path) {
			return s.accept(n.slash)
		}
		return nil // "//": no parameter is empty and no literal
	}
	if to := n.literals.find(segment); to != nil {
		if p := s.walk(to, end+1); p != nil {
			return p
		}
	}
	for i := range n.params {
		e := &n.params[i]
		value, ok := e.value(segment)
		if !ok {
			continue
		}
		if p := s.walk(e.to, end+1); p != nil {
			s.params.values[e.capture] = value
			return p
		}
	}
	return nil
}

// walkStretch tries the ends of a stretch that begins with the segment from
// at to end. Something has to be left behind it.
func (s *search) walkStretch(e *edge, at, end int) *pattern {
	if e.to.guard > 0 && !s.params.enter(e.to.guard) {
		return nil
	}
	for end < len(s.path) {
		if p := s.walk(e.to, end+1); p != nil {
			s.params.values[e.capture] = s.path[at:end]
			return p
		}
		end = s.segmentEnd(end + 1)
	}
	return nil
}

// walkRest tries the patterns that take all that is left.
func (s *search) walkRest(n *node, at int) *pattern {
	if n.rest == nil {
		return nil
	}
	p := s.accept(&n.rest.leaf)
	if p == nil {
		return nil
	}
	s.hasRest = at < len(s.path)
	if n.rest.capture < len(p.names) { // else it is a trailing slash, without a name
		s.params.values[n.rest.capture] = s.path[at:]
	}
	return p
}

// accept returns the leaf's pattern for the method.
func (s *search) accept(l *leaf) *pattern {
	if l == nil {
		return nil
	}
	p := l.find(s.method)
	if p == nil {
		s.allow |= l.allow
	}
	return p
}

// segmentEnd returns the offset of the separator behind the segment that
// begins at the given offset, or the path's length.
func (s *search) segmentEnd(at int) int {
	if len(s.data) > 0 {
		return s.segmentEndPastData(at)
	}
	if i := strings.IndexByte(s.path[at:], '/'); i >= 0 {
		return at + i
	}
	return len(s.path)
}
