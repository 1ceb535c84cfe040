package config

import (
	"cmp"
	"slices"

	"github.com/weirhq/weir/front/internal/template"
	"github.com/weirhq/weir/internal/yamlfile"
)

// hasOne reports whether a mapping has one of some keys.
func hasOne(n *yamlfile.Node, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return n.Find(name) != nil })
}

// merge returns the mapping of a route, or of a scope in s, with the values that it inherits. An action of n replaces
// outer actions of other kinds.
func (s *scope) merge(r *fileReader, n *yamlfile.Node) *yamlfile.Node {
	if n.Kind != yamlfile.Mapping {
		return n
	}
	n = s.withoutOffLimits(r, n)
	outer := s.values.For(n)
	if hasOne(n, actionNames) {
		outer.Pairs = slices.DeleteFunc(outer.Pairs, func(p yamlfile.Pair) bool {
			return slices.Contains(actionNames, p.Key.Text) && n.Find(p.Key.Text) == nil
		})
	}
	return r.Merge(routePath, outer, n)
}

// withoutOffLimits returns n without the value off of limits, which it reports, if outer limits count requests: they
// would stay.
func (s *scope) withoutOffLimits(r *fileReader, n *yamlfile.Node) *yamlfile.Node {
	limits := n.Find("limits")
	if limits == nil || !r.IsOff(limits.Value) || len(s.groups) == 0 {
		return n
	}
	r.Mistakef(limits.Value.Pos, "write off for the others, as in limits: {body: off}",
		"\"limits\" cannot be off: those of the group %s that count requests apply too", yamlfile.Quote(s.groups[len(s.groups)-1]))
	kept := *n
	kept.Pairs = slices.DeleteFunc(slices.Clone(n.Pairs), func(p yamlfile.Pair) bool { return p.Key.Text == "limits" })
	return &kept
}

// withoutIdle returns the mapping of a route without the inherited values that have no meaning for its action.
func withoutIdle(r *fileReader, n *yamlfile.Node) *yamlfile.Node {
	if !hasOne(n, actionNames) {
		return n
	}
	kept := *n
	kept.Pairs = slices.DeleteFunc(slices.Clone(n.Pairs), func(p yamlfile.Pair) bool {
		k, known := r.KeyOf(routePath, p.Key.Text)
		return p.Key.Pos.Outer() != nil && known && k.With != nil && !hasOne(n, k.With)
	})
	return &kept
}

// readScope reads the mapping n at p, a scope in p.To.outer, with keys that have the paths of a route. It returns
// the scope, and its values as those of a route.
func readScope(r *fileReader, p place, n *yamlfile.Node, from yamlfile.Outer, keys []key) (*scope, *routeDraft) {
	in := *r
	in.Schema = keys
	s, d := *p.To.outer, &routeDraft{Route: DefaultRoute("", ""), pattern: template.AnyPattern()}
	p.Path, p.To.route = routePath, d
	merged := s.merge(&in, n)
	in.Fields(p, merged)
	if len(d.actions) > 1 {
		d.checkAction(&in, p, merged)
	}
	d.checkPattern(&in)
	d.leadsTo(p.To.reader)
	p.To.scopes = append(p.To.scopes, d)
	s.values = r.Inherited(routePath, merged, from)
	s.settings = append(slices.Clip(s.settings), localSettings(&in, n, from)...)
	return &s, d
}

// readDefaults reads the values of all routes, and of requests without a route.
func readDefaults(r *fileReader, p place, n *yamlfile.Node) {
	p.To.outer = newScope()
	s, d := readScope(r, p, n, yamlfile.Outer{Name: "defaults", At: p.Key.Pos}, p.To.defaultKeysOf)
	p.To.outermost = s
	c, l := p.To.config, &d.Limits
	c.Access, c.ErrorPages, c.ResponseHeaders = d.access, d.ErrorPages, d.ResponseHeaders.Fixed()
	of := &c.Limits.RequestLimits
	of.Body = l.Body
	of.UploadRate, of.DownloadRate = cmp.Or(l.UploadRate, of.UploadRate), cmp.Or(l.DownloadRate, of.DownloadRate)
	of.ReadTimeout, of.WriteTimeout = cmp.Or(l.ReadTimeout, of.ReadTimeout), cmp.Or(l.WriteTimeout, of.WriteTimeout)
}

// readRoutes notes a list of routes, which is read when the defaults are known.
func readRoutes(r *fileReader, p place, n *yamlfile.Node) {
	p.To.reader.routeLists = append(p.To.reader.routeLists, func() {
		p.To.outer = p.To.outermost
		readList(r, p, n)
	})
}

// readList reads a list of routes and groups.
func readList(r *fileReader, p place, n *yamlfile.Node) {
	p.Path = "routes"
	r.RefuseEmpty(p, n)
	for _, element := range r.Elements(p, n) {
		at := p.Below("*", yamlfile.Scalar{Pos: element.Pos})
		group := element.Find("group")
		if group == nil {
			readRoute(r, at, element)
			continue
		}
		for _, pair := range element.Pairs {
			if pair.Key != group.Key {
				r.Mistakef(pair.Key.Pos, "move it into the group", "%s is beside a group", yamlfile.Quote(pair.Key.Text))
			}
		}
		readGroup(r, at.Below("group", group.Key), group.Value)
	}
}

// localSettings returns the settings of a scope that apply in addition to those of routes: its rules of access, and its
// limits that count.
func localSettings(r *fileReader, n *yamlfile.Node, from yamlfile.Outer) (all []Setting) {
	for _, pair := range n.Pairs {
		switch pair = shown(pair); pair.Key.Text {
		case "access":
			all = appendSettings(all, "", pair)
		case "limits":
			for _, limit := range pair.Value.Pairs {
				if k, _ := r.KeyOf(routePath+".limits", limit.Key.Text); k.Local {
					all = appendSettings(all, "limits.", limit)
				}
			}
		}
	}
	for i := range all {
		all[i].From = from.Name
	}
	return all
}
