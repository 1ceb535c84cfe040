package config

import (
	"net/netip"
	"slices"
	"time"

	"github.com/weirhq/weir/front/internal/scalar"
	"github.com/weirhq/weir/internal/yamlfile"
)

// schema is the only list of the keys of a configuration. It defines how they are
// read and which are refused, and provides suggestions for unknown keys.
var schema = slices.Concat([]key{
	{Path: "watch", Read: one(yamlfile.Switch, func(c *Config) *bool { return &c.Watch })},
	{Path: "include", Read: yamlfile.Some(scalar.Written, func(f filling) *[]yamlfile.Scalar { return &f.include })},
	{Path: "namespace", Read: one(yamlfile.Text, func(c *Config) *string { return &c.Namespace })},
	{Path: "listen", Read: some(parseListen, func(c *Config) *[]string { return &c.Listen })},
	{Path: "admin", Read: one(parseAdmin, func(c *Config) *string { return &c.Admin })},
	{Path: "drain", Read: readDrain},
	{Path: "drain.delay", Read: one(yamlfile.Duration, func(c *Config) *time.Duration { return &c.Drain.Delay })},
	{Path: "drain.timeout", Read: readDrainTimeout},
	{Path: "engine", Read: one(yamlfile.Word(engines), func(c *Config) *string { return &c.Engine })},
	{Path: "trusted_proxies", Read: many(scalar.Network, func(c *Config) *[]netip.Prefix { return &c.TrustedProxies })},

	{Path: "dns", Read: (*fileReader).Fields},
	{Path: "dns.servers", Ambiguous: true, Read: some(parseNameServer, func(c *Config) *[]string { return &c.DNS.Servers })},
	{Path: "dns.max_ttl", Read: one(parseMaxTTL, func(c *Config) *time.Duration { return &c.DNS.MaxTTL })},
}, logKeys(), []key{
	{Path: "constraints", Read: (*fileReader).Names},
	{Path: "constraints.*", Read: readConstraint},
}, upstreamKeys(), []key{
	{Path: "routes", Read: readRoutes,
		Required: `add at least one route, as in: routes: [{match: "/{path...}", to: site}]`},
	{Path: "routes.*", Read: readRoute, Called: "a route"},
	{Path: "routes.*.match", Read: yamlfile.One(scalar.Written, func(f filling) *yamlfile.Scalar { return &f.route.match }),
		Required: `say which requests it matches, as in: match: "/{path...}"`},
	{Path: "routes.*.to",
		Read: action(yamlfile.One(scalar.Written, func(f filling) *yamlfile.Scalar { return &f.route.to }))},
	{Path: "routes.*.upgrade",
		Read: ofForwarded(yamlfile.Many(parseUpgrade, func(f filling) *[]string { return &f.route.Upgrade }))},
	{Path: "routes.*.log", Read: (*fileReader).Fields},
	{Path: "routes.*.log.events",
		Read: yamlfile.One(yamlfile.Word(routeEvents), func(f filling) *string { return &f.route.Events })},
	{Path: "routes.*.log.request_headers", Ambiguous: true,
		Read: yamlfile.Many(parseLogHeader, func(f filling) *[]string { return &f.route.LogRequestHeaders })},
	{Path: "routes.*.log.response_headers", Ambiguous: true,
		Read: yamlfile.Many(parseLogHeader, func(f filling) *[]string { return &f.route.LogResponseHeaders })},
	{Path: "routes.*.log.fields", Ambiguous: true, Read: readLogFields},
	{Path: "routes.*.log.fields.*", Read: readLogField},

	{Path: "redirects", Read: yamlfile.One(scalar.Written, func(f filling) *yamlfile.Scalar { return &f.redirectsKey })},
}, limitKeys(), proxyProtocolKeys,
	tlsKeys(), featureKeys(),
	timeoutKeys)

var engines = []string{EngineLoops, EngineGoroutines}

var readDrainTimeout = one(yamlfile.Duration, func(c *Config) *time.Duration { return &c.Drain.Timeout })

// readDrain reads a mapping, or a duration as the timeout.
func readDrain(r *fileReader, p place, n *yamlfile.Node) {
	if n.Kind == yamlfile.Single {
		readDrainTimeout(r, p, n)
		return
	}
	r.Fields(p, n)
}
