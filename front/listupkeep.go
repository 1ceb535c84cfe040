package front

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/internal/eventpace"
	"github.com/weirhq/weir/front/internal/serverlist"
	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/proxy"
)

// A listUpkeep follows the list of the servers of one upstream outside of the configuration.
type listUpkeep struct {
	serverlist.List
	upstream string
	place    config.ServerList
	metrics  *metrics
	logger   func() *log.Logger
	pace     eventpace.Pace
}

// newListUpkeep returns the upkeep of the list of an upstream. The caller sets Apply.
func newListUpkeep(u *config.Upstream, e *Engines, m *metrics, logger func() *log.Logger) (*listUpkeep, error) {
	k := &listUpkeep{upstream: u.Name, place: u.List, metrics: m, logger: logger}
	switch {
	case u.List.File != "":
		k.Watch = func(ctx context.Context, changed func([]byte, error)) {
			serverlist.WatchFile(ctx, u.List.File, changed)
		}
	case e.Servers == nil:
		return nil, fmt.Errorf("upstream %s: there is no client for %s", u.Name, u.List)
	default:
		watch, err := e.Servers(u.List.NATS)
		if err != nil {
			return nil, fmt.Errorf("upstream %s: %s: %w", u.Name, u.List, err)
		}
		k.Watch = watch
	}
	k.Parse = func(text []byte) ([]proxy.Endpoint, error) {
		servers, err := config.ParseServers(u.List.String(), text)
		return endpointsOf(servers), err
	}
	k.Report = k.report
	var err error
	if u.List.NATS != "" {
		err = errNotRead
	}
	k.SetServers(endpointsOf(u.Servers), err)
	return k, nil
}

// errNotRead is the state of a list that was not read yet.
var errNotRead = errors.New("not read yet")

// inherit takes over the servers of an earlier configuration until the list is read: those that were
// configured, or those of its list if that is not nil.
func (k *listUpkeep) inherit(configured []proxy.Endpoint, list *listUpkeep) {
	_, err := k.Servers()
	if err != errNotRead {
		return
	}
	if list != nil {
		var before error
		if configured, before = list.Servers(); list.place == k.place {
			err = before
		}
	}
	k.SetServers(configured, err)
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
func (k *listUpkeep) report(c serverlist.Change) {
	result := listApplied
	if c.Err != nil {
		result = listFailed
	}
	k.metrics.lists.WithLabelValues(k.upstream, result).Inc()
	unlogged, ok := k.pace.Next(time.Now(), true)
	if !ok {
		return
	}
	e := k.logger().Info(eventListed)
	if c.Err != nil {
		e = k.logger().Error(eventNotListed).Err(c.Err)
	}
	e = e.Str("upstream", k.upstream).Str("list", k.place.String()).Int("servers", c.Servers)
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
