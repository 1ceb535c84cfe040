package upstream

import (
	"crypto/x509"
	"strings"

	"github.com/weirhq/weir/front/upstreams"
	"github.com/weirhq/weir/proxy"
)

// newProxyUpstream returns the upstream of package proxy with the settings of a configuration, and without servers.
func newProxyUpstream(c *upstreams.Upstream) (*proxy.Upstream, error) {
	up, err := proxy.NewUpstream(c.Name)
	if err != nil {
		return nil, err
	}
	up.ConnectRetry, up.MaxFields, up.ProxyProtocol = c.ConnectRetry, c.ResponseFields, c.ProxyProtocol
	up.Retry = retryOf(c.Retry)
	up.SetProtocol(proxy.Protocol{HTTP2: c.HTTP2, TLS: serverTLS(c.TLS)})
	up.Balance, up.HashKey = policies[c.Balance], hashKey(c.HashBy)
	if s := c.Sticky; s != nil {
		up.Sticky = &proxy.Sticky{Cookie: s.Cookie, MaxAge: s.MaxAge, Secret: []byte(s.Secret)}
	}
	up.SlowStart, up.Limit = c.SlowStart, proxy.ServerLimit(c.Connections)
	return up, nil
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
