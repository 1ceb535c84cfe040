package logto

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/weirhq/weir/front/internal/logcost"
	"github.com/weirhq/weir/front/internal/serverurl"
	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/sink"
)

// A Change is a change of a Log to another configuration. A destination is identified
// by its name. Destinations that stay are changed in place.
type Change struct {
	log     *Log
	config  Config
	options sink.QueueOptions
	next    *destinations
	opened  []*destination // those of next that the log did not have
	moved   []movedServer
}

// Open opens the destinations of a configuration. After an error, no file and no
// connection is open.
func Open(cfg Config, o Options) (*Log, error) {
	l := &Log{o: o}
	l.giveUp, l.endWait = context.WithCancel(context.Background())
	l.cost.Start()
	c, err := l.Prepare(cfg)
	if err != nil {
		return nil, err
	}
	l.current.Store(c.next)
	return l, nil
}

// Prepare opens the destinations of a configuration that the log does not have. The
// caller then calls Apply or Abandon. After an error, no more files are open than
// before.
func (l *Log) Prepare(cfg Config) (_ *Change, err error) {
	c := &Change{log: l, config: cfg}
	if c.options, err = l.queueOptions(cfg); err != nil {
		return nil, err
	}
	if err := checkFormat(cfg); err != nil {
		return nil, err
	}
	c.next = &destinations{queueBytes: c.options.Bytes}
	defer func() {
		if err != nil {
			c.Abandon()
		}
	}()
	var before []*destination
	if ds := l.current.Load(); ds != nil {
		before = ds.list
	}
	for _, to := range cfg.To {
		d := named(before, serverurl.Name(to))
		switch {
		case d == nil:
			if d, err = c.open(to); err == nil {
				err = d.checkDistinct(c.next.list)
			}
		case d.url != "" && d.url != to:
			err = c.move(d, to)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", cmp.Or(l.o.Key, "log.to"), err)
		}
		c.next.list = append(c.next.list, d)
	}
	c.next.events = eventsTo(c.next.list)
	return c, nil
}

// open opens a destination that the log does not have.
func (c *Change) open(to string) (*destination, error) {
	l, name := c.log, serverurl.Name(to)
	d := &destination{name: name}
	if isServer(to) {
		d.url = to
	}
	l.mu.Lock()
	before := named(l.removed, name)
	if before != nil && before.ended != nil {
		d.earlier = before.ended.withoutDisk()
	}
	l.mu.Unlock()
	if before != nil && d.earlier == nil {
		return nil, fmt.Errorf("%s is still being closed; try again", name)
	}
	d.wanted.Store(l.fileOptions(name, c.config))
	if err := l.open(d, c.config, c.options); err != nil {
		return nil, err
	}
	c.opened = append(c.opened, d)
	return d, nil
}

// open opens a destination and makes its queue.
func (l *Log) open(d *destination, cfg Config, o sink.QueueOptions) (err error) {
	if d.url != "" {
		return l.openServer(d, cfg, o)
	}
	w, err := l.openWriter(d, cfg)
	if err != nil {
		return err
	}
	d.queue = sink.NewQueue(logcost.NewWriter(w, &l.cost), o)
	return nil
}

// Abandon closes the destinations that were opened for nothing. It does not wait for a server: the events that an
// earlier server of that name has left on a disk stay there.
func (c *Change) Abandon() {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for _, d := range c.opened {
		d.close(ended) // nothing was written
	}
	for _, m := range c.moved {
		m.next.Close()
	}
}

