package config

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/weirhq/weir/front/internal/scalar"
	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/internal/yamlfile"
)

// limitKeys returns the keys of the limits of all requests, of routes, and of
// connections.
func limitKeys() []key {
	return append(slices.Concat(countingKeys("limits"), countingKeys("routes.*.limits"), requestLimitKeys("routes.*.limits")),
		key{Path: "limits.client_timeouts", Read: (*fileReader).Fields},
		key{Path: "limits.head", Doc: "the maximum length of the head of a request",
			Read: one(parseHead, func(c *Config) *int { return &c.Limits.Head })},
		key{Path: "limits.client_timeouts.header", Doc: "the time limit for the head of a request",
			Read: one(scalar.Timeout, func(c *Config) *time.Duration { return &c.Limits.HeaderTimeout })},
		key{Path: "limits.client_timeouts.idle", Doc: "how long a connection may be idle",
			Read: one(scalar.Timeout, func(c *Config) *time.Duration { return &c.Limits.IdleTimeout })},
		key{Path: "limits.max_connections", Doc: "the maximum number of connections",
			Read: one(scalar.Some, func(c *Config) *int { return &c.Limits.MaxConnections })},
		key{Path: "limits.connections_per_client", Doc: "the maximum number of connections from one address",
			Read: one(scalar.Some, func(c *Config) *int { return &c.Limits.ConnectionsPerClient })},
	)
}

// countingKeys returns the key of limits, and the keys of those of [RequestLimits] that count requests.
func countingKeys(path string) []key {
	queue := scalar.QueueKeys(path+".queue", func(f filling) *int { return &f.limits().Queue.Length },
		func(f filling) *time.Duration { return &f.limits().Queue.Wait })
	return append([]key{
		{Path: path, Read: readLimits},
		{Path: path + ".in_flight", Doc: "the maximum number of requests in flight, or auto", Local: true, AddsUp: true,
			Short: "max", Read: readInFlight},
		{Path: path + ".in_flight.max", Doc: "the maximum number of requests in flight",
			Read:     oneLimit(parseInFlight, func(l *RequestLimits) *int { return &l.InFlight }),
			Required: "set how many requests may be in flight, as in: in_flight: {max: 100}"},
		{Path: path + ".in_flight.shared", Doc: "the store by which replicas share the requests in flight",
			Read: readShared(func(l *RequestLimits) *string { return &l.InFlightShared })},
		{Path: path + ".rate", Local: true, AddsUp: true, Short: "limit", Read: (*fileReader).Fields},
		{Path: path + ".rate.per", Doc: "the requests that are counted together", Zero: RatePerClient,
			Read: oneLimit(parsePer, func(l *RequestLimits) *string { return &l.Rate.Per })},
		{Path: path + ".rate.limit", Doc: "the number of requests in a time",
			Read:     oneLimit(yamlfile.Rate, func(l *RequestLimits) *time.Duration { return &l.Rate.Every }),
			Required: "set how many requests are admitted, as in: rate: {limit: 100/s, burst: 20}"},
		{Path: path + ".rate.burst", Doc: "the number of requests that may arrive at once", Zero: 1,
			Read: oneLimit(scalar.Some, func(l *RequestLimits) *int { return &l.Rate.Burst })},
		{Path: path + ".rate.shared", Doc: "the store by which replicas share the rate",
			Read: readShared(func(l *RequestLimits) *string { return &l.Rate.Shared })},
	}, local(queue)...)
}

// requestLimitKeys returns the keys of those of [RequestLimits] that are values of a single request. Off is the value
// NoLimit, because an absent one would be that of all requests or the default.
func requestLimitKeys(path string) []key {
	return []key{
		{Path: path + ".body", Doc: "the maximum size of the body of a request", Zero: int64(NoLimit),
			Off:  func(f filling) { f.limits().Body = NoLimit },
			Read: oneLimit(yamlfile.NotZero(yamlfile.Size), func(l *RequestLimits) *int64 { return &l.Body })},
		{Path: path + ".upload_rate", Doc: "the minimum speed at which a client sends a body",
			Off:  func(f filling) { f.limits().UploadRate = NoLimit },
			Read: oneLimit(yamlfile.NotZero(yamlfile.Speed), func(l *RequestLimits) *int64 { return &l.UploadRate })},
		{Path: path + ".download_rate", Doc: "the minimum speed at which a client reads a response",
			Off:  func(f filling) { f.limits().DownloadRate = NoLimit },
			Read: oneLimit(yamlfile.NotZero(yamlfile.Speed), func(l *RequestLimits) *int64 { return &l.DownloadRate })},
		{Path: path + ".client_timeouts", Read: (*fileReader).Fields},
		{Path: path + ".client_timeouts.read", Doc: "how long a client may pause while it sends a body",
			Off:  func(f filling) { f.limits().ReadTimeout = NoLimit },
			Read: oneLimit(scalar.Timeout, func(l *RequestLimits) *time.Duration { return &l.ReadTimeout })},
		{Path: path + ".client_timeouts.write", Doc: "how long a client may pause while it reads a response",
			Off:  func(f filling) { f.limits().WriteTimeout = NoLimit },
			Read: oneLimit(scalar.Timeout, func(l *RequestLimits) *time.Duration { return &l.WriteTimeout })},
	}
}

