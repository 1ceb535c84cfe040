package stream

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/internal/spool"
	"github.com/weirhq/weir/log/record"
	"github.com/weirhq/weir/log/sink"
)

// A forwarder delivers the lines of a store in a goroutine of its own.
type forwarder struct {
	courier *courier
	store   *spool.Store
	queue   *sink.Queue // writes to the store
	onError func(error)
	batch   atomic.Int64 // bytes
	linger  atomic.Int64 // a time.Duration

	closing chan struct{} // closed when no more lines come
	done    chan struct{} // closed when the goroutine has ended

	closeOnce sync.Once
	closed    chan struct{} // closed when the store is closed
	closeErr  error         // of the store; valid when closed is closed

	// Used only by the goroutine.
	delays  delays
	hurried bool      // close has ended a wait
	adopted time.Time // when the folder was last searched

	mu        sync.Mutex // guards the fields below
	delivered uint64     // lines
	bytes     uint64     // of these lines
}

var (
	errDamaged = errors.New("the data on the disk was damaged or removed")
	errExpired = errors.New("events have reached the maximum age")
)

// newForwarder opens the folder. Set queue before start.
func newForwarder(c *courier, o Options) (*forwarder, error) {
	f := &forwarder{courier: c, onError: o.Spill.OnError, closing: make(chan struct{}), done: make(chan struct{}),
		closed: make(chan struct{})}
	f.setDelivery(o)
	var err error
	f.store, err = spool.Open(o.Spill.Folder, o.Spill.options(), f.lose)
	return f, err
}

// start begins with the lines that other processes have left.
func (f *forwarder) start() {
	f.adopt()
	go f.run()
}

func (f *forwarder) change(o Options) {
	f.setDelivery(o)
	f.store.Change(o.Spill.options())
}

// setDelivery sets the options of deliveries.
func (f *forwarder) setDelivery(o Options) {
	f.batch.Store(int64(cmp.Or(o.Batch, DefaultBatch)))
	f.linger.Store(int64(o.Linger))
}

// run delivers lines until close was called and all are delivered, or the courier ends.
func (f *forwarder) run() {
	defer close(f.done)
	for f.courier.ctx.Err() == nil {
		f.adoptIfDue()
		b, err := f.store.Next(int(f.batch.Load()), time.Now())
		switch {
		case err != nil:
			f.queue.Lose(err)
			f.wait(f.delays.after(err))
		case b.Count > 0:
			f.deliver(b)
		case !f.idle():
			return
		}
	}
}

// idlePause is the time between calls of Next without lines, which write the cursor.
const idlePause = time.Second

// idle waits for lines and then for Options.Linger, and reports whether more lines may come. While
// lines arrive faster than they are delivered, the forwarder is not idle.
func (f *forwarder) idle() bool {
	select {
	case <-f.store.Arrived(): // perhaps before close was called
		f.await()
		return true
	default:
	}
	timer := time.NewTimer(idlePause)
	defer timer.Stop()
	select {
	case <-f.store.Arrived():
		f.await()
	case <-timer.C:
	case <-f.courier.ctx.Done():
	case <-f.closing:
		return len(f.store.Arrived()) > 0
	}
	return true
}

// await waits for lines that are delivered with those that have arrived.
func (f *forwarder) await() {
	d := time.Duration(f.linger.Load())
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-f.closing:
	case <-f.courier.ctx.Done():
	}
}

// deliver delivers a batch, with retries, until it succeeds or the courier ends.
func (f *forwarder) deliver(b spool.Batch) {
	for b.Count > 0 {
		err := f.courier.deliver(Batch{Lines: b.Lines, Count: b.Count, Source: b.Source, First: b.First})
		var rejected *RejectedError
		if err == nil || errors.As(err, &rejected) {
			f.settle(b, rejected)
			return
		}
		f.queue.Lose(err)
		f.wait(f.delays.after(err))
		if f.courier.ctx.Err() != nil {
			return
		}
		if b, err = f.store.Again(b, int(f.batch.Load()), time.Now()); err != nil {
			f.queue.Lose(err)
			return
		}
	}
}

