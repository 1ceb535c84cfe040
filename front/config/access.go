package config

import (
	"net/netip"

	"github.com/weirhq/weir/internal/yamlfile"
)

// accessKeys returns the keys of [Access] below a path.
func accessKeys(path string) []key {
	return []key{
		{Path: path, Read: readAccess},
		{Path: path + ".allow",
			Read: yamlfile.Some(parseNetwork, func(f filling) *[]netip.Prefix { return &(*f.access()).Allow })},
		{Path: path + ".deny",
			Read: yamlfile.Some(parseNetwork, func(f filling) *[]netip.Prefix { return &(*f.access()).Deny })},
	}
}

// access returns where the Access that is being read is kept: in the route, or for all requests.
func (f filling) access() **Access {
	if f.route != nil {
		return &f.route.Access
	}
	return &f.config.Access
}

// readAccess reads a mapping of allow and deny.
func readAccess(r *fileReader, p place, n *yamlfile.Node) {
	a := new(Access)
	*p.To.access() = a
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
