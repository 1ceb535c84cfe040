//go:build race

package limit_test

// raceEnabled reports whether the race detector is on, which allocates.
const raceEnabled = true
