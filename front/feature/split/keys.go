package split

import (
	"slices"
	"time"

	"github.com/weirhq/weir/front/condition"
	"github.com/weirhq/weir/front/internal/scalar"
	"github.com/weirhq/weir/internal/yamlfile"
)

// Share is an upstream that gets a share of the requests of a route.
type Share struct {
	To string // the name of the upstream

	// When assigns all requests to the upstream for which these conditions hold. The
	// first such share of a split gets a request. Without conditions, the weights
	// decide.
	When condition.Set

	// Weight is the number of requests that the upstream gets, relative to the weights of
	// the other shares. With zero, it gets only requests for which When holds, and
	// requests of clients that were assigned to it before; see Sticky.
	Weight int
}

// Sticky is the key sticky_split: it assigns clients by a cookie.
type Sticky struct {
	Cookie string // its name

	// MaxAge is how long browsers keep the cookie, in whole seconds. Zero, the default,
	// keeps it until the browser ends.
	MaxAge time.Duration
}

// Keys returns the keys of the shares of a split at a path. at returns where they are kept, and to the list to
// which the names of their upstreams are added with their positions.
func Keys[T any](path string, at func(T) *[]Share, to func(T) *[]yamlfile.Scalar) []yamlfile.Key[T] {
	last := func(t T) *Share { return lastOf(at(t)) }
	return append([]yamlfile.Key[T]{
		{Path: path, Read: func(r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node) {
			r.Entries(p, n)
			shares := *at(p.To)
			if shares != nil && !slices.ContainsFunc(shares, func(s Share) bool { return s.Weight != 0 }) {
				r.Mistakef(p.Key.Pos, "give one of them a weight above 0", "all weights of the split are 0")
			}
		}},
		{Path: path + ".*", Called: "an entry of the split",
			Read: func(r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node) {
				readShare(r, p, n, at(p.To), to(p.To))
			}},
		{Path: path + ".*.to", Doc: "an upstream of a split", Ambiguous: true,
			Required: "name the upstream, as in: {to: site, weight: 95}",
			Read:     yamlfile.One(scalar.Upstream, func(t T) *yamlfile.Scalar { return lastOf(to(t)) })},
		{Path: path + ".*.weight", Doc: "the share of an upstream of a split",
			Read: yamlfile.One(parseWeight, func(t T) *int { return &last(t).Weight })},
	}, condition.Keys(path+".*.when", func(t T) *condition.Set { return &last(t).When })...)
}

func lastOf[V any](list *[]V) *V { return &(*list)[len(*list)-1] }

// unread is the weight of a share that has none, or one that cannot be read.
const unread = -1

// readShare adds a share, and the name of its upstream.
func readShare[T any](
	r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node, shares *[]Share, to *[]yamlfile.Scalar,
) {
	before := *shares
	*shares, *to = append(before, Share{Weight: unread}), append(*to, yamlfile.Scalar{})
	r.Fields(p, n)
	s, name := lastOf(shares), *lastOf(to)
	s.To = name.Text
	given := func(key string) bool {
		return slices.ContainsFunc(n.Pairs, func(p yamlfile.Pair) bool { return p.Key.Text == key })
	}
	switch {
	case given("weight") || n.Kind != yamlfile.Mapping:
	case given("when"):
		s.Weight = 0
	default:
		r.Mistakef(n.Pos, "set the weight relative to the others, as in: {to: site, weight: 95}",
			"an entry of the split has no weight")
	}
	again := func(other Share) bool { return other.To == s.To && other.When.None() }
	if s.To != "" && s.When.None() && slices.ContainsFunc(before, again) {
		r.Mistakef(name.Pos, "keep one of the two", "the split has %s twice", yamlfile.Quote(s.To))
	}
}

// maxWeight is the greatest weight of a share.
const maxWeight = 1_000_000

func parseWeight(s yamlfile.Scalar) (int, *yamlfile.Refusal) {
	n, refused := yamlfile.Count(s)
	if refused == nil && n > maxWeight {
		return 0, yamlfile.Refuse("write 0 to 1000000", "%s is more than the greatest weight", yamlfile.Quote(s.Text))
	}
	return n, refused
}

// StickyKeys returns the keys of a [Sticky] at a path. at returns where it is kept.
func StickyKeys[T any](path string, at func(T) **Sticky) []yamlfile.Key[T] {
	return []yamlfile.Key[T]{
		{Path: path, Read: func(r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node) {
			*at(p.To) = new(Sticky)
			r.Fields(p, n)
		}},
		{Path: path + ".cookie", Doc: "the cookie that keeps a client at its upstream",
			Required: "name the cookie, as in: sticky_split: {cookie: door}",
			Read:     yamlfile.One(scalar.CookieName, func(t T) *string { return &(*at(t)).Cookie })},
		{Path: path + ".max_age", Doc: "how long browsers keep that cookie",
			Read: yamlfile.One(scalar.CookieAge, func(t T) *time.Duration { return &(*at(t)).MaxAge })},
	}
}