// settle counts the lines of a batch that the server has stored or rejected.
func (f *forwarder) settle(b spool.Batch, rejected *RejectedError) {
	f.delays.end()
	lost := 0
	if rejected != nil {
		lost = min(rejected.Lines, b.Count)
		f.queue.Lose(rejected, lossesOf(lastLines(b.Lines, lost), sink.Rejected)...)
	}
	f.count(b.Count-lost, len(b.Lines))
	f.store.Done(b, time.Now())
}

// count counts lines that are delivered.
func (f *forwarder) count(lines, bytes int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.delivered += uint64(lines)
	f.bytes += uint64(bytes)
}

// wait waits before the next attempt. A new destination and close end it early.
func (f *forwarder) wait(d time.Duration) {
	closing := f.closing
	if f.hurried {
		closing = nil
	}
	end := time.Now().Add(d)
	for left := d; left > 0; left = time.Until(end) {
		timer := time.NewTimer(min(left, adoptPause))
		select {
		case <-timer.C:
			f.adoptIfDue()
			continue
		case <-f.courier.changed:
		case <-closing:
			f.hurried = true
		case <-f.courier.ctx.Done():
		}
		timer.Stop()
		return
	}
}

// lose counts lines that the store has lost. Only the level of expired lines is known.
func (f *forwarder) lose(l spool.Loss) {
	if l.Expired {
		f.queue.Lose(errExpired, lossesOf(lastLines(l.Text, int(l.Lines)), sink.Expired)...)
		return
	}
	f.queue.Lose(errDamaged, sink.Loss{Level: log.LevelInfo, Reason: sink.Damaged, Events: l.Lines})
}

// lastLines returns the last n lines of a text.
func lastLines(text []byte, n int) []byte {
	for range countLines(text) - n {
		text = text[bytes.IndexByte(text, '\n')+1:]
	}
	return text
}

// lossesOf counts lines by their level. A line without a level counts as LevelInfo.
func lossesOf(lines []byte, reason sink.Reason) (losses []sink.Loss) {
	reader := record.NewReader("severity")
	for len(lines) > 0 {
		var line []byte
		line, lines, _ = bytes.Cut(lines, []byte("\n"))
		level := log.LevelInfo
		if r, err := reader.Parse(line); err == nil && r.Severity != record.SeverityNone {
			level = log.LevelInfo + log.Level(record.SeverityInfo-r.Severity)
		}
		i := slices.IndexFunc(losses, func(l sink.Loss) bool { return l.Level == level })
		if i < 0 {
			i = len(losses)
			losses = append(losses, sink.Loss{Level: level, Reason: reason})
		}
		losses[i].Events++
	}
	return losses
}

// adoptPause is the interval at which a forwarder looks for lines that other processes have
// left.
const adoptPause = 5 * time.Second

func (f *forwarder) adoptIfDue() {
	if time.Since(f.adopted) >= adoptPause {
		f.adopt()
	}
}

func (f *forwarder) adopt() {
	f.adopted = time.Now()
	recovered, err := f.store.Adopt()
	if err != nil && !errors.Is(err, fs.ErrNotExist) && f.onError != nil {
		f.onError(fmt.Errorf("the spill of an earlier process: %w", err))
	}
	if recovered > 0 {
		f.queue.AddRecovered(recovered)
	}
}

// stats returns the counts of the queue and the store. Lines are emitted before they are
// delivered, and are counted in the opposite order here, so that none is delivered twice.
func (f *forwarder) stats() sink.Stats {
	f.mu.Lock()
	delivered, bytes := f.delivered, f.bytes
	f.mu.Unlock()
	s := f.queue.Stats()
	s.Written, s.Bytes = delivered, bytes
	s.Waiting = s.Emitted - s.Lost() - delivered
	return s
}

// lastAccess is the time that the disk has to respond after close has given up.
const lastAccess = 250 * time.Millisecond

// close returns when all lines are delivered, or when the courier has ended. If ctx ends, it does
// not wait for a disk that does not respond.
func (f *forwarder) close(ctx context.Context) error {
	f.closeOnce.Do(func() {
		close(f.closing)
		go func() {
			defer close(f.closed)
			<-f.done
			f.closeErr = f.store.Close()
		}()
	})
	select {
	case <-f.closed:
		return f.closeErr
	case <-ctx.Done():
	}
	select {
	case <-f.closed:
		return f.closeErr
	case <-time.After(lastAccess):
		return fmt.Errorf("%w: the disk of the spill does not respond", ctx.Err())
	}
}
