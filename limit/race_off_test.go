//go:build !race

package limit_test

// raceEnabled tells whether the race detector runs, which allocates.
const raceEnabled = false
