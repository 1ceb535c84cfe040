package front

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/internal/yamlfile"
)

// LimitsConfig says what the door lets in: the limits of all requests together,
// and of the connections that they come on.
type LimitsConfig struct {
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
	Queue    QueueConfig
	Rate     RateConfig

	Body int64 // bytes of a request's body

	// UploadRate and DownloadRate are how many bytes a second a client has to
	// send or take while it is waited for, on the average. It may fall behind
	// by as much as ReadTimeout and WriteTimeout, which are thus also how long
	// it may pause.
	UploadRate, DownloadRate  int64
	ReadTimeout, WriteTimeout time.Duration
}

// NoLimit is the value of a limit that is not to hold.
const NoLimit = -1

// QueueConfig is about the requests that wait to be served when InFlight are.
type QueueConfig struct {
	Length int           // how many; 0, the default, refuses at once
	Wait   time.Duration // how long each of them; default 1s
}

// RateConfig allows Burst requests at once, and then one Every so often, for
// each key. A zero Every sets no limit.
type RateConfig struct {
	Per   string // RatePerClient (the default), RatePerRoute, or RatePerHeader and a header's name
	Every time.Duration
	Burst int // at least 1, the default
}

// Values of [RateConfig.Per].
const (
	RatePerClient = "client"  // the client's address behind trusted proxies, or its /64 of IPv6
	RatePerRoute  = "route"   // all requests have one rate
	RatePerHeader = "header " // the value of the header that follows; requests without it share one rate
)

// defaultLimits is what a file may leave out.
func defaultLimits() LimitsConfig {
	return LimitsConfig{
		RequestLimits: RequestLimits{
			UploadRate: 500, DownloadRate: 500,
			ReadTimeout: 20 * time.Second, WriteTimeout: time.Minute,
		},
		Headers:       maxHead,
		HeaderTimeout: 10 * time.Second,
		IdleTimeout:   75 * time.Second,
	}
}

// filled returns the limits with the default ones for a zero that is none.
func (l LimitsConfig) filled() LimitsConfig {
	d := defaultLimits()
	l.Headers = cmp.Or(l.Headers, d.Headers)
	l.HeaderTimeout = cmp.Or(l.HeaderTimeout, d.HeaderTimeout)
	l.IdleTimeout = cmp.Or(l.IdleTimeout, d.IdleTimeout)
	return l
}

// within returns the limits of one request of a route with limits l, where the
// door has those of d.
func (l RequestLimits) within(d RequestLimits) RequestLimits {
	l.Body = orElse(l.Body, d.Body)
	l.UploadRate = orElse(l.UploadRate, d.UploadRate)
	l.DownloadRate = orElse(l.DownloadRate, d.DownloadRate)
	l.ReadTimeout = orElse(l.ReadTimeout, d.ReadTimeout)
	l.WriteTimeout = orElse(l.WriteTimeout, d.WriteTimeout)
	return l
}

// orElse returns a limit, or another where it is not given; 0 is none then.
func orElse[T int64 | time.Duration](own, other T) T {
	if own == 0 {
		own = other
	}
	return max(own, 0)
}

// limitKeys are the keys of limits: those of the door, and of a route.
func limitKeys() []key {
	return append(append(requestLimitKeys("limits"), requestLimitKeys("routes.*.limits")...),
		key{Path: "limits.headers", Ambiguous: true, Read: yamlfile.One(parseHeaders, func(f filling) *int { return &f.config.Limits.Headers })},
		key{Path: "limits.timeouts.header", Read: yamlfile.One(parseTimeout, func(f filling) *time.Duration { return &f.config.Limits.HeaderTimeout })},
		key{Path: "limits.timeouts.idle", Read: yamlfile.One(parseTimeout, func(f filling) *time.Duration { return &f.config.Limits.IdleTimeout })},
		key{Path: "limits.max_connections", Read: yamlfile.One(parseSome, func(f filling) *int { return &f.config.Limits.MaxConnections })},
		key{Path: "limits.connections_per_client", Read: yamlfile.One(parseSome, func(f filling) *int { return &f.config.Limits.ConnectionsPerClient })},
	)
}

