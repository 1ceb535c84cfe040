//go:build race

package otellog_test

// raceEnabled is true under the race detector, which allocates.
const raceEnabled = true
