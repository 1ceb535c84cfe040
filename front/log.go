package front

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/sink"
)

// An Output is the destination of a front door's events: a [Log], or a sink of
// package sink.
type Output interface {
	io.Writer
	Stats() sink.Stats
}

// A Log takes a door's events to each destination that a [config.Log] names,
// through a queue for each: one that stands still holds up no other, unless the
// configuration says that events wait. [OpenLog] makes it. Any number of
// goroutines may use it.
//
// Standard output whose reader has gone is replaced by standard error.
type Log struct {
	destinations []*destination
	queueBytes   int             // of each queue, at most
	events       log.EventWriter // the queue, or a tee before several
	cost         logCost
	fileErrors   atomic.Uint64
}

// A destination is one place where events go.
type destination struct {
	name     string // as in config.Log.To
	queue    *sink.Queue
	file     *sink.File     // nil for a stream
	fallback *sink.Fallback // for a stream that another stands in for; else nil
}

// OpenLog opens what cfg says about the log, with stdout and stderr as the
// streams of these names, which stay the caller's to close. The function
// complain, unless it is nil, is told what goes wrong with a file without
// costing an event by itself: that it could not be opened anew, rotated, or
// brought to the disk. Many goroutines may call it, and it must not log. On an
// error nothing stays open.
func OpenLog(cfg *config.Config, stdout, stderr *os.File, complain func(error)) (*Log, error) {
	options, err := queueOptions(cfg)
	if err != nil {
		return nil, err
	}
	l := &Log{queueBytes: options.Bytes}
	l.cost.start()
	for _, name := range cfg.Log.To {
		d := &destination{name: name}
		w, err := l.open(d, cfg.Log, stdout, stderr, complain)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("log.to: %w", err), l.Close(context.Background()))
		}
		d.queue = sink.NewQueue(newCostWriter(w, &l.cost), options)
		l.destinations = append(l.destinations, d)
		if err := l.checkDistinct(d); err != nil {
			return nil, errors.Join(fmt.Errorf("log.to: %w", err), l.Close(context.Background()))
		}
	}
	l.events = l.destinations[0].queue
	if len(l.destinations) > 1 {
		queues := make([]log.EventWriter, len(l.destinations))
		for i, d := range l.destinations {
			queues[i] = d.queue
		}
		l.events = sink.NewTee(queues...)
	}
	return l, nil
}

func queueOptions(cfg *config.Config) (o sink.QueueOptions, err error) {
	o = sink.QueueOptions{
		Bytes:     cfg.Log.Queue.Size,
		Wait:      cfg.Log.Queue.Wait,
		Linger:    cfg.Log.Queue.Linger,
		Heartbeat: cfg.Log.Heartbeat,
	}
	if o.WhenFull, err = sink.ParsePolicy(cfg.Log.Queue.WhenFull); err != nil {
		return o, fmt.Errorf("log.queue.when_full: %w", err)
	}
	return o, nil
}

// open opens a destination, and returns what its queue writes to.
func (l *Log) open(d *destination, cfg config.Log, stdout, stderr *os.File, complain func(error)) (w io.Writer, err error) {
	switch {
	case d.name == config.LogToStderr:
		return sink.Std(stderr), nil
	case d.name != config.LogToStdout:
		d.file, err = l.openFile(d.name, cfg, complain)
		return d.file, err
	case slices.Contains(cfg.To, config.LogToStderr):
		return sink.Std(stdout), nil
	}
	d.fallback = sink.NewFallback(sink.Std(stdout), sink.Std(stderr))
	return d.fallback, nil
}

// checkDistinct checks that a file is not another destination's under another
// name: each would rotate it under the other.
func (l *Log) checkDistinct(d *destination) error {
	if d.file == nil {
		return nil
	}
	own, err := os.Stat(d.name)
	if err != nil {
		return err
	}
	for _, other := range l.destinations {
		if other.file == nil || other == d {
			continue
		}
		if info, err := os.Stat(other.name); err == nil && os.SameFile(own, info) {
			return fmt.Errorf("%s is the same file as %s", d.name, other.name)
		}
	}
	return nil
}

