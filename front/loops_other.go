//go:build !linux

package front

// newLoops returns the engine of goroutines: only Linux has loops.
func newLoops(s *server) (engine, error) { return goroutines{s}, nil }
