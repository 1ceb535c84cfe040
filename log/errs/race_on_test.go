//go:build race

package errs_test

// raceEnabled is true under the race detector, which allocates.
const raceEnabled = true
