// Package traceto delivers the spans of a front door to the server of traces.to, over a log of package logto whose lines
// are spans. It reports failures as events, and counts the spans.
package traceto

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/weirhq/weir/front/internal/eventpace"
	"github.com/weirhq/weir/front/logto"
	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/stream"
)

// Config returns the configuration of the spans for a server. "" is none: then spans are ignored.
func Config(url string) logto.Config {
	c := logto.Default()
	c.To, c.Heartbeat = nil, 0
	if url != "" {
		c.To = []string{url}
	}
	c.Queue.WhenFull = "drop" // all spans are alike
	return c
}

// Open opens the spans for a server. open returns the client for its URL; nil stands for none. logger gets the events
// about failures.
func Open(url string, open func(url string) (stream.Destination, error), logger func() *log.Logger) (*logto.Log, error) {
	var out atomic.Pointer[logto.Log]
	servers := map[string]func(string) (stream.Destination, error){}
	if open != nil {
		client := func(url string) (stream.Destination, error) {
			to, err := open(url)
			if err != nil {
				return nil, err
			}
			return &reported{Destination: to, out: &out, log: logger}, nil
		}
		servers["otlp+http"], servers["otlp+https"] = client, client
	}
	l, err := logto.Open(Config(url), logto.Options{Servers: servers, Quiet: true, Key: "traces.to"})
	out.Store(l)
	return l, err
}

// The events about the delivery.
const (
	eventFailed    = "trace export failed"
	eventRecovered = "trace export recovered"
)

// A reported is a client of a server; its failures are events. One goroutine at a time uses it.
type reported struct {
	stream.Destination
	out *atomic.Pointer[logto.Log] // that delivers with it; nil until it is open
	log func() *log.Logger

	failing bool
	lost    uint64 // spans, at the last delivery
	pace    eventpace.Pace
}

// Deliver implements stream.Destination.
func (r *reported) Deliver(ctx context.Context, b stream.Batch) error {
	err := r.Destination.Deliver(ctx, b)
	if ctx.Err() != nil {
		return err // it was interrupted, as by a reload
	}
	lost := r.totalLost()
	var rejected *stream.RejectedError
	if errors.As(err, &rejected) {
		lost += uint64(rejected.Lines) // which are counted after the return
	}
	failed := err != nil || lost > r.lost
	if unlogged, ok := r.pace.Next(time.Now(), failed || r.failing); ok {
		e := r.log().Info(eventRecovered)
		if failed {
			e = r.log().Warn(eventFailed)
		}
		e.Uint64("lost", lost).Int("unlogged", unlogged).Err(err).Send()
	}
	r.failing, r.lost = failed, lost
	return err
}

// totalLost returns how many spans were lost so far.
func (r *reported) totalLost() uint64 {
	if l := r.out.Load(); l != nil {
		return l.Stats().Lost()
	}
	return 0
}

var _ stream.Destination = (*reported)(nil)
