//go:build race

package lease_test

// raceEnabled reports whether the race detector is on, which allocates.
const raceEnabled = true
