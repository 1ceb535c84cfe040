// Package logto writes the events of a front door to the destinations of log.to: standard streams, files and servers.
// It has the keys of log.* that are about the destinations, such as to, format and queue, with their mistakes; package
// config has those about the events.
package logto

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/weirhq/weir/front/internal/logcost"
	"github.com/weirhq/weir/internal/abandon"
	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/sink"
	"github.com/weirhq/weir/log/stream"
)

// An Output is the destination of a front door's events: a [Log], or a sink of
// package sink.
type Output interface {
	io.Writer
	Stats() sink.Stats
}

// A Log writes the events of a front door to each destination of a [Config].
// Each destination has its own queue, so that a stalled one does not delay the
// others, unless queue.when_full is block. Make a Log with [Open]. Goroutines
// may share it.
//
// A reload of the front door changes the Log. A destination that stays keeps its queue, its file and
// its counts.
//
// If the reader of standard output is gone, the Log writes to standard error
// instead.
type Log struct {
	o          Options
	cost       logcost.Cost
	fileErrors atomic.Uint64
	current    atomic.Pointer[destinations]

	closings sync.WaitGroup  // goroutines that close destinations or change files
	giveUp   context.Context // ends when destinations that a reload has removed must not wait any longer
	endWait  context.CancelFunc

	mu      sync.Mutex     // guards the fields below
	removed []*destination // by reloads
}

// destinations are the destinations that events go to.
type destinations struct {
	list       []*destination
	queueBytes int             // maximum size of each queue
	events     log.EventWriter // the queue, or a tee to several
}

// A destination is a standard stream, a file or a server of a Log, with its queue.
type destination struct {
	name     string // without secrets
	queue    *sink.Queue
	file     *sink.File     // nil without a file
	server   *stream.Sink   // owns the queue; nil without a server
	url      string         // of the server, as in Config.To
	fallback *sink.Fallback // for standard output that standard error may replace; else nil
	earlier  *Destination   // the counts of an earlier destination with this name; nil for none
	ended    *Destination   // the last counts of a destination that was removed and closed; else nil

	changing sync.Mutex                       // held during a change of the file
	wanted   atomic.Pointer[sink.FileOptions] // the newest options of the file
}

// Options are the parts of a [Log] that do not come from its configuration.
type Options struct {
	// Stdout and Stderr are the streams of these names. The caller closes them.
	Stdout, Stderr *os.File

	// Complain is called with errors of files that do not lose an event: a file could not
	// be reopened, rotated or synced to disk, or events that another process has left on a
	// disk could not be read. It may be nil, is called concurrently, and
	// must not log.
	Complain func(error)

	// Servers has a function for each scheme of the URLs in Config.To. The function
	// does not wait for the server, and its errors contain no secrets of the URL. The Log
	// closes the Destination.
	Servers map[string]func(url string) (stream.Destination, error)

	// Quiet is for lines that are no events, such as spans: the queues write no events of their own.
	Quiet bool

	// Key is the key of the destinations, for errors. Empty means log.to.
	Key string
}

func (l *Log) queueOptions(cfg Config) (o sink.QueueOptions, err error) {
	o = sink.QueueOptions{
		Quiet:     l.o.Quiet,
		Bytes:     cfg.Queue.Size,
		Wait:      cfg.Queue.Wait,
		Linger:    cfg.Queue.Linger,
		Heartbeat: cfg.Heartbeat,
	}
	if o.WhenFull, err = sink.ParsePolicy(cfg.Queue.WhenFull); err != nil {
		return o, fmt.Errorf("log.queue.when_full: %w", err)
	}
	return o, nil
}

// openWriter opens a file or a standard stream.
func (l *Log) openWriter(d *destination, cfg Config) (w io.Writer, err error) {
	switch {
	case d.name == ToStderr:
		return sink.Std(l.o.Stderr), nil
	case d.name != ToStdout:
		d.file, err = sink.OpenFile(d.name, *d.wanted.Load())
		return d.file, err
	case slices.Contains(cfg.To, ToStderr):
		return sink.Std(l.o.Stdout), nil
	}
	d.fallback = sink.NewFallback(sink.Std(l.o.Stdout), sink.Std(l.o.Stderr))
	return d.fallback, nil
}

// checkDistinct checks that none of the other destinations is the same file under
// another name. Both would rotate it.
func (d *destination) checkDistinct(others []*destination) error {
	if d.file == nil {
		return nil
	}
	own, err := os.Stat(d.name)
	if err != nil {
		return err
	}
	for _, other := range others {
		if other.file != nil && isNameOf(other.name, own) {
			return fmt.Errorf("%s is the same file as %s", d.name, other.name)
		}
	}
	return nil
}

// fileOptions returns the options of one of the log's files.
func (l *Log) fileOptions(path string, cfg Config) *sink.FileOptions {
	return &sink.FileOptions{
		MaxBytes: cfg.Rotate.Size,
		Daily:    cfg.Rotate.Daily,
		Keep:     cfg.Rotate.Keep,
		Gzip:     cfg.Rotate.Gzip,
		Fsync:    cfg.Fsync,
		Mode:     0o644,
		OnError: func(err error) {
			l.fileErrors.Add(1)
			if l.o.Complain != nil {
				l.o.Complain(fmt.Errorf("%s: %w", path, err))
			}
		},
	}
}

// WriteEvent adds a line to the queue of every destination. It implements
// log.EventWriter.
func (l *Log) WriteEvent(level log.Level, line []byte) (int, error) {
	return l.current.Load().events.WriteEvent(level, line)
}

// Write is WriteEvent at log.LevelInfo.
func (l *Log) Write(line []byte) (int, error) { return l.WriteEvent(log.LevelInfo, line) }

