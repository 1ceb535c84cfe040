//go:build race

package record

// raceEnabled reports whether the race detector is on, which allocates.
const raceEnabled = true
