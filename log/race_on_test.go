//go:build race

package log_test

// raceEnabled is true under the race detector, which allocates.
const raceEnabled = true