// UseOptions sets the options of the events that the queues write themselves;
// log.New calls it.
func (l *Log) UseOptions(o log.Options) { l.current.Load().UseOptions(o) }

func (ds *destinations) UseOptions(o log.Options) {
	for _, d := range ds.list {
		d.queue.UseOptions(o)
	}
}

// Unwrap returns the writer of the destination, or nil if there is not exactly one. Callers
// use it to find out the type of the writer.
func (l *Log) Unwrap() io.Writer { return l.current.Load().Unwrap() }

func (ds *destinations) Unwrap() io.Writer {
	if len(ds.list) != 1 {
		return nil
	}
	return ds.list[0].queue.Unwrap()
}

// FileErrors returns how often a file could not be reopened, rotated or synced to disk.
func (l *Log) FileErrors() uint64 { return l.fileErrors.Load() }

// Stats returns the sums of all destinations. An event counts once for each.
func (l *Log) Stats() sink.Stats {
	var sum sink.Stats
	for _, d := range l.Destinations() {
		sum = addStats(sum, d.Stats)
	}
	return sum
}

// addStats returns the sum of the counts of two sinks. It does not modify them.
func addStats(a, b sink.Stats) sink.Stats {
	a.Emitted += b.Emitted
	a.Recovered += b.Recovered
	a.Written += b.Written
	a.Waiting += b.Waiting
	a.WaitingBytes += b.WaitingBytes
	a.Bytes += b.Bytes
	a.HighWaterBytes += b.HighWaterBytes
	a.LongestWrite = max(a.LongestWrite, b.LongestWrite)
	if b.LastError != nil {
		a.LastError = b.LastError
	}
	a.Dropped = slices.Clone(a.Dropped)
	for _, loss := range b.Dropped {
		same := func(l sink.Loss) bool { return l.Level == loss.Level && l.Reason == loss.Reason }
		if i := slices.IndexFunc(a.Dropped, same); i >= 0 {
			a.Dropped[i].Events += loss.Events
		} else {
			a.Dropped = append(a.Dropped, loss)
		}
	}
	return a
}

// A Destination is the state of one destination of a [Log].
type Destination struct {
	To       string     // name, without secrets
	Stats    sink.Stats // of its queue
	OnDisk   Spilled    // of Stats.Waiting, those on a disk
	Diverted uint64     // events written to standard error because the reader of standard output is gone
}

// Spilled are the events for a server that wait on a disk.
type Spilled struct {
	Events uint64
	Bytes  int64 // of their files
}

// Destinations returns the state of every destination, in the order of the
// configuration, and of destinations that a reload has removed.
func (l *Log) Destinations() []Destination {
	l.mu.Lock()
	defer l.mu.Unlock()
	var states []Destination
	for _, d := range slices.Concat(l.current.Load().list, l.removed) {
		states = append(states, d.state())
	}
	return states
}

// state returns the counts of a destination. Log.mu is held.
func (d *destination) state() Destination {
	if d.ended != nil {
		return *d.ended
	}
	s := Destination{To: d.name, Stats: d.stats()}
	if d.server != nil {
		s.OnDisk.Events, s.OnDisk.Bytes = d.server.Spilled()
	}
	if d.fallback != nil {
		s.Diverted = d.fallback.Diverted()
	}
	if d.earlier != nil {
		s.Stats = addStats(s.Stats, d.earlier.Stats)
		s.Diverted += d.earlier.Diverted
	}
	return s
}

// Reopen reopens the files of the log, after they have been moved. If that fails
// for a file, events continue to go to the old one.
func (l *Log) Reopen() error {
	var errs []error
	for _, d := range l.current.Load().list {
		if d.file != nil {
			errs = append(errs, d.file.Reopen())
		}
	}
	return errors.Join(errs...)
}

// Flush waits until every earlier event is written or dropped. It returns an error
// if ctx ends first.
func (l *Log) Flush(ctx context.Context) error {
	return l.each(func(d *destination) error { return d.queue.Flush(ctx) })
}

// Close writes the waiting events and closes the files and connections. If ctx ends first, it drops
// the remaining events and returns an error with their number. A stalled
// destination does not delay the others. After Close, events are dropped.
func (l *Log) Close(ctx context.Context) error {
	stop := context.AfterFunc(ctx, l.endWait)
	defer stop()
	err := l.each(func(d *destination) error { return d.close(ctx) })
	abandon.Call(ctx, func() error { l.closings.Wait(); return nil }) // a disk that hangs can hold one up
	l.endWait()
	return err
}

// each calls do for all destinations concurrently and joins the errors.
func (l *Log) each(do func(*destination) error) error {
	list := l.current.Load().list
	errs := make([]error, len(list))
	var all sync.WaitGroup
	for i, d := range list {
		all.Go(func() { errs[i] = do(d) })
	}
	all.Wait()
	return errors.Join(errs...)
}

func (d *destination) stats() sink.Stats {
	if d.server != nil {
		return d.server.Stats()
	}
	return d.queue.Stats()
}

func (d *destination) close(ctx context.Context) error {
	if d.server != nil {
		if err := d.server.Close(ctx); err != nil {
			return fmt.Errorf("%s: %w", d.name, err)
		}
		return nil
	}
	if err := d.queue.Close(ctx); err != nil {
		return fmt.Errorf("%s: %w", d.name, err) // do not close the file: the writer may still use it
	}
	if d.file == nil {
		return nil
	}
	return d.file.Close()
}

// CostOf returns the cost of an output. A Log measures its own writes. For
// other outputs, writes are measured only if they happen within WriteEvent.
func CostOf(out Output) *logcost.Cost {
	if l, ok := out.(*Log); ok {
		return &l.cost
	}
	c := new(logcost.Cost)
	c.Start()
	return c
}
