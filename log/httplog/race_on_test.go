//go:build race

package httplog_test

// raceEnabled is true under the race detector, which allocates.
const raceEnabled = true
