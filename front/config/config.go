package config

import (
	"errors"
	"net/netip"
	"slices"
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

// Limits says what the door lets in: the limits of all requests together,
// and of the connections that they come on.
type Limits struct {
	RequestLimits

	// Headers is how many bytes the head of a request may have: 8 KiB to
	// 64 KiB, the default.
	Headers int

	// HeaderTimeout is how long a client may take to send a head, default 10s,
	// and IdleTimeout how long a connection may be unused, default 75s. Zero
	// means the default.
	HeaderTimeout, IdleTimeout time.Duration

	// MaxConnections is how many connections of clients may be open. Zero, the
	// default, is as many as the limit of open files allows, and more than that
	// is never let in.
	MaxConnections int

	// ConnectionsPerClient is how many of them may come from one address, or
	// one /64 of IPv6; trusted proxies may have any number. Zero, the default,
	// is any number for everybody.
	ConnectionsPerClient int
}

// RequestLimits hold for all requests together, or for those of a route, which
// are held to both. The two may differ in InFlight, Queue and Rate: the door's
// are counted for all, the route's for itself. Of the others a route has the
// door's where it says 0; NoLimit is none.
type RequestLimits struct {
	InFlight int // requests served at once. Zero sets no limit but the one that follows from open files
	Queue    Queue
	Rate     Rate

	Body int64 // bytes of a request's body

	// UploadRate and DownloadRate are how many bytes a second a client has to
	// send or take while it is waited for, on the average. It may fall behind
	// by as much as ReadTimeout and WriteTimeout, which are thus also how long
	// it may pause.
	UploadRate, DownloadRate  int64
	ReadTimeout, WriteTimeout time.Duration
}

// MaxHeaders is the greatest value of [Limits.Headers], and its default.
const MaxHeaders = 64 << 10

// NoLimit is the value of a limit that is not to hold.
const NoLimit = -1

// Queue is about the requests that wait to be served when InFlight are.
type Queue struct {
	Length int           // how many; 0, the default, refuses at once
	Wait   time.Duration // how long each of them; default 1s
}

// Rate allows Burst requests at once, and then one Every so often, for
// each key. A zero Every sets no limit.
type Rate struct {
	Per   string // RatePerClient (the default), RatePerRoute, or RatePerHeader and a header's name
	Every time.Duration
	Burst int // at least 1, the default
}

// Values of [Rate.Per].
const (
	RatePerClient = "client"  // the client's address behind trusted proxies, or its /64 of IPv6
	RatePerRoute  = "route"   // all requests have one rate
	RatePerHeader = "header " // the value of the header that follows; requests without it share one rate
)

// defaultLimits is what a file may leave out.
func defaultLimits() Limits {
	return Limits{
		RequestLimits: RequestLimits{
			UploadRate: 500, DownloadRate: 500,
			ReadTimeout: 20 * time.Second, WriteTimeout: time.Minute,
		},
		Headers:       MaxHeaders,
		HeaderTimeout: 10 * time.Second,
		IdleTimeout:   75 * time.Second,
	}
}

// Log says which events are written, how, and where to.
type Log struct {
	// To holds the log's destinations, at least one and each once:
	// LogToStdout (the default), LogToStderr, or the path of a file to append
	// to. Every event goes to each of them, and each has a queue of its own.
	To []string

	Format string // json (the default), json-v1, ltsv, human or auto: a name that log.ParseFormat takes
	Level  string // the least severe level that is written: fatal, error, warn, info (the default) or debug
	Events string // EventsAll (the default) or EventsCompleted

	// RequestHeaders and ResponseHeaders name header fields, in lower case, that
	// are added to the completed event. Parse refuses the names of fields
	// that hold secrets.
	RequestHeaders, ResponseHeaders []string

	// Redact lists keys whose values are secret, such as parameters of
	// queries; see log.Options.
	Redact []string

	Queue  LogQueue
	Rotate LogRotate

	// Fsync is how often a file is told to be on the disk, and not with the
	// operating system alone: at most so often, FsyncEach for after each
	// write, or 0, the default, for never.
	Fsync time.Duration

	// Heartbeat is how often the log says its totals, in an event of its own.
	// Zero is never; default 10s.
	Heartbeat time.Duration
}

// LogQueue is about the events that wait to be written, for each
// destination.
type LogQueue struct {
	Size     int           // bytes that they take at most; default 8 MiB
	WhenFull string        // shed (the default), drop or block: what sink.ParsePolicy takes
	Wait     time.Duration // how long block waits at most before it drops; 0, the default, is for ever
	Linger   time.Duration // how long the first of a batch waits for others; default 0
}

// LogRotate is about the log's files. They are rotated when Size is not
// zero or Daily is set.
type LogRotate struct {
	Size  int64 // bytes beyond which a file is not to grow; 0, the default, sets no bound
	Daily bool  // at midnight, local time
	Keep  int   // how many rotated files are kept; 0, the default, keeps all
	Gzip  bool  // rotated files are compressed
}

// FsyncEach is the value of [Log.Fsync] for after each write.
const FsyncEach time.Duration = -1

// Values of [Log.Events].
const (
	EventsAll       = "all"       // received, proxying and completed: three events for each request
	EventsCompleted = "completed" // the completed event alone, which carries what the other two say
)

// EventsNone is a value of [Route.Events]: only the completed event of a
// request that went wrong, of severity WARN or worse.
const EventsNone = "none"

// Values of [Log.To] that are no paths.
const (
	LogToStdout = "stdout"
	LogToStderr = "stderr"
)

// defaultLog is what a file may leave out: all.
func defaultLog() Log {
	return Log{
		To:        []string{LogToStdout},
		Format:    "json",
		Level:     "info",
		Events:    EventsAll,
		Queue:     LogQueue{Size: 8 << 20, WhenFull: "shed"},
		Heartbeat: 10 * time.Second,
	}
}

// secretHeaders are the fields whose values are never logged.
var secretHeaders = []string{"authorization", "cookie", "proxy-authorization", "set-cookie", "x-api-key"}

// Secrets returns the keys whose values the log hides. They include secretHeaders
// if header fields are logged, because a Config need not come from Parse.
// The log then also hides the user and password in a URL, which it does only for
// loggers that have secrets: such a logger takes longer for each field.
func (c *Log) Secrets() []string {
	if len(c.RequestHeaders) == 0 && len(c.ResponseHeaders) == 0 {
		return c.Redact
	}
	return slices.Concat(c.Redact, secretHeaders)
}
