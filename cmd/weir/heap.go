package main

import (
	"os"
	"runtime/debug"
)

const (
	// headroom is how much garbage a heap may gather, whatever its size. With a
	// heap as small as a door's, the collector would otherwise run for every few
	// hundred requests, which was measured to take 4% of the CPU.
	headroom = 16 << 20
	// mostFloor is the floor where memory is not short.
	mostFloor = 64 << 20
)

// heapFloor returns memory that is never touched, so it takes none of the
// machine's, but counts as live; keep it alive while serving. With it, a small
// heap grows by headroom before it is collected, however busy the door. A large
// one, of thousands of slow clients, grows by a quarter and not to twice its
// size. Where GOMEMLIMIT is low, which counts the floor, the floor is smaller and
// the growth larger. GOGC in the environment decides about the growth itself.
func heapFloor() []byte {
	if os.Getenv("GOGC") != "" {
		return make([]byte, headroom)
	}
	floor := min(max(debug.SetMemoryLimit(-1)/8, headroom), mostFloor)
	debug.SetGCPercent(int(100 * headroom / floor))
	return make([]byte, floor)
}
