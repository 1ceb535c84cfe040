//go:build race

package limit

// RaceEnabled reports whether the race detector is on, which allocates.
const RaceEnabled = true
