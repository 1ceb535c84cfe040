// Package config reads the configuration of a front door, weir.yaml, with the files
// that it may include and the CSV file of redirects that it may name. It reports all
// mistakes of all files, each with its line and column.
//
// [Parse] is the entry point. [Default] and [DefaultRoute] help programs that
// build a [Config] themselves. docs/configuration describes the keys.
package config

import (
	"errors"
	"io/fs"
	"net/netip"
	"slices"
	"time"

	"github.com/weirhq/weir/front/condition"
	"github.com/weirhq/weir/front/feature/access"
	"github.com/weirhq/weir/front/feature/basicauth"
	"github.com/weirhq/weir/front/feature/compress"
	"github.com/weirhq/weir/front/feature/cors"
	"github.com/weirhq/weir/front/feature/edits"
	"github.com/weirhq/weir/front/feature/errorpages"
	"github.com/weirhq/weir/front/feature/files"
	"github.com/weirhq/weir/front/feature/forwardauth"
	"github.com/weirhq/weir/front/feature/httpsredirect"
	"github.com/weirhq/weir/front/feature/maintenance"
	"github.com/weirhq/weir/front/feature/mirror"
	"github.com/weirhq/weir/front/feature/redirects"
	"github.com/weirhq/weir/front/feature/respond"
	"github.com/weirhq/weir/front/feature/rewrite"
	"github.com/weirhq/weir/front/feature/split"
	"github.com/weirhq/weir/front/internal/scalar"
	"github.com/weirhq/weir/front/logto"
	"github.com/weirhq/weir/front/secure"
	"github.com/weirhq/weir/front/stage"
	"github.com/weirhq/weir/front/upstreams"
	"github.com/weirhq/weir/internal/yamlfile"
)

// Config is a configuration. [Parse] returns it checked and with defaults: every
// address, URL, pattern and regular expression is valid, and every name is
// defined. It is not modified after parsing, so goroutines may share it.
type Config struct {
	// Watch asks the program to reload when one of the Sources, or the set of files
	// that match Include, changes. Default false.
	Watch bool

	// Include are the patterns of the included files, relative to the working
	// directory or absolute. Sources are the names of all files that Parse has read.
	Include, Sources []string

	// States are the states of files before Parse read them, by name: of the Sources without
	// the configuration itself, which the caller has read, and of all files that match Include.
	States map[string]fs.FileInfo

	// Warnings are problems that do not prevent the use of the configuration, such as an expired
	// certificate.
	Warnings Mistakes

	// Namespace is the name of the service in every log event. Default "front-door".
	Namespace string

	// Listen holds the addresses of the public listeners as host:port, or
	// SystemdPrefix and the name of sockets that systemd passes. An empty host means
	// all interfaces, and port 0 any free port. The default is ":20000", or none with TLS.
	Listen []string

	// TLS configures the listeners for https. Nil, the default, is none.
	TLS *TLS

	// Admin is the address of the admin listener, as in Listen, or AdminOff.
	// The default is DefaultAdmin.
	Admin string

	// AdminToken is the secret with which operators drain servers, at least 16 bytes. Without one, the dashboard only
	// reads, and programs that reach the admin listener may drain servers.
	AdminToken string

	// ProxyProtocol accepts the PROXY protocol on the public listeners. Nil, the default, does
	// not.
	ProxyProtocol *ProxyProtocol

	Drain Drain

	// Engine serves HTTP/1: EngineLoops or EngineGoroutines. Default EngineLoops.
	Engine string

	// TrustedProxies are the networks of the proxies whose X-Forwarded-For,
	// X-Forwarded-Host and X-Forwarded-Proto are used, and whose Forwarded is
	// passed on. Default none.
	TrustedProxies []netip.Prefix

	// DNS resolves the host names of upstreams' servers.
	DNS DNS

	Log Log

	Traces Traces

	// Access admits the clients of all requests. Nil admits all.
	Access *access.Config

	// Limits apply to all requests and connections. Their values of a single request are defaults of
	// the limits of routes, and for requests without a route.
	Limits Limits

	// Constraints are regular expressions by the name that patterns use. The
	// router has built-in constraints as well.
	Constraints map[string]string

	// Upstreams and Routes are in file order. There is at least one route. An upstream
	// may have no route.
	Upstreams []upstreams.Upstream
	Routes    []Route

	// Groups have different names.
	Groups []Group

	// ErrorPages are the error pages for requests without a route. Nil, the default, is plain text.
	ErrorPages *errorpages.Config

	// ResponseHeaders change the responses to requests without a route, and redirects by Redirects.
	// Their values contain no parameters of patterns.
	ResponseHeaders edits.Config

	// Redirects are the lines of the file of redirects, in file order.
	Redirects []redirects.Redirect
}

