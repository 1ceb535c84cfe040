package mirror

import (
	"math"
	"strconv"

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
			Required: "name the upstream, as in: mirror: {to: shadow, percent: 10}",
			Read:     yamlfile.One(scalar.Written, to)},
		{Path: path + ".percent", Doc: "the share of the requests that are copied",
			Read: yamlfile.One(parsePercent, func(t T) *int { return &(*at(t)).Share })},
		{Path: path + ".in_flight", Doc: "the maximum number of copies in flight", Ambiguous: true,
			Read: yamlfile.One(scalar.Some, func(t T) *int { return &(*at(t)).InFlight })},
	}
}

// parsePercent reads a percentage of requests as a share of All.
func parsePercent(s yamlfile.Scalar) (int, *yamlfile.Refusal) {
	percent, err := strconv.ParseFloat(s.Text, 64)
	share := math.Round(percent * All / 100)
	if err != nil || !(share >= 1 && percent <= 100) { // NaN fails both
		return 0, yamlfile.Refuse("write a number from 0.0001 to 100", "%s is not a percentage of requests",
			yamlfile.Quote(s.Text))
	}
	return int(share), nil
}
