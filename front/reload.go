package front

import (
	"errors"
	"io"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/internal/traceto"
	"github.com/weirhq/weir/front/internal/wire"
	"github.com/weirhq/weir/front/logto"
	"github.com/weirhq/weir/log"
)

// eventReloadFailed is the event of a reload that has failed.
const eventReloadFailed = "configuration reload failed"

// ErrDraining is the error of a reload that came too late: the front door drains.
var ErrDraining = errors.New("the front door drains")

// Reload applies a configuration. Requests in progress end with the routes, upstreams and
// limits with which they began; their next events go to the new log. Listeners that stay
// are not touched. A removed listener drains as in [Door.Serve], but none of its requests
// are cut.
//
// A change of engine, and of log.queue.when_full from or to block with the engine of
// loops, needs a new process: connections belong to the engine that has accepted them.
// So does a change of log.spill.folder while the log goes to a server.
// Reload returns the names of these keys if their values differ, and applies the others.
//
// After an error, nothing has changed; report it with [Door.ReloadFailed].
func (d *Door) Reload(cfg *config.Config) (unchanged []string, err error) {
	d.preparing.Lock()
	defer d.preparing.Unlock()
	if d.draining.Load() {
		return nil, ErrDraining
	}
	before := d.tables.Load()
	cfg, unchanged = keepFixed(before.config, cfg)
	logs, err := d.prepareLog(cfg)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			logs.abandon() // after reloading is released, because it can wait for a disk
		}
	}()
	t, err := d.build(cfg, logs.events, logs.tracer)
	defer d.closeUnusedStores()
	if err != nil {
		return nil, err
	}
	certificates, err := d.certs.prepare(cfg)
	if err != nil {
		t.upstreams.Close()
		return nil, err
	}
	d.reloading.Lock()
	defer d.reloading.Unlock()
	listeners, err := d.prepareListeners(cfg)
	if err != nil {
		certificates.abandon()
		t.upstreams.Close()
		return nil, err
	}
	logs.apply()
	before.upstreams.Stop()
	t.upstreams.Adopt(before.upstreams)
	d.conns.SetMax(t.files.Upstreams)
	d.useTLS(cfg)
	d.tables.Store(t)
	closeSlots(before.gates, t.gates) // first: slots that are not closed may change a limit that apply has set
	for _, g := range t.gates {
		g.apply()
	}
	d.useLimits(t)
	certificates.apply()
	listeners.Apply(cfg.Drain.Delay)
	before.upstreams.Close()
	t.upstreams.Forget(before.upstreams)
	if d.server.Running() {
		t.upstreams.Start()
	}
	d.logLimits(t)
	d.metrics.reloads.Applied()
	return unchanged, nil
}

// prepareListeners prepares the listeners of a configuration, unless a drain has begun. Reloading is held.
func (d *Door) prepareListeners(cfg *config.Config) (*wire.Change, error) {
	if d.draining.Load() { // while the files were read
		return nil, ErrDraining
	}
	return d.server.Prepare(addressesOf(cfg))
}

// closeUnusedStores closes the stores that the configuration in use does not have.
func (d *Door) closeUnusedStores() {
	cfg := d.tables.Load().config
	d.stores.Keep(cfg.SharedStores(), cfg.Namespace)
}

// A doorLogChange changes the log of a door.
type doorLogChange struct {
	events  requestEvents
	tracer  *tracer
	options log.Options
	change  *logto.Change // nil if the output is not a Log
	spans   *logto.Change
}

// prepareLog prepares the log and the traces of a configuration.
func (d *Door) prepareLog(cfg *config.Config) (c doorLogChange, err error) {
	if c.options, err = logOptions(cfg); err != nil {
		return c, err
	}
	var w io.Writer = d.out
	if l, ok := d.out.(*logto.Log); ok {
		if c.change, err = l.Prepare(cfg.Log.Config); err != nil {
			return c, err
		}
		w = c.change.Writer()
	}
	if c.events, err = newRequestEvents(cfg, w, d.eventParts()); err == nil {
		c.tracer = newTracer(cfg, d.spans)
		c.spans, err = d.spans.Prepare(traceto.Config(cfg.Traces.To))
	}
	if err != nil {
		c.abandon()
	}
	return c, err
}

func (c *doorLogChange) abandon() {
	for _, change := range []*logto.Change{c.change, c.spans} {
		if change != nil {
			change.Abandon()
		}
	}
}

func (c *doorLogChange) apply() {
	for _, change := range []*logto.Change{c.change, c.spans} {
		if change != nil {
			change.Apply(c.options)
		}
	}
}

// ReloadFailed counts a failed reload and logs the reason at severity ERROR, with
// one error for each of [config.Mistakes]. Call it also if the file could not be read
// or parsed.
func (d *Door) ReloadFailed(err error) {
	d.metrics.reloads.Failed()
	var mistakes config.Mistakes
	if errors.As(err, &mistakes) {
		err = errors.Join(mistakes.Unwrap()...)
	}
	d.logger().Error(eventReloadFailed).Err(err).Send()
}

// keepFixed returns a configuration with the previous values of the keys that only a new
// process can apply, and the names of those with another value.
func keepFixed(before, cfg *config.Config) (kept *config.Config, unchanged []string) {
	c := *cfg
	if c.Engine != before.Engine {
		c.Engine = before.Engine
		unchanged = append(unchanged, "engine")
	}
	if hasLoops(before) != hasLoops(&c) {
		c.Log.Queue.WhenFull, c.Log.Queue.Wait = before.Log.Queue.WhenFull, before.Log.Queue.Wait
		unchanged = append(unchanged, "log.queue.when_full")
	}
	if before.Log.Servers() > 0 && c.Log.Servers() > 0 && c.Log.Spill.Folder != before.Log.Spill.Folder {
		c.Log.Spill.Folder = before.Log.Spill.Folder
		unchanged = append(unchanged, "log.spill.folder")
	}
	return &c, unchanged
}
