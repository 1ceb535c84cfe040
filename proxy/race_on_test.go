//go:build race

package proxy_test

// raceDetector tells that the race detector is on, which allocates.
const raceDetector = true
