package sinks

import (
	"errors"
	"math"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/weirhq/weir/bench/measure"
)

// Producers is the number of goroutines that log.
const Producers = 2

// A Load determines how each producer logs. Before each request it yields to other goroutines, like a server that waits
// for its next request.
type Load struct {
	Requests int
	Burst    int           // requests in a burst without pauses; 0: all of them
	Every    time.Duration // time from the start of one burst to the start of the next
	Timed    int           // one request in Timed is measured, event by event
}

// The loads of the comparison.
var (
	Busy  = Load{Requests: 30_000, Timed: 8}
	Paced = Load{Requests: 5_000, Burst: 10, Every: time.Millisecond, Timed: 1}
)

// A Report holds the cost of a row.
type Report struct {
	Events    uint64        // logged
	Own       uint64        // lines that the row added about events that it dropped
	Dropped   uint64        // as counted by the row
	CPU       time.Duration // user and system, from before the row was opened until it was closed
	Mallocs   uint64        // in the same period
	Took      time.Duration // until every producer had logged its last event
	P50, P999 time.Duration // time of a caller for one event, including making the line
}

// Work opens the row, runs the producers, closes the row and returns its report. The lines are written to the file at
// path, or to stdout if path is empty.
func Work(r Row, path string, l Load) (Report, error) {
	waits := make([][]time.Duration, Producers)
	for i := range waits {
		waits[i] = make([]time.Duration, 0, 3*(l.Requests/l.Timed+1))
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	cpu := measure.ProcessorTime()
	row, err := r.open(output{path})
	if err != nil {
		return Report{}, err
	}
	begin := time.Now()
	err = produce(row, l, begin, waits)
	took := time.Since(begin)
	err = errors.Join(err, row.close())
	cpu = measure.ProcessorTime() - cpu
	runtime.ReadMemStats(&after)
	report := Report{Events: uint64(3 * Producers * l.Requests), CPU: cpu, Mallocs: after.Mallocs - before.Mallocs,
		Took: took}
	if row.counts != nil {
		counts := row.counts()
		report.Own = max(counts.emitted, report.Events) - report.Events
		report.Dropped = counts.dropped
	}
	all := slices.Concat(waits...)
	slices.Sort(all)
	report.P50, report.P999 = quantile(all, 0.5), quantile(all, 0.999)
	return report, err
}

// produce runs the producers, which store their durations in waits, and returns when all are done.
func produce(row *opened, l Load, begin time.Time, waits [][]time.Duration) error {
	var all sync.WaitGroup
	errs := make([]error, Producers)
	for i := range Producers {
		all.Go(func() {
			p := row.producer()
			// The producers' bursts start at different times.
			waits[i] = p.run(l, begin.Add(time.Duration(i)*l.Every/Producers), waits[i])
			errs[i] = p.end()
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// run logs according to l and appends the durations of the measured events.
func (p producer) run(l Load, due time.Time, waits []time.Duration) []time.Duration {
	for i := range l.Requests {
		runtime.Gosched()
		if l.Burst > 0 && i%l.Burst == 0 {
			time.Sleep(time.Until(due))
			due = due.Add(l.Every)
		}
		if i%l.Timed != 0 {
			p.event(0)
			p.event(1)
			p.event(2)
			continue
		}
		p.receive()
		start := time.Now()
		for event := range 3 {
			p.event(event)
			end := time.Now()
			waits = append(waits, end.Sub(start))
			start = end
		}
	}
	return waits
}

// quantile returns the smallest of the sorted values that the share q of them does not exceed.
func quantile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[max(int(math.Ceil(q*float64(len(sorted))))-1, 0)]
}
