//go:build race

package log

// raceEnabled reports whether the race detector is on. The detector allocates.
const raceEnabled = true
