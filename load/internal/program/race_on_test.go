//go:build race

package program

// raceEnabled reports whether the race detector is on, which allocates.
const raceEnabled = true
