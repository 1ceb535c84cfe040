package logto

import (
	"context"
	"fmt"
	"hash/crc32"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"github.com/weirhq/weir/front/internal/logcost"
	"github.com/weirhq/weir/front/internal/serverurl"
	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/sink"
	"github.com/weirhq/weir/log/stream"
)

// checkFormat checks that the servers of a log can parse its format.
func checkFormat(cfg Config) error {
	for _, to := range cfg.To {
		if isServer(to) && !isServerFormat(cfg.Format) {
			return fmt.Errorf("log.format: %s cannot parse the format %s; it needs json", serverurl.Name(to), cfg.Format)
		}
	}
	return nil
}

// openServer makes the queue of a destination that is a server.
func (l *Log) openServer(d *destination, cfg Config, o sink.QueueOptions) error {
	to, err := l.connect(d.url)
	if err != nil {
		return err
	}
	if d.server, err = stream.New(to, l.serverOptions(d.name, cfg, o)); err != nil {
		to.Close()
		return fmt.Errorf("%s: %w", d.name, err)
	}
	d.queue = d.server.Queue
	return nil
}

// serverOptions returns the options of a server with a name.
func (l *Log) serverOptions(name string, cfg Config, o sink.QueueOptions) stream.Options {
	spill := stream.Spill{Bytes: cfg.Spill.Size, Age: cfg.Spill.Age}
	if cfg.Spill.Folder != "" {
		spill.Folder = filepath.Join(cfg.Spill.Folder, spillFolder(name))
	}
	if l.o.Complain != nil {
		spill.OnError = func(err error) { l.o.Complain(fmt.Errorf("%s: %w", name, err)) }
	}
	return stream.Options{Queue: o, Batch: serverBatch(name), Linger: serverLinger(o.Linger), Spill: spill}
}

// serverBatch returns the size of the batches for a server with that name. Batches for OTLP are
// larger than the default, because they are compressed. An uncompressed one is smaller than 1 MiB, the
// default limit of some proxies.
func serverBatch(name string) int {
	if strings.HasPrefix(serverurl.Scheme(name), "otlp+") {
		return 768 << 10
	}
	return stream.DefaultBatch
}

// serverLinger returns the time that an event for a server waits for others, if one for a file
// waits for d. A delivery costs twenty to forty times as much as a write.
func serverLinger(d time.Duration) time.Duration {
	const longest = time.Second
	if d >= longest {
		return d
	}
	return min(20*d, longest)
}

// change changes the options of a destination in use.
func (d *destination) change(o stream.Options, own log.Options) {
	if d.server != nil {
		d.server.Change(o, own)
	} else {
		d.queue.Change(o.Queue, own)
	}
}

// spillFolder returns the name of the folder for the events of a server: its own name for people,
// and a checksum of it.
func spillFolder(name string) string {
	readable := strings.Map(func(c rune) rune {
		if c < 0x80 && (unicode.IsLetter(c) || unicode.IsDigit(c) || c == '.') {
			return c
		}
		return '-'
	}, name)
	const longest = 100 // the name of a file has at most 255 bytes
	return fmt.Sprintf("%.*s-%08x", longest, readable, crc32.ChecksumIEEE([]byte(name)))
}

// connect returns the client for the URL of a server.
func (l *Log) connect(url string) (stream.Destination, error) {
	open := l.o.Servers[serverurl.Scheme(url)]
	if open == nil {
		return nil, fmt.Errorf("%s: this program has no client for %s", serverurl.Name(url), serverurl.Scheme(url))
	}
	to, err := open(url)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", serverurl.Name(url), err)
	}
	return costDestination{to, logcost.NewSampler(&l.cost)}, nil
}

// withoutDisk returns the counts without the events on the disk. The next server with this name
// recovers and counts them.
func (d Destination) withoutDisk() *Destination {
	d.Stats.Emitted -= d.OnDisk.Events
	d.Stats.Waiting -= d.OnDisk.Events
	d.OnDisk = Spilled{}
	return &d
}

// A movedServer is a server that stays, with another user, password or query in its URL.
type movedServer struct {
	*destination
	url  string
	next stream.Destination
}

// move prepares the change of a server's URL.
func (c *Change) move(d *destination, url string) error {
	next, err := c.log.connect(url)
	if err != nil {
		return err
	}
	c.moved = append(c.moved, movedServer{d, url, next})
	return nil
}

// useServer delivers the events of a server with another client from now on, those that wait
// included. A delivery in progress delays the change.
func (l *Log) useServer(m movedServer) {
	m.destination.url = m.url
	l.closings.Go(func() {
		if err := m.server.Use(m.next); err != nil && l.o.Complain != nil {
			l.o.Complain(fmt.Errorf("%s: %w", m.name, err))
		}
	})
}

// A costDestination measures the deliveries of one goroutine at a time.
type costDestination struct {
	stream.Destination
	sampler *logcost.Sampler
}

// Deliver implements stream.Destination.
func (d costDestination) Deliver(ctx context.Context, b stream.Batch) error {
	defer d.sampler.Begin().EndWrite() // a client may panic
	return d.Destination.Deliver(ctx, b)
}
