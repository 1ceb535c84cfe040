package router

// A slab makes values of one type, several in one allocation: a table of ten
// thousand patterns is made of a hundred thousand of them, and making each
// alone would take most of the time. The zero slab is ready. Its values live as
// long as one of those they were made with.
type slab[T any] struct {
	free []T
	size int // of the last allocation
}

// maxSlab is how many values are made at once at most.
const maxSlab = 256

// new returns a zero value.
func (s *slab[T]) new() *T { return &s.slice(1)[0] }

// slice returns n zero values, to which nothing can be appended in place.
func (s *slab[T]) slice(n int) []T {
	if n > len(s.free) {
		s.size = min(max(4, 2*s.size), maxSlab)
		s.free = make([]T, max(n, s.size))
	}
	taken := s.free[:n:n]
	s.free = s.free[n:]
	return taken
}
