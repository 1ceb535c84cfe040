//go:build race

package answer_test

// raceEnabled reports whether the race detector is on, which allocates.
const raceEnabled = true
