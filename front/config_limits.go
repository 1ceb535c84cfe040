package front

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/weirhq/weir/internal/httpsyntax"
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
		key{path: "limits.headers", read: one(parseHeaders, func(p place) *int { return &p.config.Limits.Headers })},
		key{path: "limits.timeouts.header", read: one(parseTimeout, func(p place) *time.Duration { return &p.config.Limits.HeaderTimeout })},
		key{path: "limits.timeouts.idle", read: one(parseTimeout, func(p place) *time.Duration { return &p.config.Limits.IdleTimeout })},
		key{path: "limits.max_connections", read: one(parseSome, func(p place) *int { return &p.config.Limits.MaxConnections })},
		key{path: "limits.connections_per_client", read: one(parseSome, func(p place) *int { return &p.config.Limits.ConnectionsPerClient })},
	)
}

// requestLimitKeys are the keys that stand below both.
func requestLimitKeys(path string) []key {
	return []key{
		{path: path, read: (*reader).limits},
		{path: path + ".in_flight", read: one(parseSome, func(p place) *int { return &p.limits().InFlight })},
		{path: path + ".queue", read: (*reader).fields},
		{path: path + ".queue.length", read: one(parseSome, func(p place) *int { return &p.limits().Queue.Length }), required: "say how many requests may wait, as in: queue: {length: 100, wait: 1s}"},
		{path: path + ".queue.wait", read: one(parseTimeout, func(p place) *time.Duration { return &p.limits().Queue.Wait })},
		{path: path + ".rate", read: (*reader).fields},
		{path: path + ".rate.per", read: one(parsePer, func(p place) *string { return &p.limits().Rate.Per })},
		{path: path + ".rate.every", read: one(parseTimeout, func(p place) *time.Duration { return &p.limits().Rate.Every }), required: "say how often a request may come, as in: rate: {every: 100ms, burst: 20}"},
		{path: path + ".rate.burst", read: one(parseSome, func(p place) *int { return &p.limits().Rate.Burst })},
		{path: path + ".body", read: one(orNone(parseSize), func(p place) *int64 { return &p.limits().Body })},
		{path: path + ".upload_rate", read: one(orNone(parseSpeed), func(p place) *int64 { return &p.limits().UploadRate })},
		{path: path + ".download_rate", read: one(orNone(parseSpeed), func(p place) *int64 { return &p.limits().DownloadRate })},
		{path: path + ".timeouts", read: (*reader).fields},
		{path: path + ".timeouts.read", read: one(orNone(parseTimeout), func(p place) *time.Duration { return &p.limits().ReadTimeout })},
		{path: path + ".timeouts.write", read: one(orNone(parseTimeout), func(p place) *time.Duration { return &p.limits().WriteTimeout })},
	}
}

// limits returns the limits that are being filled.
func (p place) limits() *RequestLimits {
	if p.route != nil {
		return &p.route.Limits
	}
	return &p.config.Limits.RequestLimits
}

// limits reads a mapping of limits, and checks what they say of each other.
func (r *reader) limits(p place, n ast.Node) {
	length := p.path + ".queue.length"
	delete(r.stood, length) // another route's
	r.fields(p, n)
	l := p.limits()
	if at, ok := r.stood[length]; ok && l.InFlight == 0 {
		r.mistakef(at[0], "write in_flight beside it, or remove it", "nobody waits where nothing limits the requests in flight")
	}
}

// parseSome reads a number of things, at least one.
func parseSome(s scalar) (int, *refusal) {
	n, refused := parseCount(s)
	if refused == nil && n == 0 {
		return 0, refuse("write 1 or more, or remove it", "%s lets nothing in", quote(s.text))
	}
	return n, refused
}

// orNone returns a parser that takes the word none, too.
func orNone[T int64 | time.Duration](parse func(scalar) (T, *refusal)) func(scalar) (T, *refusal) {
	return func(s scalar) (T, *refusal) {
		if s.text == "none" {
			return NoLimit, nil
		}
		v, refused := parse(s)
		if refused == nil && v == 0 {
			return 0, refuse("write none to have no limit", "%s lets nothing in", quote(s.text))
		}
		return v, refused
	}
}

// parseSpeed reads bytes per second.
func parseSpeed(s scalar) (int64, *refusal) {
	text, ok := strings.CutSuffix(s.text, "/s")
	if !ok {
		return 0, refuse("write bytes and /s, as in 500B/s or 20KiB/s", "%s is not a speed", quote(s.text))
	}
	s.text = text
	return parseSize(s)
}

// leastHeaders is the least bound of a head: net/http cannot have less than a
// half of it.
const leastHeaders = 8 << 10

func parseHeaders(s scalar) (int, *refusal) {
	size, refused := parseSize(s)
	if refused == nil && (size < leastHeaders || size > maxHead) {
		return 0, refuse("write 8KiB to 64KiB", "%s is not a length for heads", quote(s.text))
	}
	return int(size), refused
}

// parsePer reads whom a rate is for.
func parsePer(s scalar) (string, *refusal) {
	name, ok := strings.CutPrefix(s.text, RatePerHeader)
	switch {
	case s.text == RatePerClient || s.text == RatePerRoute:
		return s.text, nil
	case !ok:
		return "", refuse("it is client, route, or header and its name, as in header X-Api-Key", "%s is not known here", quote(s.text))
	case !httpsyntax.IsToken([]byte(name)):
		return "", refuse("write a name, as in header X-Api-Key", "%s is not the name of a header", quote(name))
	}
	return fmt.Sprint(RatePerHeader, http.CanonicalHeaderKey(name)), nil
}
