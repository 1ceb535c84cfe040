package router

import "strings"

// A check is what the segment of a param has to satisfy.
type check struct {
	form
	run int // the number of a constraint that is to run once for a segment, from 1; else 0
}

// satisfies reports whether the segment from at to end of the key satisfies c.
func (s *search) satisfies(c *check, at, end int) bool {
	segment := s.plainSegment(at, end)
	if c.run > 0 {
		return s.once(c, segment, at)
	}
	_, ok := c.value(segment)
	return ok
}

// plainSegment returns a segment of the key as it is without the key's escapes.
// It keeps the last one, which all the params of a state are asked about.
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

// A run is what a check said of the segment at an offset in one search. Those
// of earlier searches are left where they are: a table may have thousands of
// expressions of which a request comes near none.
type run struct {
	search uint64
	at     int
	ok     bool
}

// once asks c about a segment, unless it was asked about the same one before.
func (s *search) once(c *check, segment string, at int) bool {
	r := &s.params.runs[c.run-1]
	if r.search != s.params.searches || r.at != at {
		_, ok := c.value(segment)
		*r = run{s.params.searches, at, ok}
	}
	return r.ok
}
