package upstream

import (
	"crypto/x509"
	"strings"

	"github.com/weirhq/weir/front/upstreams"
	"github.com/weirhq/weir/proxy"
)

// optionsOf returns the options of package proxy for the settings of a configuration, without servers.
func optionsOf(c *upstreams.Upstream) proxy.Options {
	o := proxy.Options{
		HTTP2: c.HTTP2, TLS: serverTLS(c.TLS), ProxyProtocol: c.ProxyProtocol,
		ConnectRetry: c.ConnectRetry, Retry: retryOf(c.Retry), MaxFields: c.ResponseFields,
		Balance: policies[c.Balance], HashKey: hashKey(c.HashBy),
		SlowStart: c.SlowStart, Limit: proxy.ServerLimit(c.Connections),
	}
	if s := c.Sticky; s != nil {
		o.Sticky = &proxy.Sticky{Cookie: s.Cookie, MaxAge: s.MaxAge, Secret: []byte(s.Secret)}
	}
	return o
}

// endpointsOf returns servers as they are configured.
func endpointsOf(servers []upstreams.Server) []proxy.Endpoint {
	endpoints := make([]proxy.Endpoint, len(servers))
	for i, s := range servers {
		endpoints[i] = proxy.Endpoint{URL: s.URL, Weight: s.Weight, Backup: s.Backup}
	}
	return endpoints
}

// policies are the policies by their names in a configuration.
var policies = map[string]proxy.Policy{
	upstreams.BalanceLeastConnections: proxy.LeastConnections,
	upstreams.BalanceTwoChoices:       proxy.TwoChoices,
	upstreams.BalanceHash:             proxy.Hash,
}

// hashKey returns the key of the policy hash.
func hashKey(by string) proxy.HashKey {
	if name, ok := strings.CutPrefix(by, upstreams.HashByHeader); ok {
		return proxy.HashKey{By: proxy.ByHeader, Name: name}
	}
	if name, ok := strings.CutPrefix(by, upstreams.HashByCookie); ok {
		return proxy.HashKey{By: proxy.ByCookie, Name: name}
	}
	if by == upstreams.HashByPath {
		return proxy.HashKey{By: proxy.ByPath}
	}
	return proxy.HashKey{}
}

// retryOf returns the retries of an upstream.
func retryOf(c upstreams.Retry) proxy.Retry {
	r := proxy.Retry{Attempts: c.Attempts, Methods: c.Methods}
	for _, why := range c.On {
		r.On = append(r.On, proxy.RetryReason(why))
	}
	return r
}

// serverTLS returns the configuration of the connections to the https servers of an upstream.
func serverTLS(c *upstreams.TLS) (t proxy.TLS) {
	if c == nil {
		return t
	}
	t = proxy.TLS{Certificate: c.Certificate, Name: c.Name}
	if c.Roots != nil {
		t.Roots = x509.NewCertPool()
		for _, root := range c.Roots {
			t.Roots.AddCert(root)
		}
	}
	return t
}
