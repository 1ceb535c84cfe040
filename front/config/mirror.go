package config

import (
	"math"
	"slices"
	"strconv"

	"github.com/weirhq/weir/internal/yamlfile"
)

func readMirror(r *fileReader, p place, n *yamlfile.Node) {
	d := p.To.route
	d.Mirror, d.mirror = &Mirror{Share: MirrorAll, InFlight: DefaultMirrorInFlight}, &mirrorDraft{key: p.Key}
	r.Fields(p, n)
	d.Mirror.To = d.mirror.to.Text
	d.others = append(d.others, d.mirror.to)
}

// checkMirror checks that a route with a mirror forwards its requests, and not to the mirror
// itself.
func (d *routeDraft) checkMirror(r *fileReader) {
	if d.Mirror == nil {
		return
	}
	forwards := func(k yamlfile.Scalar) bool { return k.Text == "to" || k.Text == "split" }
	switch {
	case len(d.actions) > 0 && !slices.ContainsFunc(d.actions, forwards):
		r.Mistakef(d.mirror.key.Pos, "remove it, or replace the action by to or split",
			"only requests that are forwarded can be mirrored")
	case d.Mirror.To == "":
	case d.Mirror.To == d.To || slices.ContainsFunc(d.Split, func(s Share) bool { return s.To == d.Mirror.To }):
		r.Mistakef(d.mirror.to.Pos, "name another upstream",
			"the route forwards to %s, which would get each request twice", yamlfile.Quote(d.Mirror.To))
	}
}

// parsePercent reads a percentage of requests as a share of MirrorAll.
func parsePercent(s yamlfile.Scalar) (int, *yamlfile.Refusal) {
	percent, err := strconv.ParseFloat(s.Text, 64)
	share := math.Round(percent * MirrorAll / 100)
	if err != nil || !(share >= 1 && percent <= 100) { // NaN fails both
		return 0, yamlfile.Refuse("write a number from 0.0001 to 100", "%s is not a percentage of requests",
			yamlfile.Quote(s.Text))
	}
	return int(share), nil
}
