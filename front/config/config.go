package config

import (
	"errors"
	"net/netip"
	"time"

	"github.com/weirhq/weir/internal/yamlfile"
)

// Config is a checked configuration, as [Parse] reads it: every address,
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

	Drain Drain

	// TrustedProxies are the networks whose X-Forwarded-For, -Host, -Proto and
	// Forwarded headers are believed. Empty, the default, believes nobody.
	TrustedProxies []netip.Prefix

	Log Log

	// Limits hold for everything that comes in.
	Limits Limits

	// Constraints maps the names that patterns may use to regular
	// expressions, beside the router's built-in ones.
	Constraints map[string]string

	// Upstreams and Routes stand in the file's order; there is at least one
	// of each. An upstream may be without a route.
	Upstreams []Upstream
	Routes    []Route

	// Redirects are those of the file that the key redirects names, in its
	// order.
	Redirects []Redirect
}

// Drain says how a front door stops.
type Drain struct {
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

// Upstream is a named pool of servers.
type Upstream struct {
	Name    string   // letters, digits, '.', '_' and '-'
	Servers []string // at least one, each http://host:port with the port always there

	// ResponseFields is how many fields a response may have. Zero means 256, the
	// default.
	ResponseFields int

	// ConnectRetry is how long a request waits for a connection when no server
	// can be connected to. Zero fails at once. Default 1s.
	ConnectRetry time.Duration
}

// Route sends the requests that match a pattern to an upstream.
type Route struct {
	Match string // a pattern of package router
	To    string // the name of one of the upstreams

	// Timeout is how long the upstream may stay silent, before and during its
	// answer. Above zero; default 30s.
	Timeout time.Duration

	// Upgrade lists, in lower case, the protocols that a request may switch
	// to. Default "websocket"; empty allows none.
	Upgrade []string

	// Events are the events that each request writes: EventsAll,
	// EventsCompleted or EventsNone. Empty means those of Log.
	Events string

	// Limits hold for the requests of this route, beside those of the door.
	Limits RequestLimits
}

// Default returns what a file may leave out: everything but upstreams
// and routes. The caller owns the result.
func Default() *Config {
	return &Config{
		Namespace:   "front-door",
		Listen:      []string{":20000"},
		Admin:       "127.0.0.1:20001",
		Drain:       Drain{Delay: time.Second, Timeout: 10 * time.Second},
		Log:         defaultLog(),
		Limits:      defaultLimits(),
		Constraints: map[string]string{},
	}
}

// DefaultRoute returns a route with all that a file may leave out.
func DefaultRoute(match, to string) Route {
	return Route{Match: match, To: to, Timeout: 30 * time.Second, Upgrade: []string{"websocket"}}
}

// Redirect redirects the requests for a path, or for every path below
// one. The routing table holds redirects and routes, and the most specific
// pattern wins, whichever of the two it is.
type Redirect struct {
	// From is [HOST]/PATH for one path, or [HOST]/PATH/* for every path below.
	From string

	// To is a path or a URL of http or https. One that ends in /* goes with
	// such a From: the rest of the path takes the place of the *. The query of
	// a request is kept, unless To has a "?", and with it a query of its own or
	// none.
	To string

	// Status is 301, 302, 307 or 308.
	Status int
}

// A Mistake is one mistake in a configuration or its file of redirects. What
// and Hint are one line each and contain no control characters.
type Mistake struct {
	File string
	Line int    // 1-based
	Col  int    // 1-based, in characters; of the wrong key or value
	What string // the problem, with the wrong value
	Hint string // how to correct it, or ""
}

// Error returns all fields on one line.
func (m Mistake) Error() string { return yamlfile.Mistake(m).Error() }

// Mistakes are all mistakes of a configuration, in file order.
type Mistakes []Mistake

// Error returns one line for each mistake.
func (ms Mistakes) Error() string { return errors.Join(ms.Unwrap()...).Error() }

// Unwrap lets errors.As find a single [Mistake].
func (ms Mistakes) Unwrap() []error {
	errs := make([]error, len(ms))
	for i, m := range ms {
		errs[i] = m
	}
	return errs
}
