//go:build race

package process_test

// raceEnabled is true when the race detector is on, which allocates.
const raceEnabled = true
