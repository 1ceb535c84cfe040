package front

import (
	"net/netip"
	"path/filepath"
	"time"

	"github.com/weirhq/weir/internal/yamlfile"
)

// Config is a checked configuration, as [ParseConfig] reads it: every address,
// URL, pattern and expression in it has been tried, every name in it refers to
// something, and defaults are filled in. It is plain data that nobody changes
// after parsing, so goroutines may share it.
type Config struct {
	// Namespace names the service in every log event. Default "front-door".
	Namespace string

	// Listen holds the addresses of the public listeners as host:port, where
	// an empty host means every interface and port 0 a free port. At least
	// one; default ":20000".
	Listen []string

	// Admin is the address of the admin listener as host:port, or "off" for
	// none. Default "127.0.0.1:20001".
	Admin string

	Drain DrainConfig

	// TrustedProxies are the networks whose X-Forwarded-For, -Host, -Proto and
	// Forwarded headers are believed. Empty, the default, believes nobody.
	TrustedProxies []netip.Prefix

	Log LogConfig

	// Limits hold for everything that comes in.
	Limits LimitsConfig

	// Constraints maps the names that patterns may use to regular
	// expressions, beside the router's built-in ones.
	Constraints map[string]string

	// Upstreams and Routes stand in the file's order; there is at least one
	// of each. An upstream may be without a route.
	Upstreams []UpstreamConfig
	Routes    []RouteConfig

	// Redirects are those of the file that the key redirects names, in its
	// order.
	Redirects []RedirectConfig
}

// DrainConfig says how a front door stops.
type DrainConfig struct {
	// Delay is how long it still accepts connections and keeps idle ones, with
	// Connection: close on every response, so that load balancers and pools of
	// connections can move away. Default 1s.
	Delay time.Duration

	// Timeout is how long the requests in flight may then take. Zero cuts them
	// when Delay ends. Default 10s.
	Timeout time.Duration
}

// AdminOff is the value of [Config.Admin] that disables the admin listener.
const AdminOff = "off"

// UpstreamConfig is a named pool of servers.
type UpstreamConfig struct {
	Name    string   // letters, digits, '.', '_' and '-'
	Servers []string // at least one, each http://host:port with the port always there

	// ResponseFields is how many fields a response may have. Zero means 256, the
	// default.
	ResponseFields int

	// ConnectRetry is how long a request waits for a connection when no server
	// can be connected to. Zero fails at once. Default 1s.
	ConnectRetry time.Duration
}

// RouteConfig sends the requests that match a pattern to an upstream.
type RouteConfig struct {
	Match string // a pattern of package router
	To    string // the name of one of the upstreams

	// Timeout is how long the upstream may stay silent, before and during its
	// answer. Above zero; default 30s.
	Timeout time.Duration

	// Upgrade lists, in lower case, the protocols that a request may switch
	// to. Default "websocket"; empty allows none.
	Upgrade []string

	// Events are the events that each request writes: EventsAll,
	// EventsCompleted or EventsNone. Empty means those of LogConfig.
	Events string

	// Limits hold for the requests of this route, beside those of the door.
	Limits RequestLimits
}

// DefaultConfig returns what a file may leave out: everything but upstreams
// and routes. The caller owns the result.
func DefaultConfig() *Config {
	return &Config{
		Namespace:   "front-door",
		Listen:      []string{":20000"},
		Admin:       "127.0.0.1:20001",
		Drain:       DrainConfig{Delay: time.Second, Timeout: 10 * time.Second},
		Log:         defaultLog(),
		Limits:      defaultLimits(),
		Constraints: map[string]string{},
	}
}

// DefaultRoute returns a route with all that a file may leave out.
func DefaultRoute(match, to string) RouteConfig {
	return RouteConfig{Match: match, To: to, Timeout: 30 * time.Second, Upgrade: []string{"websocket"}}
}

// ParseConfig reads a configuration from src. The name file is used in messages
// and is where the file of redirects is searched from, and lookupEnv, usually os.LookupEnv, resolves the ${NAME} in
// values; nil knows no variable. Nothing is bound or resolved, and only the file
// of redirects is opened. The folders of the log's files have to exist.
//
// The error is of type [Mistakes] and holds every mistake in both files, except
// that a file which is not YAML is read no further than its first error.
func ParseConfig(file string, src []byte, lookupEnv func(string) (string, bool)) (*Config, error) {
	r, root := newReader(file, src, lookupEnv)
	switch c := r.config; {
	case root != nil:
		r.Fields(place{To: filling{reader: r}}, root)
		r.checkAddresses(c)
		r.checkLog(c)
		r.readRedirects(filepath.Dir(file))
		r.checkRoutes()
	case r.Err() == nil:
		r.Mistakef(yamlfile.Pos{Line: 1, Col: 1}, `it needs "upstreams" and "routes" at least`, "the file is empty")
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	return r.config, nil
}
