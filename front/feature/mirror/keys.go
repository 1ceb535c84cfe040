package mirror

import (
	"math"

	"github.com/weirhq/weir/front/internal/scalar"
	"github.com/weirhq/weir/internal/yamlfile"
)

// Config is the key mirror: it sends copies of a share of the requests of a route to an upstream.
type Config struct {
	To string // the name of the upstream, which is none of the route's own

	// Share is the number of copies for All requests. At least 1; the default is
	// All.
	Share int

	// InFlight is the maximum number of copies in flight. At least 1; the default is
	// DefaultInFlight.
	InFlight int
}

// All is the value of [Config.Share] for copies of all requests.
const All = 1_000_000

// DefaultInFlight is the default of [Config.InFlight].
const DefaultInFlight = 100

// Keys returns the keys of a [Config] at a path. at returns where it is kept, and to where the name of the
// upstream is kept with its position.
func Keys[T any](path string, at func(T) **Config, to func(T) *yamlfile.Scalar) []yamlfile.Key[T] {
	return []yamlfile.Key[T]{
		{Path: path, Short: "to", Read: func(r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node) {
			*at(p.To) = &Config{Share: All, InFlight: DefaultInFlight}
			r.Fields(p, n)
			(*at(p.To)).To = to(p.To).Text
		}},
		{Path: path + ".to", Doc: "the upstream that gets copies of requests", Ambiguous: true,
			Required: "name the upstream, as in: mirror: {to: shadow, share: 10%}",
			Read:     yamlfile.One(scalar.Upstream, to)},
		{Path: path + ".share", Doc: "the share of the requests that are copied",
			Read: yamlfile.One(parseShare, func(t T) *int { return &(*at(t)).Share })},
		{Path: path + ".in_flight", Doc: "the maximum number of copies in flight", Ambiguous: true,
			Read: yamlfile.One(scalar.Some, func(t T) *int { return &(*at(t)).InFlight })},
	}
}

// parseShare reads a percentage of requests as a share of All.
func parseShare(s yamlfile.Scalar) (int, *yamlfile.Refusal) {
	percent, refused := scalar.Share(s)
	share := math.Round(percent * All / 100)
	if refused == nil && share < 1 {
		return 0, yamlfile.Refuse("write 0.0001% or more", "%s is too small a share", yamlfile.Quote(s.Text))
	}
	return int(share), refused
}
