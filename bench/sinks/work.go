package sinks

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/weirhq/weir/bench/measure"
)

// Producers are the goroutines that log.
const Producers = 2

// A Load says how each producer logs. Before each request it lets other goroutines run, as a server's does that waits for
// its next one.
type Load struct {
	Requests int
	Burst    int           // so many requests follow each other at once; 0: all of them
	Every    time.Duration // from the beginning of one burst to that of the next
	Timed    int           // one request in so many is timed, event by event
}

// The loads that are compared.
var (
	Busy  = Load{Requests: 30_000, Timed: 8}
	Paced = Load{Requests: 5_000, Burst: 10, Every: time.Millisecond, Timed: 1}
)

// A Report is what a row cost.
type Report struct {
	Events    uint64        // that were logged
	Own       uint64        // that the row wrote of itself beyond those, to tell what it dropped
	Dropped   uint64        // as the row itself counted
	CPU       time.Duration // user and system, from before the row was opened until it was closed
	Mallocs   uint64        // in the same time
	Took      time.Duration // until every producer had logged its last event
	P50, P999 time.Duration // of what a caller waited for one event, making the line included
}

// Work opens the row, has the producers log, closes it and reports. The lines go to the file at path or, when that is
// empty, to stdout.
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
	report := Report{Events: uint64(3 * Producers * l.Requests), CPU: cpu, Mallocs: after.Mallocs - before.Mallocs, Took: took}
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

// produce runs the producers, each of which leaves its waits, and returns when the last is done.
func produce(row *opened, l Load, begin time.Time, waits [][]time.Duration) error {
	var all sync.WaitGroup
	errs := make([]error, Producers)
	for i := range Producers {
		all.Go(func() {
			p := row.producer()
			// Their bursts do not begin together.
			waits[i] = p.run(l, begin.Add(time.Duration(i)*l.Every/Producers), waits[i])
			errs[i] = p.end()
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// run logs as l says and adds what it waited for the events that are timed.
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

// quantile returns the value that the part q of the sorted values does not exceed.
func quantile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}
