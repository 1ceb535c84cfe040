package front

import (
	"io"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirhq/weir/internal/machine"
)

// A logCost measures how much of the CPU's time goes into the log, while the
// door is at work: that of encoding events, and that of writing them. Of all
// events and of all writes one in so many is measured, by the clock of the
// thread that does it, and counted that many times. So a wait for the log's
// reader costs nothing here, nor does what else the machine runs meanwhile.
//
// What a queue's goroutine does between its writes is not measured. What
// measuring itself takes is, and is no part of the rest.
//
// Call start before it is used.
type logCost struct {
	encoding  atomic.Int64 // nanoseconds
	writing   atomic.Int64 // nanoseconds
	measuring atomic.Int64 // nanoseconds

	mu      sync.Mutex
	earlier costReading // guarded by mu: what the share counts from
	later   costReading // guarded by mu: takes earlier's place when it is old enough
}

// One in so many is measured. A reading of the thread's clock is a system
// call, and a measurement takes three. The numbers are primes: whatever turns
// come in, such as the three events of a request, each has its share.
const (
	eventsPerSample = 509
	writesPerSample = 251
)

// sampled counts down to the next measurement. One goroutine uses it.
type sampled struct{ left int }

// startSampling returns a countdown that ends anywhere, so that many which
// start together do not end so.
func startSampling(every int) sampled { return sampled{left: 1 + rand.IntN(every)} }

// A measurement is under way until its end, in the same goroutine. The zero
// value is none.
type measurement struct {
	cost  *logCost
	began time.Duration
	clock time.Duration // what reading the clock takes
}

// event begins to measure an event when it is its turn.
func (c *logCost) event(s *sampled) measurement {
	if s.left--; s.left > 0 {
		return measurement{}
	}
	s.left = eventsPerSample
	return c.measure()
}

func (c *logCost) measure() measurement {
	runtime.LockOSThread()
	first := machine.ThreadCPU()
	began := machine.ThreadCPU()
	return measurement{cost: c, began: began, clock: began - first}
}

// endEvent counts what an event took.
func (m measurement) endEvent() {
	if m.cost != nil {
		m.end(&m.cost.encoding, eventsPerSample)
	}
}

// readings is how often a measurement reads the clock.
const readings = 3

func (m measurement) end(sum *atomic.Int64, times int64) {
	took := machine.ThreadCPU() - m.began - m.clock
	runtime.UnlockOSThread()
	sum.Add(int64(max(took, 0)) * times)
	m.cost.measuring.Add(readings * int64(m.clock))
}

// A costWriter measures the writes of one goroutine at a time.
type costWriter struct {
	writer io.Writer
	cost   *logCost
	turn   sampled
}

func newCostWriter(w io.Writer, c *logCost) *costWriter {
	return &costWriter{writer: w, cost: c, turn: startSampling(writesPerSample)}
}

// Unwrap returns the writer, for who asks what kind it is.
func (w *costWriter) Unwrap() io.Writer { return w.writer }

// Write implements io.Writer.
func (w *costWriter) Write(p []byte) (int, error) {
	if w.turn.left--; w.turn.left > 0 {
		return w.writer.Write(p)
	}
	w.turn.left = writesPerSample
	m := w.cost.measure()
	defer m.end(&w.cost.writing, writesPerSample) // a writer may panic
	return w.writer.Write(p)
}

// A costReading is what was measured up to an instant, and all that the
// process has used.
type costReading struct {
	at                                    time.Time
	encoding, writing, measuring, process time.Duration
}

// costWindow is how far the share looks back, at least; at most twice as far,
// as long as somebody asks within it.
const costWindow = 10 * time.Second

func (c *logCost) read(now time.Time) costReading {
	return costReading{
		at:        now,
		encoding:  time.Duration(c.encoding.Load()),
		writing:   time.Duration(c.writing.Load()),
		measuring: time.Duration(c.measuring.Load()),
		process:   machine.ProcessCPU(),
	}
}

// start begins with what the process has used up to now.
func (c *logCost) start() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.earlier = c.read(time.Now())
	c.later = c.earlier
}

// share returns which part of the CPU time that the process has used lately
// went into the log, and how long lately is.
func (c *logCost) share(r costReading) (share float64, since time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	since, share = r.at.Sub(c.earlier.at), r.shareSince(c.earlier)
	if r.at.Sub(c.later.at) >= costWindow {
		c.earlier, c.later = c.later, r
	}
	return share, since
}

func (r costReading) shareSince(e costReading) float64 {
	used := r.process - e.process
	if used <= 0 {
		return 0
	}
	return min(1, float64(r.encoding-e.encoding+r.writing-e.writing)/float64(used))
}
