// Package mirror sends copies of the requests of a route to another upstream: the key mirror.
package mirror

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/weirhq/weir/front/internal/panicked"
	"github.com/weirhq/weir/front/internal/rotation"
	"github.com/weirhq/weir/front/stage"
	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/internal/proxying"
	"github.com/weirhq/weir/log"
)

// A mirror sends copies of a share of the requests of a route to an upstream. It discards the
// responses, and the requests never wait for it. Goroutines may share it.
type mirror struct {
	all      *Copies
	to       *stage.Upstream
	proxy    *proxying.Proxy // of the upstream, with the hook of copies
	share    uint64          // out of All
	rotation rotation.Rotation
	slots    slots
	counts   *counts
}

// Copies are the copies of all mirrors of a front door.
type Copies struct {
	log     func() *log.Logger
	metrics *metrics
	slots   slots
	running sync.WaitGroup
	ended   context.Context // when the copies in flight must end
	end     context.CancelFunc
}

// part is the part of the connections to upstreams that copies may use, 1/part, if a route has a
// mirror. The requests themselves are limited to the rest.
const part = 8

// NewCopies returns the copies of a front door that may have a number of connections to upstreams.
func NewCopies(d *stage.Door, connections int) *Copies {
	c := &Copies{log: d.Log, metrics: newMetrics(d.Metrics), slots: slots{max: int64(max(1, connections/part))}}
	c.ended, c.end = context.WithCancel(context.Background())
	return c
}

// Max returns the maximum number of copies in flight.
func (c *Copies) Max() int { return int(c.slots.max) }

// InFlight returns the number of copies in flight.
func (c *Copies) InFlight() int { return int(c.slots.used.Load()) }

// End ends the copies in flight. Wait then waits for them.
func (c *Copies) End() { c.end() }

// Wait waits for the copies in flight.
func (c *Copies) Wait() { c.running.Wait() }

// slots limit the number of copies in flight.
type slots struct {
	max  int64
	used atomic.Int64
}

// take takes a slot and reports whether one was left.
func (s *slots) take() bool {
	if s.used.Add(1) <= s.max {
		return true
	}
	s.used.Add(-1)
	return false
}

func (s *slots) giveBack() { s.used.Add(-1) }

// Stage returns the stage of a route, or nil.
func (c *Copies) Stage(o *Config, r *stage.Route) (stage.Stage, error) {
	if o == nil {
		return nil, nil
	}
	to, err := r.Upstream(o.To)
	if err != nil {
		return nil, err
	}
	m := &mirror{
		all: c, to: to, share: uint64(o.Share), slots: slots{max: int64(o.InFlight)},
		counts: c.metrics.of(r.Label, to.Name),
	}
	m.proxy = &proxying.Proxy{Upstream: to.Proxy.Upstream, Trust: to.Proxy.Trust, Hook: m.observe}
	m.rotation.Start(rotation.RootOfTwo)
	return m, nil
}

// Apply implements [stage.Stage]. The request is offered to the mirror later, when it is complete
// and about to be sent.
func (m *mirror) Apply(x *stage.Exchange) (responded bool) {
	x.Mirror = m
	return false
}

// Offer starts to send a copy of the request if the request is one of the mirror's share. It
// must be called by the hook of the exchange for the event [proxying.Sending].
func (m *mirror) Offer(x *stage.Exchange) {
	if m.rotation.Next(All) >= m.share {
		return
	}
	m.counts.selected.Inc()
	body, whole := x.BufferedBody()
	switch {
	case slices.ContainsFunc(x.Header, isUpgrade):
		m.counts.upgrade.Inc()
	case !whole:
		m.counts.body.Inc()
	case !m.enter():
		m.counts.full.Inc()
	default:
		c := copies.Get().(*requestCopy)
		c.fill(x, body)
		m.all.running.Go(func() { m.send(c) })
	}
}

func isUpgrade(f stage.Field) bool { return httpsyntax.EqualFold(f.Name, "Upgrade") }

// enter takes the slots of a copy and reports whether there were any.
func (m *mirror) enter() bool {
	if !m.slots.take() {
		return false
	}
	if !m.all.slots.take() {
		m.slots.giveBack()
		return false
	}
	m.counts.inFlight.Inc()
	return true
}

func (m *mirror) leave() {
	m.counts.inFlight.Dec()
	m.all.slots.giveBack()
	m.slots.giveBack()
}

// send sends a copy, and counts the result.
func (m *mirror) send(c *requestCopy) {
	defer m.leave()
	defer func() {
		if value := recover(); value != nil {
			m.counts.failed.Inc()
			m.all.log().Error("panic while mirroring a request").Err(panicked.New(value)).Send()
		}
	}()
	ctx, cancel := context.WithTimeout(m.all.ended, cmp.Or(c.Timeout, proxying.DefaultTimeout))
	defer cancel()
	release := proxying.CancelWith(ctx, &c.Exchange)
	m.proxy.Serve(&c.Exchange)
	release()
	m.count(c, errors.Is(ctx.Err(), context.DeadlineExceeded))
	c.reset()
	copies.Put(c)
}

// count counts a copy that was sent. late reports whether its time was over.
func (m *mirror) count(c *requestCopy, late bool) {
	m.to.Counts.Retried(&c.Exchange)
	m.to.Counts.Waited(&c.Exchange)
	failure, _ := c.Err.(*proxying.Error)
	switch {
	case failure == nil, errors.Is(failure, errDiscarded):
		m.counts.responses.WithLabelValues(strconv.Itoa(c.Status/100) + "xx").Inc()
		return
	case late && failure.Kind == proxying.ClientGone:
		m.to.Counts.Failed(proxying.Timeout)
	case failure.ByUpstream():
		m.to.Counts.Failed(failure.Kind)
	}
	m.counts.failed.Inc()
}

// observe is the hook of copies. It does not count their waits.
func (m *mirror) observe(c *proxying.Exchange, e proxying.Event) {
	if e != proxying.Waiting {
		m.to.Counts.Observe(c, e)
	}
}

// Explain implements stage.Explainer.
func (m *mirror) Explain(*stage.Exchange) (steps []string, ends bool) {
	return []string{fmt.Sprintf("sends copies of %.4g %% of the requests to the %s",
		float64(m.share)/All*100,
		m.to.About)}, false
}
