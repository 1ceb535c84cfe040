package front

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/stage"
	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/proxy"
)

// A mirror sends copies of a share of the requests of a route to an upstream. It discards the
// responses, and the requests never wait for it. Goroutines may share it.
type mirror struct {
	all      *mirrors
	to       *stage.Upstream
	proxy    *proxy.Proxy // of the upstream, with the hook of copies
	metrics  *metrics
	share    uint64 // out of config.MirrorAll
	rotation rotation
	slots    slots
	counts   *mirrorCounts
}

// mirrors are the copies of all mirrors of a front door.
type mirrors struct {
	log     func() *log.Logger
	slots   slots
	running sync.WaitGroup
	ended   context.Context // when the copies in flight must end
	end     context.CancelFunc
}

// mirrorPart is the part of the connections to upstreams that copies may use, 1/mirrorPart, if
// a route has a mirror. The requests themselves are limited to the rest.
const mirrorPart = 8

// newMirrors returns the copies of a front door, of which at most max are in flight.
func newMirrors(l func() *log.Logger, max int) *mirrors {
	m := &mirrors{log: l, slots: slots{max: int64(max)}}
	m.ended, m.end = context.WithCancel(context.Background())
	return m
}

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

// newMirror returns the mirror of a route that has one.
func newMirror(
	label string, r config.Route, upstreams map[string]*stage.Upstream, all *mirrors, counts *metrics,
) (*mirror, error) {
	to, err := upstreamOf(upstreams, r.Mirror.To)
	if err != nil {
		return nil, err
	}
	m := &mirror{
		all: all, to: to, share: uint64(r.Mirror.Share), slots: slots{max: int64(r.Mirror.InFlight)},
		metrics: counts, counts: counts.mirror(label, to.Name),
	}
	m.proxy = &proxy.Proxy{Upstream: to.Proxy.Upstream, Trust: to.Proxy.Trust, Hook: m.observe}
	m.rotation.start(rootOfTwo)
	return m, nil
}

// Apply implements [stage.Stage]. The request is offered to the mirror later, when it is complete
// and about to be sent.
func (m *mirror) Apply(x *stage.Exchange) (responded bool) {
	x.Mirror = m
	return false
}

// offer starts to send a copy of the request if the request is one of the mirror's share. It
// must be called by the hook of the exchange for the event [proxy.Sending].
func (m *mirror) Offer(x *stage.Exchange) {
	if m.rotation.next(config.MirrorAll) >= m.share {
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

func isUpgrade(f proxy.Field) bool { return httpsyntax.EqualFold(f.Name, "Upgrade") }

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
			m.all.log().Error("panic while mirroring a request").Err(newPanicError(value)).Send()
		}
	}()
	ctx, cancel := context.WithTimeout(m.all.ended, cmp.Or(c.Timeout, proxy.DefaultTimeout))
	defer cancel()
	release := proxy.CancelWith(ctx, &c.Exchange)
	m.proxy.Serve(&c.Exchange)
	release()
	m.count(c, errors.Is(ctx.Err(), context.DeadlineExceeded))
	c.reset()
	copies.Put(c)
}

// count counts a copy that was sent. late reports whether its time was over.
func (m *mirror) count(c *requestCopy, late bool) {
	m.metrics.retried(m.to.Name, &c.Exchange)
	if c.Waited > 0 {
		observeWait(c.Server, c.Waited)
	}
	failure, _ := c.Err.(*proxy.Error)
	switch {
	case failure == nil, errors.Is(failure, errDiscarded):
		m.counts.responses.WithLabelValues(statusClass(c.Status)).Inc()
		return
	case late && failure.Kind == proxy.ClientGone:
		m.counts.failures.WithLabelValues(string(proxy.Timeout)).Inc()
	case failure.ByUpstream():
		m.counts.failures.WithLabelValues(string(failure.Kind)).Inc()
	}
	m.counts.failed.Inc()
}

// observe is the hook of copies.
func (m *mirror) observe(c *proxy.Exchange, e proxy.Event) {
	if failure, ok := c.Err.(*proxy.Error); ok && e == proxy.PassedOver {
		m.counts.failures.WithLabelValues(string(failure.Kind)).Inc()
	}
	if e == proxy.Retrying {
		m.metrics.retrying(m.to.Name, c)
	}
}

// Explain implements stage.Explainer.
func (m *mirror) Explain(*stage.Exchange) (steps []string, ends bool) {
	return []string{fmt.Sprintf("sends copies of %.4g %% of the requests to the %s",
		float64(m.share)/config.MirrorAll*100,
		m.to.About)}, false
}
