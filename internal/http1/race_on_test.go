//go:build race

package http1_test

// raceEnabled reports whether the race detector is on, which allocates.
const raceEnabled = true
