//go:build race

package response_test

// raceEnabled reports whether the race detector is on, which allocates.
const raceEnabled = true
