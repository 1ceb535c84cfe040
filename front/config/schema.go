package config

import (
	"net/netip"
	"time"

	"github.com/weirhq/weir/internal/yamlfile"
)

// schema is the only list of the keys of a configuration. It defines how they are
// read and which are refused, and provides suggestions for unknown keys.
var schema = append([]key{
	{Path: "namespace", Read: yamlfile.One(parseNamespace, func(f filling) *string { return &f.config.Namespace })},
	{Path: "listen", Read: yamlfile.Some(parseListen, func(f filling) *[]string { return &f.config.Listen })},
	{Path: "admin", Read: yamlfile.One(parseAdmin, func(f filling) *string { return &f.config.Admin })},
	{Path: "drain", Read: readDrain},
	{Path: "drain.delay", Read: yamlfile.One(yamlfile.Duration, func(f filling) *time.Duration { return &f.config.Drain.Delay })},
	{Path: "drain.timeout", Read: readDrainTimeout},
	{Path: "trusted_proxies", Read: yamlfile.Many(parseNetwork, func(f filling) *[]netip.Prefix { return &f.config.TrustedProxies })},

	{Path: "log", Read: (*fileReader).Fields},
	{Path: "log.to", Read: yamlfile.Some(parseLogTo, func(f filling) *[]string { return &f.config.Log.To })},
	{Path: "log.format", Read: yamlfile.One(yamlfile.Word(logFormats), func(f filling) *string { return &f.config.Log.Format })},
	{Path: "log.level", Read: yamlfile.One(yamlfile.Word(logLevels), func(f filling) *string { return &f.config.Log.Level })},
	{Path: "log.events", Read: yamlfile.One(yamlfile.Word(logEvents), func(f filling) *string { return &f.config.Log.Events })},
	{Path: "log.request_headers", Read: yamlfile.Many(parseLogHeader, func(f filling) *[]string { return &f.config.Log.RequestHeaders })},
	{Path: "log.response_headers", Read: yamlfile.Many(parseLogHeader, func(f filling) *[]string { return &f.config.Log.ResponseHeaders })},
	{Path: "log.redact", Read: yamlfile.Many(parseSecret, func(f filling) *[]string { return &f.config.Log.Redact })},
	{Path: "log.queue", Read: (*fileReader).Fields},
	{Path: "log.queue.size", Read: yamlfile.One(parseQueueSize, func(f filling) *int { return &f.config.Log.Queue.Size })},
	{Path: "log.queue.when_full", Read: yamlfile.One(yamlfile.Word(logWhenFull), func(f filling) *string { return &f.config.Log.Queue.WhenFull })},
	{Path: "log.queue.wait", Read: yamlfile.One(yamlfile.Duration, func(f filling) *time.Duration { return &f.config.Log.Queue.Wait })},
	{Path: "log.queue.linger", Read: yamlfile.One(yamlfile.Duration, func(f filling) *time.Duration { return &f.config.Log.Queue.Linger })},
	{Path: "log.rotate", Read: (*fileReader).Fields},
	{Path: "log.rotate.size", Read: yamlfile.One(parseRotateSize, func(f filling) *int64 { return &f.config.Log.Rotate.Size })},
	{Path: "log.rotate.daily", Read: yamlfile.One(yamlfile.Switch, func(f filling) *bool { return &f.config.Log.Rotate.Daily })},
	{Path: "log.rotate.keep", Read: yamlfile.One(yamlfile.Count, func(f filling) *int { return &f.config.Log.Rotate.Keep })},
	{Path: "log.rotate.gzip", Read: yamlfile.One(yamlfile.Switch, func(f filling) *bool { return &f.config.Log.Rotate.Gzip })},
	{Path: "log.fsync", Read: yamlfile.One(parseFsync, func(f filling) *time.Duration { return &f.config.Log.Fsync })},
	{Path: "log.heartbeat", Read: yamlfile.One(yamlfile.Duration, func(f filling) *time.Duration { return &f.config.Log.Heartbeat })},

	{Path: "constraints", Read: (*fileReader).Names},
	{Path: "constraints.*", Read: readConstraint},

	{Path: "upstreams", Read: (*fileReader).Names, Required: `name at least one pool of servers, as in: upstreams: {site: {servers: ["http://127.0.0.1:8080"]}}`},
	{Path: "upstreams.*", Read: readUpstream, Called: "upstream %s"},
	{Path: "upstreams.*.servers", Read: yamlfile.Some(parseServer, func(f filling) *[]string { return &f.upstream.Servers }), Required: `list at least one, as in: servers: ["http://127.0.0.1:8080"]`},
	{Path: "upstreams.*.response_fields", Read: yamlfile.One(parseSome, func(f filling) *int { return &f.upstream.ResponseFields })},
	{Path: "upstreams.*.connect", Read: (*fileReader).Fields},
	{Path: "upstreams.*.connect.retry", Read: yamlfile.One(yamlfile.Duration, func(f filling) *time.Duration { return &f.upstream.ConnectRetry })},
	{Path: "upstreams.*.health", Later: "remove it: servers are not probed"},

	{Path: "routes", Read: readRoutes, Required: `add at least one route, as in: routes: [{match: "/{path...}", to: site}]`},
	{Path: "routes.*", Read: readRoute, Called: "a route"},
	{Path: "routes.*.match", Read: yamlfile.One(asWritten, func(f filling) *yamlfile.Scalar { return &f.route.match }), Required: `say which requests it matches, as in: match: "/{path...}"`},
	{Path: "routes.*.to", Read: yamlfile.One(asWritten, func(f filling) *yamlfile.Scalar { return &f.route.to }), Required: "name the upstream"},
	{Path: "routes.*.timeout", Read: yamlfile.One(parseTimeout, func(f filling) *time.Duration { return &f.route.Timeout })},
	{Path: "routes.*.upgrade", Read: yamlfile.Many(parseUpgrade, func(f filling) *[]string { return &f.route.Upgrade })},
	{Path: "routes.*.log", Read: (*fileReader).Fields},
	{Path: "routes.*.log.events", Read: yamlfile.One(yamlfile.Word(routeEvents), func(f filling) *string { return &f.route.Events })},

	{Path: "redirects", Read: yamlfile.One(asWritten, func(f filling) *yamlfile.Scalar { return &f.redirectsKey })},
}, limitKeys()...)

var readDrainTimeout = yamlfile.One(yamlfile.Duration, func(f filling) *time.Duration { return &f.config.Drain.Timeout })

// readDrain reads a mapping, or a duration as the timeout.
func readDrain(r *fileReader, p place, n *yamlfile.Node) {
	if n.Kind == yamlfile.Single {
		readDrainTimeout(r, p, n)
		return
	}
	r.Fields(p, n)
}
