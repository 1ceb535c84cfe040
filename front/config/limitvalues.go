package config

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/internal/yamlfile"
)

// limitKeys returns the keys of the limits of all requests, of routes, and of
// connections.
func limitKeys() []key {
	return append(append(requestLimitKeys("limits"), requestLimitKeys("routes.*.limits")...),
		key{Path: "limits.headers", Ambiguous: true, Read: yamlfile.One(parseHeaders, func(f filling) *int { return &f.config.Limits.Headers })},
		key{Path: "limits.timeouts.header", Read: yamlfile.One(parseTimeout, func(f filling) *time.Duration { return &f.config.Limits.HeaderTimeout })},
		key{Path: "limits.timeouts.idle", Read: yamlfile.One(parseTimeout, func(f filling) *time.Duration { return &f.config.Limits.IdleTimeout })},
		key{Path: "limits.max_connections", Read: yamlfile.One(parseSome, func(f filling) *int { return &f.config.Limits.MaxConnections })},
		key{Path: "limits.connections_per_client", Read: yamlfile.One(parseSome, func(f filling) *int { return &f.config.Limits.ConnectionsPerClient })},
	)
}

// requestLimitKeys returns the keys of [RequestLimits] below a path.
func requestLimitKeys(path string) []key {
	return []key{
		{Path: path, Read: readLimits},
		{Path: path + ".in_flight", Read: yamlfile.One(parseSome, func(f filling) *int { return &f.limits().InFlight })},
		{Path: path + ".queue", Read: (*fileReader).Fields},
		{Path: path + ".queue.length", Read: yamlfile.One(parseSome, func(f filling) *int { return &f.limits().Queue.Length }), Required: "set how many requests may wait, as in: queue: {length: 100, wait: 1s}"},
		{Path: path + ".queue.wait", Read: yamlfile.One(parseTimeout, func(f filling) *time.Duration { return &f.limits().Queue.Wait })},
		{Path: path + ".rate", Read: (*fileReader).Fields},
		{Path: path + ".rate.per", Read: yamlfile.One(parsePer, func(f filling) *string { return &f.limits().Rate.Per })},
		{Path: path + ".rate.every", Read: yamlfile.One(parseTimeout, func(f filling) *time.Duration { return &f.limits().Rate.Every }), Required: "set the interval of requests, as in: rate: {every: 100ms, burst: 20}"},
		{Path: path + ".rate.burst", Read: yamlfile.One(parseSome, func(f filling) *int { return &f.limits().Rate.Burst })},
		{Path: path + ".body", Read: yamlfile.One(orNone(yamlfile.Size), func(f filling) *int64 { return &f.limits().Body })},
		{Path: path + ".upload_rate", Read: yamlfile.One(orNone(yamlfile.Speed), func(f filling) *int64 { return &f.limits().UploadRate })},
		{Path: path + ".download_rate", Read: yamlfile.One(orNone(yamlfile.Speed), func(f filling) *int64 { return &f.limits().DownloadRate })},
		{Path: path + ".timeouts", Read: (*fileReader).Fields},
		{Path: path + ".timeouts.read", Read: yamlfile.One(orNone(parseTimeout), func(f filling) *time.Duration { return &f.limits().ReadTimeout })},
		{Path: path + ".timeouts.write", Read: yamlfile.One(orNone(parseTimeout), func(f filling) *time.Duration { return &f.limits().WriteTimeout })},
	}
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
		r.Mistakef(at[0], "add in_flight, or remove it", "requests wait only if in_flight limits those in flight")
	}
}

// parseSome reads a number of at least one.
func parseSome(s yamlfile.Scalar) (int, *yamlfile.Refusal) {
	n, refused := yamlfile.Count(s)
	if refused == nil && n == 0 {
		return 0, yamlfile.Refuse("write 1 or more, or remove it", "%s allows nothing", yamlfile.Quote(s.Text))
	}
	return n, refused
}

// orNone returns a parser that also accepts the word none.
func orNone[T int64 | time.Duration](parse func(yamlfile.Scalar) (T, *yamlfile.Refusal)) func(yamlfile.Scalar) (T, *yamlfile.Refusal) {
	return func(s yamlfile.Scalar) (T, *yamlfile.Refusal) {
		if s.Text == "none" {
			return NoLimit, nil
		}
		v, refused := parse(s)
		if refused == nil && v == 0 {
			return 0, yamlfile.Refuse("write none to have no limit", "%s allows nothing", yamlfile.Quote(s.Text))
		}
		return v, refused
	}
}

// leastHeaders is the lowest limit of a request's head. Half of it is the least
// that net/http supports.
const leastHeaders = 8 << 10

func parseHeaders(s yamlfile.Scalar) (int, *yamlfile.Refusal) {
	size, refused := yamlfile.Size(s)
	if refused == nil && (size < leastHeaders || size > MaxHeaders) {
		return 0, yamlfile.Refuse("write 8KiB to 64KiB", "%s is not a valid length of a head", yamlfile.Quote(s.Text))
	}
	return int(size), refused
}

// parsePer reads the key of a rate limit.
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
