//go:build race

package front_test

// raceEnabled tells whether the race detector runs, which allocates.
const raceEnabled = true
