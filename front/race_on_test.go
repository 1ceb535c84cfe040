//go:build race

package front_test

// raceEnabled reports whether the race detector, which allocates, is enabled.
const raceEnabled = true
