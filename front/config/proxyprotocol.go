package config

import (
	"net/netip"

	"github.com/weirhq/weir/front/internal/scalar"
	"github.com/weirhq/weir/internal/yamlfile"
)

// proxyProtocolKeys are the keys of [ProxyProtocol].
var proxyProtocolKeys = []key{
	{Path: "proxy_protocol", Read: readProxyProtocol},
	{Path: "proxy_protocol.from",
		Read:     yamlfile.Some(scalar.Network, func(f filling) *[]netip.Prefix { return &f.config.ProxyProtocol.From }),
		Required: "list the addresses of the load balancers, as in: proxy_protocol: {from: [10.0.0.0/8]}"},
	{Path: "proxy_protocol.required",
		Read: yamlfile.One(yamlfile.Switch, func(f filling) *bool { return &f.config.ProxyProtocol.Required })},
}

func readProxyProtocol(r *fileReader, p place, n *yamlfile.Node) {
	p.To.config.ProxyProtocol = &ProxyProtocol{Required: true}
	r.Fields(p, n)
}

// parseProxyVersion reads the version of the header that upstreams get.
func parseProxyVersion(s yamlfile.Scalar) (int, *yamlfile.Refusal) {
	switch s.Text {
	case "v1":
		return 1, nil
	case "v2":
		return 2, nil
	}
	return 0, yamlfile.Refuse("write v1 or v2", "%s is not a version of the PROXY protocol", yamlfile.Quote(s.Text))
}