// requestLimitKeys are the keys that stand below both.
func requestLimitKeys(path string) []key {
	return []key{
		{Path: path, Read: readLimits},
		{Path: path + ".in_flight", Read: yamlfile.One(parseSome, func(f filling) *int { return &f.limits().InFlight })},
		{Path: path + ".queue", Read: (*fileReader).Fields},
		{Path: path + ".queue.length", Read: yamlfile.One(parseSome, func(f filling) *int { return &f.limits().Queue.Length }), Required: "say how many requests may wait, as in: queue: {length: 100, wait: 1s}"},
		{Path: path + ".queue.wait", Read: yamlfile.One(parseTimeout, func(f filling) *time.Duration { return &f.limits().Queue.Wait })},
		{Path: path + ".rate", Read: (*fileReader).Fields},
		{Path: path + ".rate.per", Read: yamlfile.One(parsePer, func(f filling) *string { return &f.limits().Rate.Per })},
		{Path: path + ".rate.every", Read: yamlfile.One(parseTimeout, func(f filling) *time.Duration { return &f.limits().Rate.Every }), Required: "say how often a request may come, as in: rate: {every: 100ms, burst: 20}"},
		{Path: path + ".rate.burst", Read: yamlfile.One(parseSome, func(f filling) *int { return &f.limits().Rate.Burst })},
		{Path: path + ".body", Read: yamlfile.One(orNone(yamlfile.Size), func(f filling) *int64 { return &f.limits().Body })},
		{Path: path + ".upload_rate", Read: yamlfile.One(orNone(yamlfile.Speed), func(f filling) *int64 { return &f.limits().UploadRate })},
		{Path: path + ".download_rate", Read: yamlfile.One(orNone(yamlfile.Speed), func(f filling) *int64 { return &f.limits().DownloadRate })},
		{Path: path + ".timeouts", Read: (*fileReader).Fields},
		{Path: path + ".timeouts.read", Read: yamlfile.One(orNone(parseTimeout), func(f filling) *time.Duration { return &f.limits().ReadTimeout })},
		{Path: path + ".timeouts.write", Read: yamlfile.One(orNone(parseTimeout), func(f filling) *time.Duration { return &f.limits().WriteTimeout })},
	}
}

// limits returns the limits that are being filled.
func (f filling) limits() *RequestLimits {
	if f.route != nil {
		return &f.route.Limits
	}
	return &f.config.Limits.RequestLimits
}

// readLimits reads a mapping of limits, and checks what they say of each other.
func readLimits(r *fileReader, p place, n *yamlfile.Node) {
	length := p.Path + ".queue.length"
	delete(r.Stood, length) // another route's
	r.Fields(p, n)
	l := p.To.limits()
	if at, ok := r.Stood[length]; ok && l.InFlight == 0 {
		r.Mistakef(at[0], "write in_flight beside it, or remove it", "nobody waits where nothing limits the requests in flight")
	}
}

// parseSome reads a number of things, at least one.
func parseSome(s yamlfile.Scalar) (int, *yamlfile.Refusal) {
	n, refused := yamlfile.Count(s)
	if refused == nil && n == 0 {
		return 0, yamlfile.Refuse("write 1 or more, or remove it", "%s lets nothing in", yamlfile.Quote(s.Text))
	}
	return n, refused
}

// orNone returns a parser that takes the word none, too.
func orNone[T int64 | time.Duration](parse func(yamlfile.Scalar) (T, *yamlfile.Refusal)) func(yamlfile.Scalar) (T, *yamlfile.Refusal) {
	return func(s yamlfile.Scalar) (T, *yamlfile.Refusal) {
		if s.Text == "none" {
			return NoLimit, nil
		}
		v, refused := parse(s)
		if refused == nil && v == 0 {
			return 0, yamlfile.Refuse("write none to have no limit", "%s lets nothing in", yamlfile.Quote(s.Text))
		}
		return v, refused
	}
}

// leastHeaders is the least bound of a head: net/http cannot have less than a
// half of it.
const leastHeaders = 8 << 10

func parseHeaders(s yamlfile.Scalar) (int, *yamlfile.Refusal) {
	size, refused := yamlfile.Size(s)
	if refused == nil && (size < leastHeaders || size > maxHead) {
		return 0, yamlfile.Refuse("write 8KiB to 64KiB", "%s is not a length for heads", yamlfile.Quote(s.Text))
	}
	return int(size), refused
}

// parsePer reads whom a rate is for.
func parsePer(s yamlfile.Scalar) (string, *yamlfile.Refusal) {
	name, ok := strings.CutPrefix(s.Text, RatePerHeader)
	switch {
	case s.Text == RatePerClient || s.Text == RatePerRoute:
		return s.Text, nil
	case !ok:
		return "", yamlfile.Refuse("it is client, route, or header and its name, as in header X-Api-Key", "%s is not known here", yamlfile.Quote(s.Text))
	case !httpsyntax.IsToken([]byte(name)):
		return "", yamlfile.Refuse("write a name, as in header X-Api-Key", "%s is not the name of a header", yamlfile.Quote(name))
	}
	return fmt.Sprint(RatePerHeader, http.CanonicalHeaderKey(name)), nil
}
