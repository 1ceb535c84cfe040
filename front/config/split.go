package config

import (
	"slices"

	"github.com/weirhq/weir/internal/yamlfile"
)

func readSplit(r *fileReader, p place, n *yamlfile.Node) {
	readEntries(r, p, n, readShare)
	d := p.To.route
	if d.Split != nil && !slices.ContainsFunc(d.Split, func(s Share) bool { return s.Weight != 0 }) {
		r.Mistakef(p.Key.Pos, "give one of them a weight above 0", "all weights of the split are 0")
	}
}

// unread is the weight of a share that has none, or one that cannot be read.
const unread = -1

func readShare(r *fileReader, p place, n *yamlfile.Node) {
	d, s := p.To.route, &shareDraft{Share: Share{Weight: unread}}
	p.To.share = s
	r.Fields(p, n)
	s.To = s.to.Text
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
	if s.To != "" && s.When.None() && slices.ContainsFunc(d.Split, again) {
		r.Mistakef(s.to.Pos, "keep one of the two", "the split has %s twice", yamlfile.Quote(s.To))
	}
	d.others = append(d.others, s.to)
	d.Split = append(d.Split, s.Share)
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

func readSticky(r *fileReader, p place, n *yamlfile.Node) {
	p.To.route.Sticky, p.To.route.sticky = new(Sticky), p.Key.Pos
	r.Fields(p, n)
}

// checkSticky checks that a route with sticky has a split.
func (d *routeDraft) checkSticky(r *fileReader) {
	if d.Sticky != nil && !slices.ContainsFunc(d.actions, func(k yamlfile.Scalar) bool { return k.Text == "split" }) {
		r.Mistakef(d.sticky, "remove it, or replace the action by a split", "only a split has clients to be kept")
	}
}