// Drain configures the end of a front door.
type Drain struct {
	// Delay is how long the front door continues to accept connections and keeps
	// idle ones. Each response has Connection: close, so that load balancers and
	// clients can switch to another process. Default 1s.
	Delay time.Duration

	// Timeout is how long the requests in flight may take after Delay. Zero cuts
	// them when Delay ends. Default 10s.
	Timeout time.Duration
}

// TLS configures the listeners for https, and makes clients use them.
type TLS struct {
	secure.Config

	HTTPS httpsredirect.Config // makes clients use these listeners
}

// ProxyProtocol lets proxies that forward TCP connections name the client of each connection,
// with a header of the PROXY protocol, version 1 or 2, at its beginning.
type ProxyProtocol struct {
	// From are the networks of these proxies. At least one. A connection from elsewhere that
	// begins with a header is closed.
	From []netip.Prefix

	// Required closes connections from From that begin without a header. Default true.
	// Otherwise their client is the peer.
	Required bool
}

// The values of [Config.Engine]. EngineLoops is an event loop for each processor; only
// Linux has it, and other systems use EngineGoroutines, a goroutine for each connection.
const (
	EngineLoops      = "loops"
	EngineGoroutines = "goroutines"
)

// The default of [Config.Admin], and the value that disables the admin listener.
const (
	DefaultAdmin = "127.0.0.1:20001"
	AdminOff     = "off"
)

// SystemdPrefix begins an address that is the name of a socket of systemd.
const SystemdPrefix = "systemd/"

// DNS configures the resolution of host names.
type DNS struct {
	// Servers are the name servers, each an IP address and a port. Empty, the default, means
	// the name servers in /etc/resolv.conf.
	Servers []string

	// MaxTTL is the longest time between two resolutions of a name. Zero means a minute, the
	// default.
	MaxTTL time.Duration
}

// Route handles the requests that match a pattern. It has exactly one action: To,
// Split, Redirect, Respond or Files.
type Route struct {
	Match string // a pattern of package router

	// Position and Settings are the place of the route in a file and its keys in the
	// order there. They are zero for a route that a program has made.
	Position Position
	Settings []Setting

	// When restricts the route to some of the requests that match. Routes with the same
	// Match are tried in their order, one without conditions last. If the conditions of
	// none of them hold, the next less specific pattern is used.
	When condition.Set

	To       string            // forward the request to the upstream of this name
	Split    []split.Share     // forward the request to one of several upstreams
	Redirect *redirects.Config // redirect the request
	Respond  *respond.Config   // respond to the request
	Files    *files.Config     // respond with a file

	Rewrite rewrite.Config // changes the targets of the requests that are forwarded

	// RequestHeaders change the requests that are forwarded, and ResponseHeaders all responses.
	RequestHeaders, ResponseHeaders edits.Config

	// StickySplit keeps each client at the upstream of Split that its first request was
	// forwarded to. nil distributes each request anew.
	StickySplit *split.Sticky

	// Mirror sends copies of requests that To or Split forwards. nil sends none.
	Mirror *mirror.Config

	// PlainHTTP excepts the route from the redirect to https.
	PlainHTTP bool

	// Timeout is how long the upstream may be silent, before and during its
	// response, or NoTimeout. More than zero; default 30s.
	Timeout time.Duration

	// TryTimeout is how long a server may take for the head of its response, and TotalTimeout
	// how long a request may take from the end of its head. Zero, the default, sets no limit.
	TryTimeout, TotalTimeout time.Duration

	// Upgrade lists the protocols, in lower case, that a request may switch to.
	// Default "websocket"; empty allows none.
	Upgrade []string

	// Events selects the events of each request: EventsAll, EventsCompleted, EventsInteresting or
	// EventsOff. Empty means the value of Log.Events.
	Events string

	// Compress compresses responses. Nil, the default, does not.
	Compress *compress.Config

	// ErrorPages are the bodies of error responses. Nil, the default, is plain text.
	ErrorPages *errorpages.Config

	// Maintenance is the response during maintenance. Nil, the default, is 502 while no server of the
	// upstream accepts a connection.
	Maintenance *maintenance.Config

	// LogFields are added to the completed event of each request, in data.
	LogFields []Field

	// LogRequestFields and LogResponseFields are names of header fields, in lower case,
	// that are added to the completed event, beside Log.RequestFields and
	// Log.ResponseFields.
	LogRequestFields, LogResponseFields []string

	// Limits apply to the requests of this route, in addition to Config.Limits.
	Limits RequestLimits

	// Groups are the names of the groups of Config.Groups in which the route is, from the outermost.
	Groups []string

	// Access admits clients to this route, in addition to Config.Access. A client has to be admitted by each of them.
	Access []*access.Config

	// BasicAuth, if not nil, admits only users.
	BasicAuth *basicauth.Config

	// ForwardAuth, if not nil, admits the requests that a service admits.
	ForwardAuth *forwardauth.Config

	// CORS, if not nil, lets pages of other origins read the responses. Nil passes the
	// fields of upstreams on.
	CORS *cors.Config

	// Stages are stages of a program that uses package front. Requests pass them in this order, after the stages of
	// the other fields and immediately before the action. A file has no key for them.
	Stages []stage.Stage
}