// restoreDefaults gives the limits of a route that off has removed their own defaults. Otherwise those of all requests
// would apply, which are the values of defaults.
func (l *RequestLimits) restoreDefaults(all *RequestLimits) {
	unset := Default().Limits
	l.Body = restored(l.Body, all.Body, unset.Body)
	l.UploadRate = restored(l.UploadRate, all.UploadRate, unset.UploadRate)
	l.DownloadRate = restored(l.DownloadRate, all.DownloadRate, unset.DownloadRate)
	l.ReadTimeout = restored(l.ReadTimeout, all.ReadTimeout, unset.ReadTimeout)
	l.WriteTimeout = restored(l.WriteTimeout, all.WriteTimeout, unset.WriteTimeout)
}

// restored returns a limit of a route: unset if it has none and all requests have another one.
func restored[T int64 | time.Duration](own, all, unset T) T {
	if own != 0 || all == unset {
		return own
	}
	return cmp.Or(unset, NoLimit)
}

// oneLimit returns a function that reads a value into a field of the limits that are
// being read.
func oneLimit[T any](parse func(yamlfile.Scalar) (T, *yamlfile.Refusal), field func(*RequestLimits) *T) readFunc {
	return yamlfile.One(parse, func(f filling) *T { return field(f.limits()) })
}

// limits returns the limits that are being read.
func (f filling) limits() *RequestLimits {
	if f.route != nil {
		return &f.route.Limits
	}
	return &f.config.Limits.RequestLimits
}

// readLimits reads a mapping of limits and checks that its keys are consistent.
func readLimits(r *fileReader, p place, n *yamlfile.Node) {
	length := p.Path + ".queue.length"
	delete(r.Positions, length) // of another route
	r.Fields(p, n)
	l := p.To.limits()
	if at, ok := r.Positions[length]; ok && l.InFlight == 0 {
		r.Mistakef(at[0], "add in_flight, or remove it", "requests wait only if in_flight limits the others")
	}
}

func readInFlight(r *fileReader, p place, n *yamlfile.Node) {
	r.Fields(p, n)
	if l := p.To.limits(); l.InFlight == InFlightAuto && l.InFlightShared != "" {
		r.Mistakef(p.Key.Pos, "write a number for max, or remove shared",
			"a limit that follows the capacity of the upstreams cannot be shared")
	}
}

// parseInFlight reads a number of requests, or auto.
func parseInFlight(s yamlfile.Scalar) (int, *yamlfile.Refusal) {
	s.Describe(yamlfile.Form{Words: []string{"auto"}})
	if s.Text == "auto" {
		return InFlightAuto, nil
	}
	n, refused := yamlfile.Count(s)
	switch {
	case refused != nil:
		return 0, yamlfile.Refuse("write a number, or auto", "%s is not a count", yamlfile.Quote(s.Text))
	case n == 0:
		return scalar.Some(s)
	}
	return n, nil
}

// leastHead is the lowest limit of a request's head. Half of it is the least
// that net/http supports.
const leastHead = 8 << 10

func parseHead(s yamlfile.Scalar) (int, *yamlfile.Refusal) {
	size, refused := yamlfile.Size(s)
	if refused == nil && (size < leastHead || size > maxHead) {
		return 0, yamlfile.Refuse("write 8KiB to 64KiB", "%s is not a valid length of a head", yamlfile.Quote(s.Text))
	}
	return int(size), refused
}

// parsePer reads the key of a rate limit.
func parsePer(s yamlfile.Scalar) (string, *yamlfile.Refusal) {
	s.Describe(yamlfile.Form{Name: "header NAME", Words: []string{RatePerClient, RatePerRoute}, Pattern: RatePerHeader + httpsyntax.TokenPattern})
	name, ok := strings.CutPrefix(s.Text, RatePerHeader)
	switch {
	case s.Text == RatePerClient || s.Text == RatePerRoute:
		return s.Text, nil
	case !ok:
		return "", yamlfile.Refuse("it is client, route, or header and its name, as in header X-Api-Key",
			"%s is not known here", yamlfile.Quote(s.Text))
	case !httpsyntax.IsToken(name):
		return "", yamlfile.Refuse("write a name, as in header X-Api-Key", "%s is not the name of a header",
			yamlfile.Quote(name))
	}
	return fmt.Sprint(RatePerHeader, http.CanonicalHeaderKey(name)), nil
}
