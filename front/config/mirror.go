package config

import (
	"slices"

	"github.com/weirhq/weir/front/feature/split"
	"github.com/weirhq/weir/internal/yamlfile"
)

// checkMirror checks that a route with a mirror forwards its requests, and not to the mirror
// itself.
func (d *routeDraft) checkMirror(r *fileReader) {
	if d.Mirror == nil {
		return
	}
	forwards := func(k yamlfile.Scalar) bool { return k.Text == "to" || k.Text == "split" }
	switch {
	case len(d.actions) > 0 && !slices.ContainsFunc(d.actions, forwards):
		r.Mistakef(d.mirrorKey.Pos, "remove it, or replace the action by to or split",
			"only requests that are forwarded can be mirrored")
	case d.Mirror.To == "":
	case d.Mirror.To == d.To || slices.ContainsFunc(d.Split, func(s split.Share) bool { return s.To == d.Mirror.To }):
		r.Mistakef(d.mirrorTo.Pos, "name another upstream",
			"the route forwards to %s, which would get each request twice", yamlfile.Quote(d.Mirror.To))
	}
}
