//go:build race

package otlpsink

// raceEnabled is true under the race detector, which allocates.
const raceEnabled = true
