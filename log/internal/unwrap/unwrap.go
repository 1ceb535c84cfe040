// Package unwrap finds a writer inside writers that wrap it and have a method
// Unwrap() io.Writer.
package unwrap

import "io"

// First returns the outermost writer of type T among w and the writers that it
// wraps, and whether there is one. T may be an interface.
func First[T any](w io.Writer) (found T, ok bool) {
	const mostLayers = 10 // because a writer may unwrap to itself
	for range mostLayers {
		if found, ok = w.(T); ok {
			return found, true
		}
		outer, wraps := w.(interface{ Unwrap() io.Writer })
		if !wraps {
			break
		}
		w = outer.Unwrap()
	}
	return found, false
}
