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
	{Path: "watch", Doc: "reload when a file of the configuration changes",
		Read: one(yamlfile.Switch, func(c *Config) *bool { return &c.Watch })},
	{Path: "include", Doc: "more files, with routes, upstreams and constraints",
		Read: yamlfile.Some(scalar.Path, func(f filling) *[]yamlfile.Scalar { return &f.include })},
	{Path: "namespace", Doc: "the name of the service in the log",
		Read: one(yamlfile.Text, func(c *Config) *string { return &c.Namespace })},
	{Path: "listen", Doc: "addresses for requests without TLS",
		Read: some(parseListen, func(c *Config) *[]string { return &c.Listen })},
}, adminKeys, []key{
	{Path: "drain", Short: "timeout", Off: func(f filling) { f.config.Drain = Drain{} }, Read: (*fileReader).Fields},
	{Path: "drain.delay", Doc: "how long connections are accepted after SIGTERM",
		Off:  func(f filling) { f.config.Drain.Delay = 0 },
		Read: one(scalar.Timeout, func(c *Config) *time.Duration { return &c.Drain.Delay })},
	{Path: "drain.timeout", Doc: "how long requests in flight may take after the delay",
		Off:  func(f filling) { f.config.Drain.Timeout = 0 },
		Read: one(scalar.Timeout, func(c *Config) *time.Duration { return &c.Drain.Timeout })},
	{Path: "engine", Doc: "event loops, or a goroutine for each connection",
		Read: one(yamlfile.Word(engines), func(c *Config) *string { return &c.Engine })},
	{Path: "trusted_proxies", Doc: "proxies whose X-Forwarded fields are used",
		Read: some(scalar.Network, func(c *Config) *[]netip.Prefix { return &c.TrustedProxies })},

	{Path: "dns", Read: (*fileReader).Fields},
	{Path: "dns.servers", Doc: "the name servers that resolve the names of servers", Ambiguous: true,
		Read: some(parseNameServer, func(c *Config) *[]string { return &c.DNS.Servers })},
	{Path: "dns.max_ttl", Doc: "the longest time between two resolutions of a name", Zero: time.Minute,
		Read: one(parseMaxTTL, func(c *Config) *time.Duration { return &c.DNS.MaxTTL })},
}, logKeys(), traceKeys(), []key{
	{Path: "constraints", Read: (*fileReader).Names},
	{Path: "constraints.*", Doc: "a regular expression for a segment of a path", Read: readConstraint},
}, upstreamKeys(), []key{
	{Path: "defaults", Doc: "values of all routes", Read: readDefaults},
	{Path: "routes", Doc: "the list of routes and groups",
		Read:     readRoutes,
		Required: `add at least one route, as in: routes: [{match: "/{path...}", to: site}]`},
	{Path: "routes.*", Read: readRoute, Called: "a route"},
	{Path: "routes.*.match", Doc: "the pattern of the requests", Local: true,
		Read:     yamlfile.One(parseMatch, func(f filling) *yamlfile.Scalar { return &f.route.match }),
		Required: `say which requests it matches, as in: match: "/{path...}"`},
	{Path: "routes.*.to", Doc: "the upstream that the requests are forwarded to",
		Read: action(yamlfile.One(scalar.Upstream, func(f filling) *yamlfile.Scalar { return &f.route.to }))},
	{Path: "routes.*.upgrade", Doc: "the protocols that a request may switch to",
		Off:  func(f filling) { f.route.Upgrade = nil },
		Read: yamlfile.Some(parseUpgrade, func(f filling) *[]string { return &f.route.Upgrade }), With: forwards},
	{Path: "routes.*.log", Read: readRouteLog},
	{Path: "routes.*.log.events", Doc: "the events of each request of this route",
		Off:  func(f filling) { f.route.Events = EventsOff },
		Read: yamlfile.One(yamlfile.Word(logEvents), func(f filling) *string { return &f.route.Events })},
	{Path: "routes.*.log.request_fields", Doc: "more request fields in the completed event", Ambiguous: true,
		Read: yamlfile.Some(parseLogHeader, func(f filling) *[]string { return &f.route.LogRequestFields })},
	{Path: "routes.*.log.response_fields", Doc: "more response fields in the completed event", Ambiguous: true,
		Read: yamlfile.Some(parseLogHeader, func(f filling) *[]string { return &f.route.LogResponseFields })},
	{Path: "routes.*.log.fields", Ambiguous: true, Read: readLogFields},
	{Path: "routes.*.log.fields.*", Doc: "a field of the completed event", Read: readLogField},

	{Path: "redirects", Doc: "a CSV file of redirects",
		Read: yamlfile.One(scalar.Path, func(f filling) *yamlfile.Scalar { return &f.redirectsKey })},
}, groupKeys, limitKeys(), proxyProtocolKeys,
	tlsKeys(), featureKeys(),
	timeoutKeys)

var engines = []string{EngineLoops, EngineGoroutines}