// Group has limits that count the requests of several routes together.
type Group struct {
	Name   string        // of at least one letter or digit; the name in the log and in metrics
	Limits RequestLimits // only InFlight with its Queue, and Rate

	// OneRoute says that the group is not in the file: its routes are one route with several hosts.
	OneRoute bool
}

// Field is a field that a route adds to its events. Its value may contain values of the request, such as
// {id} and {request.host}.
type Field struct{ Name, Value string }

// Default returns the defaults of all keys except upstreams and routes, which have
// none. The caller owns the result.
func Default() *Config {
	return &Config{
		Namespace: "front-door",
		Listen:    []string{":20000"},
		Admin:     DefaultAdmin,
		Drain:     Drain{Delay: time.Second, Timeout: 10 * time.Second},
		Engine:    EngineLoops,
		Log:       Log{Config: logto.Default(), Level: "info", Events: EventsAll},
		Traces:    Traces{Sample: 100},
		Limits: Limits{
			RequestLimits: RequestLimits{
				UploadRate: 500, DownloadRate: 500,
				ReadTimeout: 20 * time.Second, WriteTimeout: time.Minute,
			},
			Head:          maxHead,
			HeaderTimeout: 10 * time.Second,
			IdleTimeout:   75 * time.Second,
		},
		Constraints: map[string]string{},
	}
}

// DefaultRoute returns a route with the defaults of its other fields.
func DefaultRoute(match, to string) Route {
	return Route{Match: match, To: to, Timeout: 30 * time.Second, Upgrade: []string{"websocket"}}
}

