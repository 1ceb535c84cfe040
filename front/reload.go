package front

import (
	"errors"
	"slices"

	"github.com/weirhq/weir/front/config"
)

// eventReloadFailed is the event of a reload that has failed.
const eventReloadFailed = "configuration reload failed"

// Reload applies the routes, redirects, upstreams, constraints, trusted proxies, access,
// compression, error pages, maintenance and limits of requests of cfg. Requests in progress end with the old ones. The other
// keys (namespace, listen, admin, drain, engine, log and the limits of connections) need a
// restart; Reload returns the names of those with another value. After an error,
// nothing has changed; report it with [Door.ReloadFailed].
func (d *Door) Reload(cfg *config.Config) (unchanged []string, err error) {
	t, err := d.builder.build(cfg, d.tables.Load().gates)
	if err != nil {
		return nil, err
	}
	before := d.tables.Swap(t)
	for _, g := range t.gates {
		g.apply()
	}
	before.close()
	d.metrics.forget(before.upstreams, t.upstreams)
	d.metrics.reloads.count(reloadApplied)
	return fixedDifferences(d.cfg, cfg), nil
}

// ReloadFailed counts a failed reload and logs the reason at severity ERROR, with
// one error for each of [config.Mistakes]. Call it also if the file could not be read
// or parsed.
func (d *Door) ReloadFailed(err error) {
	d.metrics.reloads.count(reloadFailed)
	var mistakes config.Mistakes
	if errors.As(err, &mistakes) {
		err = errors.Join(mistakes.Unwrap()...)
	}
	d.log.Error(eventReloadFailed).Err(err).Send()
}

// fixedDifferences names the keys that only a restart changes and whose values
// differ.
func fixedDifferences(c, other *config.Config) []string {
	var keys []string
	for _, k := range []struct {
		name string
		same bool
	}{
		{"namespace", c.Namespace == other.Namespace},
		{"listen", slices.Equal(c.Listen, other.Listen)},
		{"admin", c.Admin == other.Admin},
		{"drain", c.Drain == other.Drain},
		{"engine", c.Engine == other.Engine},
		{"log.to", slices.Equal(c.Log.To, other.Log.To)},
		{"log.format", c.Log.Format == other.Log.Format},
		{"log.level", c.Log.Level == other.Log.Level},
		{"log.events", c.Log.Events == other.Log.Events},
		{"log.request_headers", slices.Equal(c.Log.RequestHeaders, other.Log.RequestHeaders)},
		{"log.response_headers", slices.Equal(c.Log.ResponseHeaders, other.Log.ResponseHeaders)},
		{"log.redact", slices.Equal(c.Log.Redact, other.Log.Redact)},
		{"log.queue", c.Log.Queue == other.Log.Queue},
		{"log.rotate", c.Log.Rotate == other.Log.Rotate},
		{"log.fsync", c.Log.Fsync == other.Log.Fsync},
		{"log.heartbeat", c.Log.Heartbeat == other.Log.Heartbeat},
		{"limits.headers", c.Limits.Headers == other.Limits.Headers},
		{"limits.timeouts.header", c.Limits.HeaderTimeout == other.Limits.HeaderTimeout},
		{"limits.timeouts.idle", c.Limits.IdleTimeout == other.Limits.IdleTimeout},
		{"limits.max_connections", c.Limits.MaxConnections == other.Limits.MaxConnections},
		{"limits.connections_per_client", c.Limits.ConnectionsPerClient == other.Limits.ConnectionsPerClient},
	} {
		if !k.same {
			keys = append(keys, k.name)
		}
	}
	return keys
}
