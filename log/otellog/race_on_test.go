//go:build race

package otellog_test

// raceEnabled is true when the race detector is on, which allocates.
const raceEnabled = true
