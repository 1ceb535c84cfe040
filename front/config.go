package front

import (
	"net/netip"
	"time"
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

	// Drain is how long a stopping front door waits for the requests in
	// flight. Zero cuts them at once. Default 10s.
	Drain time.Duration

	// TrustedProxies are the networks whose X-Forwarded-* and Forwarded
	// headers are believed. Empty, the default, believes nobody.
	TrustedProxies []netip.Prefix

	Log LogConfig

	// Constraints maps the names that patterns may use to regular
	// expressions, beside the router's built-in ones.
	Constraints map[string]string

	// Upstreams and Routes stand in the file's order; there is at least one
	// of each. An upstream may be without a route.
	Upstreams []UpstreamConfig
	Routes    []RouteConfig
}

// LogConfig says which events are written, and where to. The format is JSON.
type LogConfig struct {
	To     string // "stdout" (the default), "stderr", or the path of a file to append to
	Level  string // the least severe level that is written: fatal, error, warn, info (the default) or debug
	Events string // EventsAll (the default) or EventsCompleted
}

// Values of [LogConfig.Events].
const (
	EventsAll       = "all"       // received, proxying and completed: three events for each request
	EventsCompleted = "completed" // the completed event alone, which carries what the other two say
)

// AdminOff is the value of [Config.Admin] that disables the admin listener.
const AdminOff = "off"

// UpstreamConfig is a named pool of servers.
type UpstreamConfig struct {
	Name    string   // letters, digits, '.', '_' and '-'
	Servers []string // at least one, each http://host:port with the port always there
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
}
