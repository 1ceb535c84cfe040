package front

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/internal/takeover"
)

// Listen reads the certificates and binds all addresses of the configuration. On an error it binds none. On
// Linux it takes over the listeners of a draining process of the same user; see
// [Door.Serve].
func (d *Door) Listen() error {
	d.reloading.Lock()
	defer d.reloading.Unlock()
	t := d.tables.Load()
	d.logLimits(t)
	certificates, err := d.certs.prepare(t.config)
	if err != nil {
		return err
	}
	c, err := d.server.Prepare(addressesOf(t.config))
	if err != nil {
		certificates.abandon()
		return err
	}
	certificates.apply()
	c.Apply(t.config.Drain.Delay)
	d.server.CloseAdopted()
	return nil
}

// The events of a configured limit that open files or the memory do not allow.
const (
	eventLowered   = "limit lowered to what open files allow"
	eventMemoryLow = "limit above what the memory allows"
)

// logLimits logs the limits that open files or the memory do not allow. A configured limit has precedence over the
// memory, which slow clients need and others do not.
func (d *Door) logLimits(t *tables) {
	for _, l := range []struct {
		name            string
		wanted, allowed int
	}{
		{limitConnections, t.config.Limits.MaxConnections, t.files.Clients},
		{limitInFlight, t.config.Limits.InFlight, t.files.Upstreams},
	} {
		switch logger := t.events.log; {
		case l.wanted > l.allowed:
			logger.Warn(eventLowered).Str("limit", l.name).Int("wanted", l.wanted).Int("allowed", l.allowed).
				Int("open_files", t.files.Files).Send()
		case t.fitting > 0 && l.wanted > t.fitting:
			logger.Warn(eventMemoryLow).Str("limit", l.name).Int("wanted", l.wanted).Int("allowed", t.fitting).
				Int64("memory", d.memory).Send()
		}
	}
}

// Addrs returns the addresses of the public listeners, with their ports, in the order of
// the configuration.
func (d *Door) Addrs() []net.Addr {
	d.reloading.Lock()
	defer d.reloading.Unlock()
	return d.server.Addrs()
}

// URLs returns the addresses of the public listeners with their schemes, in the order of
// Addrs.
func (d *Door) URLs() []string {
	d.reloading.Lock()
	defer d.reloading.Unlock()
	return d.server.URLs()
}

// AdminAddr returns the address of the admin listener, or nil if there is none.
func (d *Door) AdminAddr() net.Addr {
	d.reloading.Lock()
	defer d.reloading.Unlock()
	return d.server.AdminAddr()
}

// Ready returns a channel that is closed when Serve accepts connections.
func (d *Door) Ready() <-chan struct{} { return d.server.Ready() }

// eventFailed is the event of a front door that stops because of an error.
const eventFailed = "front door failed"

// Serve serves until ctx is done, then drains. From then on, /readyz returns 503, every
// response asks its client to close the connection, and the next process can take over
// the listeners. After drain.delay, Serve stops accepting, closes idle connections,
// lets the requests in flight finish within drain.timeout, and cuts the rest. It
// returns nil if it has cut none. If a listener fails, Serve drains without a delay and
// returns the error.
func (d *Door) Serve(ctx context.Context) error {
	if err := d.start(); err != nil {
		return err
	}
	renewed, endRenewal := context.WithCancel(context.Background())
	var renewing sync.WaitGroup
	renewing.Go(func() { d.certs.run(renewed) })
	var err error
	delayed := true
	select {
	case <-ctx.Done():
	case err = <-d.server.Failed():
		d.logger().Fatal(eventFailed).Err(err).Send()
		delayed = false
	}
	err = errors.Join(err, d.drain(delayed))
	endRenewal()
	renewing.Wait()
	d.server.Close()
	d.stores.Stop()
	d.closeSpans()
	return err
}

// spansTimeout limits the time to deliver the spans that wait, after the last request.
const spansTimeout = time.Second

// closeSpans delivers the spans that wait, and logs how many are lost.
func (d *Door) closeSpans() {
	ctx, cancel := context.WithTimeout(context.Background(), spansTimeout)
	defer cancel()
	if err := d.spans.Close(ctx); err != nil {
		s := d.spans.Stats()
		d.logger().Warn("trace export ended early").Uint64("lost", s.Lost()).Uint64("emitted", s.Emitted).Err(err).Send()
	}
}

// start starts the engine, the listeners, and the rest that runs beside them.
func (d *Door) start() error {
	d.reloading.Lock()
	defer d.reloading.Unlock()
	if err := d.server.Start(hasLoops(d.tables.Load().config)); err != nil {
		return err
	}
	d.upstreams().Start()
	d.stores.Start()
	return nil
}

// drain serves for drain.delay if delayed, then waits for the requests in flight, and
// cuts them after drain.timeout. No reload can follow.
func (d *Door) drain(delayed bool) error {
	s := d.server
	d.reloading.Lock()
	d.draining.Store(true)
	public, admin := s.BeginDrain()
	limits := d.tables.Load().config.Drain
	d.reloading.Unlock()
	notOffered := func(err error) {
		d.logger().Warn("listener not offered to the next process").Err(err).Send()
	}
	withdrawPublic := takeover.OfferAll(public, notOffered)
	defer takeover.OfferAll(admin, notOffered)()
	if delayed {
		time.Sleep(limits.Delay)
	}
	ctx, cancel := context.WithTimeout(context.Background(), limits.Timeout)
	defer cancel()
	s.StopAccepting()
	withdrawPublic() // the next process offers the same addresses when it drains
	s.EndIdle(ctx)
	d.upstreams().Stop()
	err := s.Await(ctx, d.idle)
	left := d.metrics.inFlight.Load()
	d.cutting.Store(left > 0)
	s.Cut()
	d.features.mirror.End()
	end, cancelEnd := context.WithTimeout(context.Background(), drainCut)
	defer cancelEnd()
	if s.Await(end, d.idle) == nil {
		d.features.mirror.Wait()
		s.End() // goroutines that do not end, because the log is stalled, are left
	}
	d.upstreams().Close()
	s.CloseAdmin()
	if err != nil && left > 0 {
		noun := "requests were"
		if left == 1 {
			noun = "request was"
		}
		return fmt.Errorf("%d %s cut after %v", left, noun, limits.Timeout)
	}
	return nil
}

// idle reports whether no request and no copy of one is in flight.
func (d *Door) idle() bool {
	return d.metrics.inFlight.Load() == 0 && d.features.mirror.InFlight() == 0
}

// hasLoops reports whether the engine is event loops. A log that blocks the request whose
// event does not fit would hold up a whole loop.
func hasLoops(cfg *config.Config) bool {
	return cfg.Engine != config.EngineGoroutines && cfg.Log.Queue.WhenFull != "block"
}

// drainCut is how long the server waits for the requests that it has cut.
const drainCut = time.Second
