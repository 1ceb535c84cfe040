package front

import (
	"context"
	"fmt"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/log/sink"
	"github.com/weirhq/weir/log/stream"
)

// checkFormat checks that the servers of a log can parse its format.
func checkFormat(cfg *config.Config) error {
	for _, to := range cfg.Log.To {
		if f := cfg.Log.Format; config.LogScheme(to) != "" && f != "json" && f != "auto" {
			return fmt.Errorf("log.format: %s cannot parse the format %s; it needs json", config.LogName(to), f)
		}
	}
	return nil
}

// openServer makes the queue of a destination that is a server.
func (l *Log) openServer(d *destination, o sink.QueueOptions) error {
	to, err := l.connect(d.url)
	if err != nil {
		return err
	}
	if d.server, err = stream.New(to, stream.Options{Queue: o}); err != nil {
		to.Close()
		return fmt.Errorf("%s: %w", d.name, err)
	}
	d.queue = d.server.Queue
	return nil
}

// connect returns the client for the URL of a server.
func (l *Log) connect(url string) (stream.Destination, error) {
	open := l.o.Servers[config.LogScheme(url)]
	if open == nil {
		return nil, fmt.Errorf("%s: this program has no client for %s", config.LogName(url), config.LogScheme(url))
	}
	to, err := open(url)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", config.LogName(url), err)
	}
	return costDestination{to, newCostSampler(&l.cost)}, nil
}

// A movedServer is a server that stays, with another user, password or query in its URL.
type movedServer struct {
	*destination
	url  string
	next stream.Destination
}

// move prepares the change of a server's URL.
func (c *logChange) move(d *destination, url string) error {
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
	sampler *costSampler
}

// Deliver implements stream.Destination.
func (d costDestination) Deliver(ctx context.Context, b stream.Batch) error {
	defer d.sampler.begin().endWrite() // a client may panic
	return d.Destination.Deliver(ctx, b)
}
