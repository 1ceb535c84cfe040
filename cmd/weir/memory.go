package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

const (
	// memoryShare is how much of a cgroup's memory GOMEMLIMIT is: the rest is
	// for what is no heap.
	memoryShare = 0.9
	// mostMemoryShare is how much it may be, as a person sets it.
	mostMemoryShare = 0.95
)

// limitMemory sets GOMEMLIMIT from the cgroup's limit, unless the environment
// says what it is to be: the garbage collector then works harder before the
// kernel ends the process. AUTOMEMLIMIT=off leaves it alone.
func limitMemory(complaints io.Writer) {
	limit, err := memlimit.SetGoMemLimitWithOpts(memlimit.WithRatio(memoryShare))
	switch {
	case errors.Is(err, memlimit.ErrNoCgroup), errors.Is(err, memlimit.ErrCgroupsNotSupported):
	case err != nil:
		fmt.Fprintf(complaints, "weir: GOMEMLIMIT stays as it is: %v\n", err)
	case limit > 0:
		fmt.Fprintf(complaints, "weir: GOMEMLIMIT is %s, from the cgroup\n", size(limit))
	}
}
