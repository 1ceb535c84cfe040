package upstream

import (
	"time"

	"github.com/weirhq/weir/front/internal/eventpace"
	"github.com/weirhq/weir/front/internal/health"
	"github.com/weirhq/weir/front/internal/names"
	"github.com/weirhq/weir/internal/proxying"
)

// The events of names.
const (
	eventResolved    = "upstream name resolved"
	eventNotResolved = "upstream name not resolved"
)

// A namePace is the pace of the events of a name, and what the last one has reported.
type namePace struct {
	eventpace.Pace
	failing bool
}

// resolved counts and logs the result of resolving a name. It logs changes and failures.
func (u *Upstream) resolved(r names.Resolution) {
	if r.Gone {
		delete(u.events, r.URL)
		return
	}
	result := resolvedAll
	if r.Err != nil {
		result = resolvedNot
	}
	u.metrics.resolutions.WithLabelValues(u.Name(), result).Inc()
	p := u.events[r.URL]
	if p == nil {
		p = new(namePace)
		u.events[r.URL] = p
	}
	news := r.Err != nil || p.failing || len(r.Added)+len(r.Removed) > 0
	unlogged, ok := p.Next(time.Now(), news)
	if !ok {
		return
	}
	p.failing = r.Err != nil
	e := u.logger().Info(eventResolved)
	if r.Err != nil {
		e = u.logger().Warn(eventNotResolved).Err(r.Err)
	}
	e = e.Str("upstream", u.Name()).Str("server", r.URL).Int("addresses", r.Addrs)
	if len(r.Added) > 0 {
		e.Strs("added", r.Added)
	}
	if len(r.Removed) > 0 {
		e.Strs("removed", r.Removed)
	}
	if r.LeftOut > 0 {
		e.Int("left_out", r.LeftOut)
	}
	if unlogged > 0 {
		e.Int("unlogged", unlogged)
	}
	e.Send()
}

// The values of the label result of resolutions.
const (
	resolvedAll = "resolved"
	resolvedNot = "failed"
)

// The events of health.
const (
	eventServerState   = "server state changed"
	eventUpstreamState = "upstream state changed"
)

// stateChanged logs a change of the state of a server or of the upstream.
func (u *Upstream) stateChanged(c health.Change) {
	events := &u.state
	if c.Server != nil {
		events = &contextOf(c.Server).events
	}
	u.logState(events, &c)
}

func (u *Upstream) logState(events *stateEvents, c *health.Change) {
	logged, unlogged, ok := events.note(c)
	if !ok {
		return
	}
	l := u.logger()
	e := l.Info(eventServerState)
	switch {
	case logged.To == health.Panic:
		e = l.Error(eventUpstreamState)
	case logged.Server == nil:
		e = l.Info(eventUpstreamState)
	case logged.To != proxying.Usable:
		e = l.Warn(eventServerState)
	}
	e = e.Str("upstream", u.Name())
	if logged.Server != nil {
		e = e.Str("server", logged.Server.URL())
	}
	e = e.Str("from", string(logged.From)).Str("to", string(logged.To)).Str("reason", logged.Reason)
	if unlogged > 0 {
		e = e.Int("unlogged", unlogged)
	}
	e.Send()
}

// repeatEvents logs, from time to time, the changes that were too frequent to be logged.
func (u *Upstream) repeatEvents() {
	ticker := time.NewTicker(eventpace.Interval / 3)
	defer ticker.Stop()
	for {
		select {
		case <-u.ctx.Done():
			return
		case <-ticker.C:
		}
		u.logState(&u.state, nil)
		for _, s := range u.Servers() {
			u.logState(&contextOf(s).events, nil)
		}
	}
}
