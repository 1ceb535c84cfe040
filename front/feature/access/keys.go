package access

import (
	"net/netip"

	"github.com/weirhq/weir/front/internal/scalar"
	"github.com/weirhq/weir/internal/yamlfile"
)

// Config is the key access: it admits clients by their address, which trusted proxies report. A client in a
// network of Deny is refused. Others are admitted if Allow is empty or contains them.
type Config struct {
	Allow, Deny []netip.Prefix // not both empty; no network of Allow is within one of Deny
}

// Keys returns the keys of a [Config] at a path. at returns where it is kept.
func Keys[T any](path string, at func(T) **Config) []yamlfile.Key[T] {
	return []yamlfile.Key[T]{
		{Path: path, NotEmpty: true, Read: func(r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node) {
			a := new(Config)
			*at(p.To) = a
			read(r, p, n, a)
		}},
		{Path: path + ".allow", Doc: "networks whose clients are admitted",
			Read: yamlfile.Some(scalar.Network, func(t T) *[]netip.Prefix { return &(*at(t)).Allow })},
		{Path: path + ".deny", Doc: "networks whose clients are refused",
			Read: yamlfile.Some(scalar.Network, func(t T) *[]netip.Prefix { return &(*at(t)).Deny })},
	}
}

// read reads a mapping of allow and deny.
func read[T any](r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node, a *Config) {
	allow, deny := p.Path+".allow", p.Path+".deny"
	delete(r.Positions, allow) // of another route
	delete(r.Positions, deny)
	r.Fields(p, n)
	if n.Kind == yamlfile.Mapping && len(n.Pairs) == 0 {
		r.Mistakef(n.Pos, "list networks in allow or deny, or remove it", "%s admits all clients",
			yamlfile.Quote(p.Key.Text))
	}
	denied := make(map[netip.Prefix]bool, len(a.Deny))
	for _, network := range a.Deny {
		denied[network] = true
	}
	for i, allowed := range a.Allow {
		for bits := allowed.Bits(); bits >= 0; bits-- {
			if around, _ := allowed.Addr().Prefix(bits); denied[around] {
				r.Mistakef(r.Positions[allow][i], "remove one of the two: deny has precedence, in any order",
					"%s is never allowed, because %s is in deny", allowed, around)
				break
			}
		}
	}
}
