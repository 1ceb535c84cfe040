// Package logcost estimates the CPU time that a running front door spends on its log.
package logcost

import (
	"io"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirhq/weir/internal/machine"
)

// A Cost estimates the CPU time that a running front door spends on encoding and
// on writing events. It measures a sample of the events and of the writes by the
// CPU clock of their thread, and multiplies the result. Waiting for the reader of
// the log and other processes of the machine therefore do not count.
//
// The work of a queue's goroutine between its writes is not measured. The time of
// the measurements is counted separately.
//
// Call Start before use.
type Cost struct {
	encoding  atomic.Int64 // nanoseconds
	writing   atomic.Int64 // nanoseconds
	measuring atomic.Int64 // nanoseconds

	mu      sync.Mutex
	earlier Reading // guarded by mu: start of the window of Share
	later   Reading // guarded by mu: the next start of the window
}

// One of this many events or writes is measured. Reading the clock of the thread is
// a system call, and a measurement reads it three times. The numbers are primes, so
// that each event of a repeating sequence, such as the three of a request, is
// sampled equally often.
const (
	eventsPerSample = 509
	writesPerSample = 251
)

// Sampled counts down to the next measurement. Goroutines must not share it.
type Sampled struct{ left int }

// startSampling returns a countdown with a random start, so that countdowns that
// start together do not end together.
func startSampling(every int) Sampled { return Sampled{left: 1 + rand.IntN(every)} }

// SampleEvents returns a countdown for the events of one goroutine at a time.
func SampleEvents() Sampled { return startSampling(eventsPerSample) }

// A Measurement is in progress until its end is called in the same goroutine. The
// zero value measures nothing.
type Measurement struct {
	cost  *Cost
	began time.Duration
	clock time.Duration // duration of a reading of the clock
}

// Event begins a measurement if the next event is in the sample.
func (c *Cost) Event(s *Sampled) Measurement {
	if s.left--; s.left > 0 {
		return Measurement{}
	}
	s.left = eventsPerSample
	return c.measure()
}

func (c *Cost) measure() Measurement {
	runtime.LockOSThread()
	first := machine.ThreadCPU()
	began := machine.ThreadCPU()
	return Measurement{cost: c, began: began, clock: began - first}
}

// EndEvent adds the time of an event.
func (m Measurement) EndEvent() {
	if m.cost != nil {
		m.end(&m.cost.encoding, eventsPerSample)
	}
}

// readings is the number of clock readings of a measurement.
const readings = 3

func (m Measurement) end(sum *atomic.Int64, times int64) {
	took := machine.ThreadCPU() - m.began - m.clock
	runtime.UnlockOSThread()
	sum.Add(int64(max(took, 0)) * times)
	m.cost.measuring.Add(readings * int64(m.clock))
}

// A Sampler measures some of the writes of one goroutine at a time.
type Sampler struct {
	cost   *Cost
	sample Sampled
}

// NewSampler returns a sampler of writes.
func NewSampler(c *Cost) *Sampler {
	return &Sampler{cost: c, sample: startSampling(writesPerSample)}
}

// Begin begins a measurement if the next write is in the sample.
func (s *Sampler) Begin() Measurement {
	if s.sample.left--; s.sample.left > 0 {
		return Measurement{}
	}
	s.sample.left = writesPerSample
	return s.cost.measure()
}

// EndWrite adds the time of a write.
func (m Measurement) EndWrite() {
	if m.cost != nil {
		m.end(&m.cost.writing, writesPerSample)
	}
}

// A Writer measures the writes of one goroutine at a time.
type Writer struct {
	writer  io.Writer
	sampler *Sampler
}

// NewWriter returns a writer that measures some of the writes to w.
func NewWriter(w io.Writer, c *Cost) *Writer { return &Writer{w, NewSampler(c)} }

// Unwrap returns the writer. Callers use it to find out its type.
func (w *Writer) Unwrap() io.Writer { return w.writer }

// Write implements io.Writer.
func (w *Writer) Write(p []byte) (int, error) {
	defer w.sampler.Begin().EndWrite() // a writer may panic
	return w.writer.Write(p)
}

// A Reading is the time measured up to an instant, and the CPU time of the
// process.
type Reading struct {
	at                                    time.Time
	Encoding, Writing, Measuring, Process time.Duration
}

// window is the minimum window of Share. If Share is called at least once per
// window, the window is at most twice as long.
const window = 10 * time.Second

// Read returns the times up to now.
func (c *Cost) Read(now time.Time) Reading {
	return Reading{
		at:        now,
		Encoding:  time.Duration(c.encoding.Load()),
		Writing:   time.Duration(c.writing.Load()),
		Measuring: time.Duration(c.measuring.Load()),
		Process:   machine.ProcessCPU(),
	}
}

// Start begins to count now.
func (c *Cost) Start() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.earlier = c.Read(time.Now())
	c.later = c.earlier
}

// Share returns the share of the log in the CPU time that the process used in the
// current window, and the length of the window.
func (c *Cost) Share(r Reading) (share float64, since time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	since, share = r.at.Sub(c.earlier.at), r.shareSince(c.earlier)
	if r.at.Sub(c.later.at) >= window {
		c.earlier, c.later = c.later, r
	}
	return share, since
}

func (r Reading) shareSince(e Reading) float64 {
	used := r.Process - e.Process
	if used <= 0 {
		return 0
	}
	return min(1, float64(r.Encoding-e.Encoding+r.Writing-e.Writing)/float64(used))
}
