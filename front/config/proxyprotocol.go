package config

import (
	"net/netip"

	"github.com/weirhq/weir/front/internal/scalar"
	"github.com/weirhq/weir/internal/yamlfile"
)

// proxyProtocolKeys are the keys of [ProxyProtocol].
var proxyProtocolKeys = []key{
	{Path: "proxy_protocol", Read: readProxyProtocol},
	{Path: "proxy_protocol.from", Doc: "load balancers that send headers of the PROXY protocol",
		Read:     some(scalar.Network, func(c *Config) *[]netip.Prefix { return &c.ProxyProtocol.From }),
		Required: "list the addresses of the load balancers, as in: proxy_protocol: {from: [10.0.0.0/8]}"},
	{Path: "proxy_protocol.required", Doc: "close connections without such a header",
		Read: one(yamlfile.Switch, func(c *Config) *bool { return &c.ProxyProtocol.Required })},
}

func readProxyProtocol(r *fileReader, p place, n *yamlfile.Node) {
	p.To.config.ProxyProtocol = &ProxyProtocol{Required: true}
	r.Fields(p, n)
}
