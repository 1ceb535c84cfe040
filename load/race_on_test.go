//go:build race

package load

// raceEnabled is true when the race detector is on, which allocates.
const raceEnabled = true
