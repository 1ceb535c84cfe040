//go:build race

package log_test

// raceEnabled reports whether the race detector is on. The detector allocates.
const raceEnabled = true
