//go:build race

package program

// raceEnabled is true when the race detector is on, which allocates.
const raceEnabled = true