// A Mistake is one mistake in a configuration, in an included file or in the file of
// redirects. What
// and Hint are one line each and contain no control characters.
type Mistake struct {
	File string `json:"file"`
	Line int    `json:"line"`           // 1-based
	Col  int    `json:"column"`         // 1-based, in characters; of the wrong key or value
	What string `json:"what"`           // the problem, with the wrong value
	Hint string `json:"hint,omitempty"` // how to correct it, or ""
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

// Limits are the limits of all requests together and of the connections of
// clients.
type Limits struct {
	RequestLimits

	// Head is the maximum length of a request's head in bytes, from 8 KiB to 64 KiB,
	// the default.
	Head int

	// HeaderTimeout is how long a client may take to send a head, default 10s.
	// IdleTimeout is how long a connection may be idle, default 75s. Zero means
	// the default.
	HeaderTimeout, IdleTimeout time.Duration

	// MaxConnections is the maximum number of connections of clients. Zero, the
	// default, means as many as the limit of open files allows, and the memory. The
	// limit of open files always applies.
	MaxConnections int

	// ConnectionsPerClient is the maximum number of connections from one address,
	// or from one IPv6 /64. It does not apply to trusted proxies. Zero, the
	// default, sets no limit.
	ConnectionsPerClient int
}

// RequestLimits apply to all requests together, or to the requests of a route.
// InFlight, Queue and Rate of a route apply in addition to the limits of all requests.
// In the other fields of a route, 0 means the value for all requests, and NoLimit means
// no limit.
type RequestLimits struct {
	// InFlight is the maximum number of requests in flight, or InFlightAuto. With zero, only
	// open files and the memory limit it.
	InFlight int
	// InFlightShared is the URL of the store of slots, as Rate.Shared. Replicas have InFlight
	// slots together. Empty, the default, limits each replica by itself.
	InFlightShared string
	Queue          Queue
	Rate           Rate

	Body int64 // maximum length of a request's body in bytes

	// UploadRate and DownloadRate are the minimum speeds, in bytes per second, at
	// which a client sends a body and reads a response, averaged over the time that
	// is spent waiting for the client. ReadTimeout and WriteTimeout are how far it
	// may fall short of them, and therefore also how long it may pause.
	UploadRate, DownloadRate  int64
	ReadTimeout, WriteTimeout time.Duration
}

// maxHead is the greatest value of [Limits.Head], and its default.
const maxHead = 64 << 10

// InFlightAuto is the value of [RequestLimits.InFlight] for a limit that follows the capacity of
// the upstreams.
const InFlightAuto = -1

// NoLimit disables a limit of a route that all requests have.
const NoLimit = -1

// NoTimeout is the value of [Route.Timeout] for an upstream that may be silent for any time: a century.
const NoTimeout = 100 * 365 * 24 * time.Hour

// Queue is the queue of the requests that wait while InFlight others are in
// flight.
type Queue struct {
	Length int           // maximum number of waiting requests; 0, the default, refuses them
	Wait   time.Duration // maximum waiting time; default 1s
}

// Rate is a token bucket for each key: Burst requests at once, then one per Every. [Parse] rounds Every to a
// nanosecond. If it is zero, there is no limit.
type Rate struct {
	Per   string // RatePerClient (the default), RatePerRoute, or RatePerHeader and a header's name
	Every time.Duration
	Burst int // at least 1, the default

	// Shared is the URL of the store, as in package limit/redisstore, that the replicas with the
	// same Namespace share. Empty, the default, limits each replica by itself.
	Shared string
}

// Values of [Rate.Per].
const (
	RatePerClient = "client"  // by the client's address, or its IPv6 /64; trusted proxies name the client
	RatePerRoute  = "route"   // one bucket for all requests
	RatePerHeader = "header " // by the value of the header field that follows; requests without it share a bucket
)

// Log configures the events and their destinations.
type Log struct {
	logto.Config

	Level  string // the least severe level that is written: fatal, error, warn, info (the default) or debug
	Events string // EventsAll (the default), EventsCompleted or EventsInteresting

	// SlowerThan is the duration above which a request is interesting. Zero, the default, means longer than 99% of the
	// requests of its route.
	SlowerThan time.Duration
	// Share is the percentage of requests that are interesting anyway, chosen by their trace ids. Default 0.
	Share float64

	// RequestFields and ResponseFields are names of header fields, in lower case, that
	// are added to the completed event. Parse rejects fields that contain secrets.
	RequestFields, ResponseFields []string

	// Redact lists keys with secret values, such as query parameters; see
	// log.Options.
	Redact []string
}

// Values of [Log.Events].
const (
	EventsInteresting = "interesting" // as EventsAll if the request is interesting, otherwise as EventsCompleted
	EventsAll         = "all"         // received, proxying and completed: three events for each request
	EventsCompleted   = "completed"   // only the completed event, which then has the data of the other two
)

// EventsOff is a value of [Route.Events]. It omits all events of a request except
// a completed event of severity WARN or worse.
const EventsOff = "off"

// Secrets returns the keys whose values the log redacts. If header fields are logged, also
// by a route, they include fields that contain secrets, because a Config may not come from
// Parse. With any secret, a logger also redacts the user and the password in URLs; without,
// it saves that work for each field.
func (c *Config) Secrets() []string {
	logged := len(c.Log.RequestFields)+len(c.Log.ResponseFields) > 0 || slices.ContainsFunc(c.Routes,
		func(r Route) bool { return len(r.LogRequestFields)+len(r.LogResponseFields) > 0 })
	if !logged {
		return c.Log.Redact
	}
	return slices.Concat(c.Log.Redact, scalar.SecretHeaders())
}

// asMistakes returns the mistakes in a file.
func asMistakes(found []yamlfile.Mistake) (all Mistakes) {
	for _, m := range found {
		all = append(all, Mistake(m))
	}
	return all
}
