package upstream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/weirhq/weir/front/internal/eventpace"
	"github.com/weirhq/weir/front/internal/serverlist"
	"github.com/weirhq/weir/front/upstreams"
	"github.com/weirhq/weir/internal/proxying"
	"github.com/weirhq/weir/log"
)

// A list follows the list of the servers of one upstream outside of the configuration.
type list struct {
	serverlist.List
	upstream string
	place    upstreams.List
	metrics  *Metrics
	logger   func() *log.Logger
	pace     eventpace.Pace
}

// newList returns the list of an upstream. The caller sets Apply.
func newList(u *upstreams.Upstream, parts Parts) (*list, error) {
	l := &list{upstream: u.Name, place: u.List, metrics: parts.Metrics, logger: parts.Logger}
	switch {
	case u.List.File != "":
		l.Watch = func(ctx context.Context, changed func([]byte, error)) {
			serverlist.WatchFile(ctx, u.List.File, changed)
		}
	case parts.Lists == nil:
		return nil, fmt.Errorf("upstream %s: there is no client for %s", u.Name, u.List)
	default:
		watch, err := parts.Lists(u.List.NATS)
		if err != nil {
			return nil, fmt.Errorf("upstream %s: %s: %w", u.Name, u.List, err)
		}
		l.Watch = watch
	}
	l.Parse = func(text []byte) ([]proxying.Endpoint, error) {
		servers, err := upstreams.ParseServers(u.List.String(), text)
		return endpointsOf(servers), err
	}
	l.Report = l.report
	var err error
	if u.List.NATS != "" {
		err = errNotRead
	}
	l.SetServers(endpointsOf(u.Servers), err)
	return l, nil
}

// errNotRead is the state of a list that was not read yet.
var errNotRead = errors.New("not read yet")

// inherit takes over the servers of an earlier configuration until the list is read: those that were
// configured, or those of its list if before is not nil.
func (l *list) inherit(configured []proxying.Endpoint, before *list) {
	_, err := l.Servers()
	if err != errNotRead {
		return
	}
	if before != nil {
		var earlier error
		if configured, earlier = before.Servers(); before.place == l.place {
			err = earlier
		}
	}
	l.SetServers(configured, err)
}

// The events of lists.
const (
	eventListed    = "upstream servers updated"
	eventNotListed = "upstream servers not updated"
)

// The values of the label result of updates of lists.
const (
	listApplied = "applied"
	listFailed  = "failed"
)

// report counts and logs a change of the list.
func (l *list) report(c serverlist.Change) {
	result := listApplied
	if c.Err != nil {
		result = listFailed
	}
	l.metrics.lists.WithLabelValues(l.upstream, result).Inc()
	unlogged, ok := l.pace.Next(time.Now(), true)
	if !ok {
		return
	}
	e := l.logger().Info(eventListed)
	if c.Err != nil {
		e = l.logger().Error(eventNotListed).Err(c.Err)
	}
	e = e.Str("upstream", l.upstream).Str("list", l.place.String()).Int("servers", c.Servers)
	if len(c.Added) > 0 {
		e = e.Strs("added", c.Added)
	}
	if len(c.Removed) > 0 {
		e = e.Strs("removed", c.Removed)
	}
	if unlogged > 0 {
		e = e.Int("unlogged", unlogged)
	}
	e.Send()
}

// A ListState is the state of the list of the servers of an upstream outside of the configuration.
type ListState struct {
	Place           string // without a password
	Servers         int
	Err             error     // why the servers are from an earlier list; nil if they are not
	Changed, Failed time.Time // since the last reload; zero for never
}

// state returns the state of the list.
func (l *list) state() *ListState {
	servers, err := l.Servers()
	s := &ListState{Place: l.place.String(), Servers: len(servers), Err: err}
	s.Changed, s.Failed = l.Times()
	return s
}
