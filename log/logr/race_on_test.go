//go:build race

package logr_test

// raceEnabled is true under the race detector, which allocates.
const raceEnabled = true
