// Package measure runs the rows of a comparison interleaved and compares them.
//
// The speed of a machine that is shared, throttled or virtual changes during a benchmark, so rows measured one after
// the other differ for unrelated reasons. Here every pass runs every row once, in an order that rotates from pass to
// pass, and the medians over the passes are compared. The measure is the CPU time of this process instead of the wall
// time, so that other processes do not affect it. It includes the garbage collector, which is a cost of rows that
// allocate.
package measure

import (
	"context"
	"fmt"
	"runtime"
	"syscall"
	"time"
)

// A Row does the work of a case in one way.
type Row struct {
	Name string
	Note string      // information needed to understand the row, in a few words; may be empty
	Ours bool        // a row of Weir
	Bare bool        // the cost without the work (the floor); a row with neither flag is a peer
	Run  func(n int) // does the work n times

	// After removes the remains of a run. It is not measured and may be nil.
	After func()
}

// A Case is one piece of work with all rows that do it.
type Case struct {
	Name string
	Rows []Row

	// Open returns the rows if they must not exist before and after the case, because the memory of one case slows down
	// the garbage collector in the next one. If it is nil, Rows contains them.
	Open func() ([]Row, error)

	// Parallel is for rows that use all CPUs. The measure is the total CPU time.
	Parallel bool
}

// A Plan determines the duration of measurements. The zero Plan measures nothing.
type Plan struct {
	Passes   int           // number of runs per row, whose median is used
	PassTime time.Duration // approximate duration of a row in one pass
}

// Cost is the cost of a row in one pass, per operation.
type Cost struct {
	Nanoseconds float64 // CPU time, user and system
	Allocs      float64
	Bytes       float64
}

// Measured is a row with its costs, pass by pass.
type Measured struct {
	Row
	Costs []Cost
}

// Measure runs the rows of c interleaved according to p. Unless c is Parallel it uses one CPU, so that the garbage
// collector's work is charged to the row that caused it. It stops early with ctx's error when ctx ends.
func (p Plan) Measure(ctx context.Context, c Case) ([]Measured, error) {
	rows := c.Rows
	if c.Open != nil {
		var err error
		if rows, err = c.Open(); err != nil {
			return nil, err
		}
	}
	if !c.Parallel {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	}
	out := make([]Measured, len(rows))
	counts := make([]int, len(rows))
	for i, r := range rows {
		out[i].Row = r
		counts[i] = calibrate(r, p.PassTime)
	}
	for pass := range p.Passes {
		for k := range out {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			i := (k + pass) % len(out)
			out[i].Costs = append(out[i].Costs, cost(out[i].Row, counts[i]))
		}
	}
	return out, nil
}

// calibrate returns the number of operations that take about d. It also warms pools and caches, so the first run does
// not count.
func calibrate(r Row, d time.Duration) int {
	r.Run(1)
	r.after()
	for n := 1; ; n *= 2 {
		start := time.Now()
		r.Run(n)
		took := time.Since(start)
		r.after()
		if took >= d/4 {
			return max(1, int(float64(n)*float64(d)/float64(took)))
		}
	}
}

// cost measures one pass of n operations. It runs the garbage collector first, so that a row is not charged for the
// garbage of the row before.
func cost(r Row, n int) Cost {
	defer r.after()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	start := ProcessorTime()
	r.Run(n)
	took := ProcessorTime() - start
	runtime.ReadMemStats(&after)
	per := func(from, to uint64) float64 { return float64(to-from) / float64(n) }
	return Cost{
		Nanoseconds: float64(took) / float64(n),
		Allocs:      per(before.Mallocs, after.Mallocs),
		Bytes:       per(before.TotalAlloc, after.TotalAlloc),
	}
}

func (r Row) after() {
	if r.After != nil {
		r.After()
	}
}

// ProcessorTime returns the user and system time of this process so far.
func ProcessorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(fmt.Sprintf("measure: getrusage: %v", err)) // the argument is always valid
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