// Apply makes the change. The options apply to the events that queues write themselves.
// An event that another goroutine writes meanwhile goes to the destinations before or
// after the change.
func (c *Change) Apply(own log.Options) {
	l := c.log
	for _, d := range c.next.list {
		d.change(l.serverOptions(d.name, c.config, c.options), own)
		if d.file != nil && !slices.Contains(c.opened, d) {
			l.changeFile(d, c.config)
		}
	}
	for _, m := range c.moved {
		l.useServer(m)
	}
	before := l.swap(c)
	// An event that has found the removed destinations goes to the new ones once.
	next := eventsTo(c.opened)
	for _, d := range before.list {
		if !slices.Contains(c.next.list, d) {
			d.queue.Redirect(next)
			next = ignored{}
			l.closings.Go(func() { l.closeRemoved(d) })
		}
	}
}

// swap replaces the destinations and returns those before.
func (l *Log) swap(c *Change) (before *destinations) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before = l.current.Swap(c.next)
	l.removed = slices.DeleteFunc(l.removed, func(d *destination) bool { return named(c.opened, d.name) != nil })
	for _, d := range before.list {
		if !slices.Contains(c.next.list, d) {
			l.removed = append(l.removed, d)
		}
	}
	return before
}

// spillGrace is the time to deliver the events of a removed server that are on a disk.
const spillGrace = time.Second

// closeRemoved writes the waiting events of a removed destination, closes it, and keeps
// only its counts. It waits for a stalled one until the log is closed, but not for a server whose
// events are on a disk: they stay there, and another reload can add the server again.
func (l *Log) closeRemoved(d *destination) {
	ctx, cancel := context.WithCancel(l.giveUp)
	defer cancel()
	if d.server != nil && d.queue.Flush(ctx) == nil {
		if events, _ := d.server.Spilled(); events > 0 {
			defer time.AfterFunc(spillGrace, cancel).Stop()
		}
	}
	if err := d.close(ctx); err != nil && l.o.Complain != nil {
		l.o.Complain(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	state := d.state()
	l.removed[slices.Index(l.removed, d)] = &destination{name: d.name, ended: &state}
}

// changeFile changes the options of a file if they differ. A write in progress, which may
// have stalled, delays the change.
func (l *Log) changeFile(d *destination, cfg Config) {
	before, now := d.wanted.Load(), l.fileOptions(d.name, cfg)
	if before.MaxBytes == now.MaxBytes && before.Daily == now.Daily && before.Keep == now.Keep &&
		before.Gzip == now.Gzip && before.Fsync == now.Fsync {
		return
	}
	d.wanted.Store(now)
	l.closings.Go(func() {
		d.changing.Lock()
		defer d.changing.Unlock()
		d.file.Change(*d.wanted.Load()) // fails only for a file that is closed
	})
}

// named returns the destination with a name, or nil.
func named(list []*destination, name string) *destination {
	if i := slices.IndexFunc(list, func(d *destination) bool { return d.name == name }); i >= 0 {
		return list[i]
	}
	return nil
}

// eventsTo returns the writer of events to the queues of a list.
func eventsTo(list []*destination) log.EventWriter {
	switch len(list) {
	case 0:
		return ignored{}
	case 1:
		return list[0].queue
	}
	queues := make([]log.EventWriter, len(list))
	for i, d := range list {
		queues[i] = d.queue
	}
	return sink.NewTee(queues...)
}

// maxBytes returns the maximum size of all queues together.
func (ds *destinations) maxBytes() int { return len(ds.list) * ds.queueBytes }

// ignored takes the lines that other destinations have.
type ignored struct{}

func (ignored) WriteEvent(_ log.Level, line []byte) (int, error) { return len(line), nil }
func (ignored) Write(line []byte) (int, error)                   { return len(line), nil }

// Writer returns the writer of a logger that is made before the change is applied.
func (c *Change) Writer() io.Writer { return changedLog{c.log, c.next} }

// A changedLog is the Log of a logger that is made before the change is applied. The logger
// asks it about the destinations after the change.
type changedLog struct {
	*Log
	next *destinations
}

func (c changedLog) Unwrap() io.Writer        { return c.next.Unwrap() }
func (c changedLog) UseOptions(o log.Options) { c.next.UseOptions(o) }
