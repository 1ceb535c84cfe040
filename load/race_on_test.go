//go:build race

package load

// raceEnabled reports whether the race detector is on, which allocates.
const raceEnabled = true
