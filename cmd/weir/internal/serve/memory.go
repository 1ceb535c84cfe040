package serve

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"

	"github.com/weirhq/weir/internal/readable"
)

const (
	// memoryShare is the share of the cgroup's memory that becomes GOMEMLIMIT.
	// The rest is for memory outside the Go heap.
	memoryShare = 0.9
	// maxMemoryShare is the largest share that weir doctor accepts.
	maxMemoryShare = 0.95
)

// limitMemory sets GOMEMLIMIT from the cgroup's limit, so that the garbage
// collector works harder before the kernel kills the process. GOMEMLIMIT in the
// environment has precedence; AUTOMEMLIMIT=off turns this off.
func limitMemory(stderr io.Writer) {
	limit, err := memlimit.SetGoMemLimitWithOpts(memlimit.WithRatio(memoryShare))
	switch {
	case errors.Is(err, memlimit.ErrNoCgroup), errors.Is(err, memlimit.ErrCgroupsNotSupported):
	case err != nil:
		fmt.Fprintf(stderr, "weir: GOMEMLIMIT stays as it is: %v\n", err)
	case limit > 0:
		fmt.Fprintf(stderr, "weir: GOMEMLIMIT is %s, from the cgroup\n", readable.Size(float64(limit)))
	}
}

const (
	// headroom is the garbage that a heap of any size may gather. The heap of an
	// idle door is so small that the collector would otherwise run every few
	// hundred requests, which took 4% of the CPU in measurements.
	headroom = 16 << 20
	// maxFloor is the size of the floor if memory is not short.
	maxFloor = 64 << 20
)

// heapFloor returns memory that is never touched: it costs no physical memory
// but counts as live heap. The caller keeps it alive while serving. A small heap
// then grows by headroom between two collections. A large heap, such as that of
// thousands of slow clients, grows by a quarter instead of doubling. GOMEMLIMIT
// counts the floor, so a low limit makes the floor smaller and the growth
// larger. GOGC in the environment sets the growth itself.
func heapFloor() []byte {
	if os.Getenv("GOGC") != "" {
		return make([]byte, headroom)
	}
	floor := min(max(debug.SetMemoryLimit(-1)/8, headroom), maxFloor)
	debug.SetGCPercent(int(100 * headroom / floor))
	return make([]byte, floor)
}
