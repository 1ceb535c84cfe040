// Package measure runs the rows of a comparison by turns and sets them side by side.
//
// A machine that is shared, throttled or virtual changes its speed while a benchmark runs: rows that are measured
// one after the other then differ for reasons that are not theirs. Here every pass runs every row once, in an order
// that rotates from pass to pass, and what is compared are the medians over the passes. What is counted is the
// processor time of this process, not the time on the wall, so that a neighbour who takes the processor away for a
// while does not count; it includes the garbage collector, which a row that allocates has to pay for.
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
	Note string      // what a reader must know to read the row rightly, in a few words; may be empty
	Ours bool        // a row of Weir
	Bare bool        // what is left when nobody does the work (the floor); a row that is neither is a peer's
	Run  func(n int) // does the work n times

	// After removes what a run leaves, so that it does not pile up. It is not measured, and may be nil.
	After func()
}

// A Case is one piece of work and all the rows that do it.
type Case struct {
	Name string
	Rows []Row

	// Open returns the rows where they are not to exist before the case's turn, nor after it: what one case keeps in
	// memory is in the way of the next one's collector. Nil: Rows has them.
	Open func() ([]Row, error)

	// Parallel is for rows that work on all processors at once. What is counted is the time of them all.
	Parallel bool
}

// A Plan says how long to measure. The zero Plan measures nothing.
type Plan struct {
	Passes   int           // how often each row runs; the medians are over these
	PassTime time.Duration // about how long one row runs in one pass
}

// Cost is what one row cost in one pass, per operation.
type Cost struct {
	Nanoseconds float64 // processor time, user and system
	Allocs      float64
	Bytes       float64
}

// Measured is a row with what it cost, pass by pass.
type Measured struct {
	Row
	Costs []Cost
}

// Measure runs the rows of c by turns, as p says, on one processor at a time so that the collector's work falls
// into the row that caused it, unless c is Parallel. It stops early, with ctx's error, when ctx ends.
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

// calibrate returns how often the row has to work to take about d, and warms its pools and caches on the way. What the
// row does the first time alone is no measure of that.
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

// cost measures one pass of n operations. The collector runs first: a row does not pay for its predecessor's waste.
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
		panic(fmt.Sprintf("measure: getrusage: %v", err)) // it takes no argument that could be wrong
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