// openFile opens one of the log's files.
func (l *Log) openFile(path string, cfg config.Log, complain func(error)) (*sink.File, error) {
	return sink.OpenFile(path, sink.FileOptions{
		MaxBytes: cfg.Rotate.Size,
		Daily:    cfg.Rotate.Daily,
		Keep:     cfg.Rotate.Keep,
		Gzip:     cfg.Rotate.Gzip,
		Fsync:    cfg.Fsync,
		Mode:     0o644,
		OnError: func(err error) {
			l.fileErrors.Add(1)
			if complain != nil {
				complain(fmt.Errorf("%s: %w", path, err))
			}
		},
	})
}

// WriteEvent hands a line to every destination's queue. It implements
// log.EventWriter.
func (l *Log) WriteEvent(level log.Level, line []byte) (int, error) {
	return l.events.WriteEvent(level, line)
}

// Write is WriteEvent at log.LevelInfo.
func (l *Log) Write(line []byte) (int, error) { return l.WriteEvent(log.LevelInfo, line) }

// UseOptions sets the options of the events that the queues write themselves;
// log.New calls it.
func (l *Log) UseOptions(o log.Options) {
	for _, d := range l.destinations {
		d.queue.UseOptions(o)
	}
}

// Unwrap returns the writer of the only destination, nil when there are
// several, for who asks what kind it is.
func (l *Log) Unwrap() io.Writer {
	if len(l.destinations) > 1 {
		return nil
	}
	return l.destinations[0].queue.Unwrap()
}

// Stats returns the counts of all destinations together: an event counts once
// for each.
func (l *Log) Stats() sink.Stats {
	var sum sink.Stats
	for _, d := range l.destinations {
		sum = addStats(sum, d.queue.Stats())
	}
	return sum
}

// addStats returns the sum of two sinks' counts, of which neither is changed.
func addStats(a, b sink.Stats) sink.Stats {
	a.Emitted += b.Emitted
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

// A LogDestination is the state of one of a Log's destinations.
type LogDestination struct {
	To       string     // as in config.Log.To
	Stats    sink.Stats // of its queue
	Diverted uint64     // events of it that standard error has, since the reader of standard output has gone
}

// Destinations returns the state of every destination, in the configuration's
// order.
func (l *Log) Destinations() []LogDestination {
	states := make([]LogDestination, len(l.destinations))
	for i, d := range l.destinations {
		states[i] = LogDestination{To: d.name, Stats: d.queue.Stats()}
		if d.fallback != nil {
			states[i].Diverted = d.fallback.Diverted()
		}
	}
	return states
}

// Reopen opens the log's files anew, which may have been moved away. Where that
// fails, the events go on to the file of before.
func (l *Log) Reopen() error {
	var errs []error
	for _, d := range l.destinations {
		if d.file != nil {
			errs = append(errs, d.file.Reopen())
		}
	}
	return errors.Join(errs...)
}

// Flush returns when every event of before is written or dropped, or with an
// error when ctx is done.
func (l *Log) Flush(ctx context.Context) error {
	return l.each(func(d *destination) error { return d.queue.Flush(ctx) })
}

// Close writes what waits and closes the files. When ctx is done first it gives
// up, drops what is left, and says how much that was. A destination that stands
// still takes no time from the others. Nothing is logged afterwards.
func (l *Log) Close(ctx context.Context) error {
	return l.each(func(d *destination) error { return d.close(ctx) })
}

// each does something with all destinations at the same time.
func (l *Log) each(do func(*destination) error) error {
	errs := make([]error, len(l.destinations))
	var all sync.WaitGroup
	for i, d := range l.destinations {
		all.Go(func() { errs[i] = do(d) })
	}
	all.Wait()
	return errors.Join(errs...)
}

func (d *destination) close(ctx context.Context) error {
	if err := d.queue.Close(ctx); err != nil {
		return fmt.Errorf("%s: %w", d.name, err) // its writer may never return, and holds the file
	}
	if d.file == nil {
		return nil
	}
	return d.file.Close()
}

// costOf returns the logCost of a door's output. A Log measures its own writes. For
// other outputs, writes are measured only if they happen within WriteEvent.
func costOf(out Output) *logCost {
	if l, ok := out.(*Log); ok {
		return &l.cost
	}
	c := new(logCost)
	c.start()
	return c
}
