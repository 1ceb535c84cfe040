package config

import (
	"slices"

	"github.com/weirhq/weir/front/feature/split"
	"github.com/weirhq/weir/internal/yamlfile"
)

// action returns the function that reads a key of a route of which it has exactly one.
func action(read readFunc) readFunc {
	return func(r *fileReader, p place, n *yamlfile.Node) {
		p.To.route.actions = append(p.To.route.actions, p.Key)
		read(r, p, n)
	}
}

// checkAction checks that a route has exactly one action. p is the place of the route.
func (d *routeDraft) checkAction(r *fileReader, p place) {
	const hint = "a route has one of to, split, redirect, respond and files"
	switch {
	case len(d.actions) == 0:
		r.Mistakef(p.Key.Pos, hint, "the route has no action")
	case len(d.actions) > 1:
		r.Mistakef(d.actions[1].Pos, hint, "%s is a second action of the route, after %s",
			yamlfile.Quote(d.actions[1].Text), yamlfile.Quote(d.actions[0].Text))
	}
	if d.Sticky != nil && !d.has("split") {
		split.RefuseSticky(r.File, d.sticky)
	}
}

// has reports whether a key is an action of the route.
func (d *routeDraft) has(action string) bool {
	return slices.ContainsFunc(d.actions, func(k yamlfile.Scalar) bool { return k.Text == action })
}
