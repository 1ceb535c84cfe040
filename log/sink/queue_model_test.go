package sink_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/sink"
)

// TestCountsOfRandomProgramsAddUp runs random programs of bursts and faults with a fake clock
// and writer. After each step the counts must add up, and at the end they must
// match the output. A failing program is shortened and printed.
func TestCountsOfRandomProgramsAddUp(t *testing.T) {
	const stepsEach = 100
	programs := 100
	if os.Getenv("WEIR_SOAK") != "" {
		programs = 10_000
	}
	for seed := range uint64(programs) {
		p := randomProgram(seed, stepsEach)
		if err := p.run(t); err != nil {
			p = p.shorten(t)
			t.Fatalf("seed %d: %v; in short\n%s%v", seed, err, p, p.run(t))
		}
	}
}

// A program is a list of events in the life of one queue. It ends with a Close.
type program struct {
	o     sink.QueueOptions
	steps []modelStep
	mends bool // whether the writer works again before Close
}

// A modelStep happens when the queue is idle or blocked.
type modelStep struct {
	kind  string
	level log.Level
	n     int
	d     time.Duration
	err   error
}

func (s modelStep) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s level=%v n=%d d=%v err=%v", s.kind, s.level, s.n, s.d, s.err))
}

func (p program) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "  %+v mends=%t\n", p.o, p.mends)
	for _, s := range p.steps {
		fmt.Fprintf(&b, "  %v\n", s)
	}
	return b.String()
}

func randomProgram(seed uint64, steps int) program {
	r := rand.New(rand.NewPCG(seed, 1))
	pick := func(list ...time.Duration) time.Duration { return list[r.IntN(len(list))] }
	p := program{mends: r.IntN(2) == 0, o: sink.QueueOptions{
		Bytes:     []int{0, 1, 500, 4000, 100_000}[r.IntN(5)],
		WhenFull:  sink.Policy(r.IntN(3)),
		Linger:    pick(0, 0, time.Millisecond),
		Heartbeat: pick(0, time.Second, 10*time.Second),
	}}
	if p.o.WhenFull == sink.Block {
		p.o.Wait = pick(time.Millisecond, time.Second) // other tests wait without a limit
	}
	faults := []error{
		nil, syscall.ENOSPC, syscall.EAGAIN, syscall.EINTR, syscall.EIO, syscall.EPIPE, os.ErrClosed, errPanic,
		&os.PathError{Op: "write", Path: "|1", Err: syscall.EAGAIN},
	}
	for range steps {
		s := modelStep{kind: []string{"burst", "burst", "burst", "fault", "fault", "stall", "go on", "sleep", "flush", "rotate"}[r.IntN(10)]}
		switch s.kind {
		case "burst":
			s.level, s.n = log.Level(r.IntN(6)-2), 1+r.IntN(1<<r.IntN(7))
		case "fault":
			s.err, s.n = faults[r.IntN(len(faults))], r.IntN(1<<r.IntN(10))
			if s.err == errPanic {
				s.n = 0 // the progress of a writer that panics is unknown
			}
		case "sleep", "flush":
			s.d = pick(time.Microsecond, time.Millisecond, 100*time.Millisecond, time.Second, time.Minute)
		}
		p.steps = append(p.steps, s)
	}
	return p
}

// shorten removes steps while the program still fails.
func (p program) shorten(t *testing.T) program {
	for size := len(p.steps) / 2; size > 0; size /= 2 {
		for i := 0; i+size <= len(p.steps); {
			shorter := p
			shorter.steps = slices.Delete(slices.Clone(p.steps), i, i+size)
			if shorter.run(t) != nil {
				p = shorter
			} else {
				i += size
			}
		}
	}
	return p
}

// run runs the program and returns the first fault of the queue.
func (p program) run(t *testing.T) (err error) {
	synctest.Test(t, func(t *testing.T) {
		m := &model{w: newFaulty()}
		m.q = sink.NewQueue(m.w, p.o)
		for i, s := range p.steps {
			m.do(s)
			synctest.Wait()
			if err = identity(m.q.Stats()); err != nil {
				err = fmt.Errorf("step %d, %v: %w", i, s, err)
				break
			}
		}
		if ended := m.end(p); err == nil {
			err = ended
		}
	})
	return err
}

// A model records the lines that a queue was given, and its responses.
type model struct {
	q       *sink.Queue
	w       *faulty
	emitted int
	refused map[int]bool // by number of the line
}

// do runs one step. Time limits end bursts and flushes that wait.
func (m *model) do(s modelStep) {
	switch s.kind {
	case "burst":
		for range s.n {
			m.emit(s.level)
		}
	case "fault":
		m.w.fail(step{take: s.n, err: s.err})
	case "stall":
		m.w.stall()
	case "go on":
		m.w.goOn()
	case "sleep":
		time.Sleep(s.d)
	case "flush":
		ctx, cancel := context.WithTimeout(context.Background(), s.d)
		defer cancel()
		m.q.Flush(ctx)
	case "rotate":
		m.w.rotate()
	}
}

