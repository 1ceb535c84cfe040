//go:build race

package transport

// raceDetector reports whether the race detector, which allocates, is on.
const raceDetector = true
