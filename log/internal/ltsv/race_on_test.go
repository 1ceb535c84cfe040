//go:build race

package ltsv_test

// raceEnabled is true under the race detector, which allocates.
const raceEnabled = true