func (m *model) emit(level log.Level) {
	line := fmt.Sprintf("<%d %s>\n", m.emitted, strings.Repeat("x", m.emitted*37%600))
	n, err := m.q.WriteEvent(level, []byte(line))
	if err != nil || n != len(line) {
		if m.refused == nil {
			m.refused = make(map[int]bool)
		}
		m.refused[m.emitted] = true
	}
	m.emitted++
}

// end closes the queue and reads the output.
func (m *model) end(p program) error {
	if p.mends {
		m.w.mend()
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	closed := m.q.Close(ctx)
	s, output := m.q.Stats(), m.w.output()
	m.w.mend() // a blocked write may end
	synctest.Wait()
	if later := m.q.Stats(); !reflect.DeepEqual(later, s) {
		return fmt.Errorf("after Close, Stats went from %+v to %+v", s, later)
	}
	m.emit(log.LevelError)
	s = m.q.Stats()
	switch {
	case p.mends && closed != nil:
		return fmt.Errorf("Close: %w", closed)
	case s.Waiting != 0 || s.WaitingBytes != 0:
		return fmt.Errorf("%d events wait in a queue that is closed", s.Waiting)
	case !m.refused[m.emitted-1]:
		return errors.New("a closed queue took a line")
	}
	if err := identity(s); err != nil {
		return err
	}
	return m.check(s, output)
}

// check checks the output as a consumer reads it.
func (m *model) check(s sink.Stats, output string) error {
	var whole, own uint64
	last := -1
	for piece := range strings.SplitSeq(output, "\n") {
		switch {
		case piece == "":
		case strings.Count(piece, "<")+strings.Count(piece, "{\"created_at\"") > 1:
			return fmt.Errorf("glued together: %q", piece)
		case piece[0] == '<' && strings.HasSuffix(piece, ">"):
			number, _, _ := strings.Cut(piece[1:], " ")
			n, err := strconv.Atoi(number)
			if err != nil || n <= last || m.refused[n] {
				return fmt.Errorf("line %q after line %d, refused: %t", piece, last, m.refused[n])
			}
			last = n
			whole++
		case piece[0] == '{' && json.Valid([]byte(piece)):
			if err := m.checkTotals(piece, whole); err != nil {
				return err
			}
			whole++
			own++
		}
	}
	if whole != s.Written {
		return fmt.Errorf("%d whole lines, Stats say %d", whole, s.Written)
	}
	if emitted := uint64(m.emitted); s.Emitted < emitted+own {
		return fmt.Errorf("emitted %d, want %d and %d of its own at least", s.Emitted, emitted, own)
	}
	return nil
}

// checkTotals compares an event "log totals" with the lines before it.
func (m *model) checkTotals(line string, before uint64) error {
	var e struct {
		Event string
		Data  struct{ Emitted, Written, Dropped, Waiting uint64 }
	}
	if err := json.Unmarshal([]byte(line), &e); err != nil {
		return err
	}
	d := e.Data
	if e.Event == "log totals" && (d.Written != before || d.Emitted != d.Written+d.Dropped+d.Waiting) {
		return fmt.Errorf("%d lines before %s", before, line)
	}
	return nil
}

// A faulty writer fails as it is told, and then takes everything.
type faulty struct {
	mu    sync.Mutex
	steps []step
	gate  chan struct{} // closed unless the writer blocks
	files []*strings.Builder
	next  bool // whether to begin a new file
}

var errPanic = errors.New("panic")

func newFaulty() *faulty {
	w := &faulty{gate: make(chan struct{}), files: []*strings.Builder{new(strings.Builder)}}
	close(w.gate)
	return w
}

func (w *faulty) Write(p []byte) (int, error) {
	<-w.door()
	w.mu.Lock()
	defer w.mu.Unlock()
	file := w.files[len(w.files)-1]
	if w.next && strings.HasSuffix(file.String(), "\n") { // between lines, as a file does
		w.files, w.next = append(w.files, new(strings.Builder)), false
		file = w.files[len(w.files)-1]
	}
	if len(w.steps) == 0 {
		return file.Write(p)
	}
	now := w.steps[0]
	w.steps = w.steps[1:]
	n := min(now.take, len(p))
	file.Write(p[:n])
	switch {
	case now.err == errPanic:
		panic(errPanic)
	case now.err == nil && n == 0:
		return 0, io.ErrShortWrite
	}
	return n, now.err
}

func (w *faulty) door() chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.gate
}

func (w *faulty) fail(s step) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.steps = append(w.steps, s)
}

func (w *faulty) stall() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if isClosed(w.gate) {
		w.gate = make(chan struct{})
	}
}

func (w *faulty) goOn() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !isClosed(w.gate) {
		close(w.gate)
	}
}

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func (w *faulty) rotate() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.next = true
}

func (w *faulty) mend() {
	w.goOn()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.steps = nil
}

// output returns the content of the files, one after the other.
func (w *faulty) output() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all strings.Builder
	for _, file := range w.files {
		all.WriteString(file.String())
	}
	return all.String()
}
