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

// A logCost estimates the CPU time that a running front door spends on encoding and
// on writing events. It measures a sample of the events and of the writes by the
// CPU clock of their thread, and multiplies the result. Waiting for the reader of
// the log and other processes of the machine therefore do not count.
//
// The work of a queue's goroutine between its writes is not measured. The time of
// the measurements is counted separately.
//
// Call start before use.
type logCost struct {
	encoding  atomic.Int64 // nanoseconds
	writing   atomic.Int64 // nanoseconds
	measuring atomic.Int64 // nanoseconds

	mu      sync.Mutex
	earlier costReading // guarded by mu: start of the window of share
	later   costReading // guarded by mu: the next start of the window
}

// One of this many events or writes is measured. Reading the clock of the thread is
// a system call, and a measurement reads it three times. The numbers are primes, so
// that each event of a repeating sequence, such as the three of a request, is
// sampled equally often.
const (
	eventsPerSample = 509
	writesPerSample = 251
)

// sampled counts down to the next measurement. Goroutines must not share it.
type sampled struct{ left int }

// startSampling returns a countdown with a random start, so that countdowns that
// start together do not end together.
func startSampling(every int) sampled { return sampled{left: 1 + rand.IntN(every)} }

// A measurement is in progress until its end is called in the same goroutine. The
// zero value measures nothing.
type measurement struct {
	cost  *logCost
	began time.Duration
	clock time.Duration // duration of a reading of the clock
}

// event begins a measurement if the next event is in the sample.
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

// endEvent adds the time of an event.
func (m measurement) endEvent() {
	if m.cost != nil {
		m.end(&m.cost.encoding, eventsPerSample)
	}
}

// readings is the number of clock readings of a measurement.
const readings = 3

func (m measurement) end(sum *atomic.Int64, times int64) {
	took := machine.ThreadCPU() - m.began - m.clock
	runtime.UnlockOSThread()
	sum.Add(int64(max(took, 0)) * times)
	m.cost.measuring.Add(readings * int64(m.clock))
}

// A costSampler measures some of the writes of one goroutine at a time.
type costSampler struct {
	cost   *logCost
	sample sampled
}

func newCostSampler(c *logCost) *costSampler {
	return &costSampler{cost: c, sample: startSampling(writesPerSample)}
}

// begin begins a measurement if the next write is in the sample.
func (s *costSampler) begin() measurement {
	if s.sample.left--; s.sample.left > 0 {
		return measurement{}
	}
	s.sample.left = writesPerSample
	return s.cost.measure()
}

// endWrite adds the time of a write.
func (m measurement) endWrite() {
	if m.cost != nil {
		m.end(&m.cost.writing, writesPerSample)
	}
}

// A costWriter measures the writes of one goroutine at a time.
type costWriter struct {
	writer  io.Writer
	sampler *costSampler
}

func newCostWriter(w io.Writer, c *logCost) *costWriter { return &costWriter{w, newCostSampler(c)} }

// Unwrap returns the writer. Callers use it to find out its type.
func (w *costWriter) Unwrap() io.Writer { return w.writer }

// Write implements io.Writer.
func (w *costWriter) Write(p []byte) (int, error) {
	defer w.sampler.begin().endWrite() // a writer may panic
	return w.writer.Write(p)
}

// A costReading is the time measured up to an instant, and the CPU time of the
// process.
type costReading struct {
	at                                    time.Time
	encoding, writing, measuring, process time.Duration
}

// costWindow is the minimum window of share. If share is called at least once per
// costWindow, the window is at most twice as long.
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

// start begins to count now.
func (c *logCost) start() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.earlier = c.read(time.Now())
	c.later = c.earlier
}

// share returns the share of the log in the CPU time that the process used in the
// current window, and the length of the window.
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
