//go:build !race

package proxying_test

// raceDetector reports whether the race detector, which allocates, is on.
const raceDetector = false
