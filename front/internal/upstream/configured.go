package upstream

import (
	"crypto/x509"
	"strings"

	"github.com/weirhq/weir/front/upstreams"
	"github.com/weirhq/weir/internal/proxying"
)

// optionsOf returns the options of package proxying for the settings of a configuration, without servers.
func optionsOf(c *upstreams.Upstream) proxying.Options {
	o := proxying.Options{
		HTTP2: c.HTTP2, TLS: serverTLS(c.TLS), ProxyProtocol: c.SendProxyProtocol,
		ConnectRetry: c.ConnectWait, Retry: retryOf(c.Retry), MaxFields: c.MaxResponseFields,
		Balance: policies[c.Balance], HashKey: hashKey(c.HashBy),
		SlowStart: c.SlowStart, Limit: proxying.ServerLimit(c.Connections),
	}
	if s := c.Sticky; s != nil {
		o.Sticky = &proxying.Sticky{Cookie: s.Cookie, MaxAge: s.MaxAge, Secret: []byte(s.Secret)}
	}
	return o
}

// endpointsOf returns servers as they are configured.
func endpointsOf(servers []upstreams.Server) []proxying.Endpoint {
	endpoints := make([]proxying.Endpoint, len(servers))
	for i, s := range servers {
		endpoints[i] = proxying.Endpoint{URL: s.URL, Weight: s.Weight, Backup: s.Backup}
	}
	return endpoints
}

// policies are the policies by their names in a configuration.
var policies = map[string]proxying.Policy{
	upstreams.BalanceLeastConnections: proxying.LeastConnections,
	upstreams.BalanceTwoChoices:       proxying.TwoChoices,
	upstreams.BalanceHash:             proxying.Hash,
}

// hashKey returns the key of the policy hash.
func hashKey(by string) proxying.HashKey {
	if name, ok := strings.CutPrefix(by, upstreams.HashByHeader); ok {
		return proxying.HashKey{By: proxying.ByHeader, Name: name}
	}
	if name, ok := strings.CutPrefix(by, upstreams.HashByCookie); ok {
		return proxying.HashKey{By: proxying.ByCookie, Name: name}
	}
	if by == upstreams.HashByPath {
		return proxying.HashKey{By: proxying.ByPath}
	}
	return proxying.HashKey{}
}

// retryOf returns the retries of an upstream.
func retryOf(c upstreams.Retry) proxying.Retry {
	r := proxying.Retry{Attempts: c.Attempts, Methods: c.Methods}
	for _, why := range c.On {
		r.On = append(r.On, proxying.RetryReason(why))
	}
	return r
}

// serverTLS returns the configuration of the connections to the https servers of an upstream.
func serverTLS(c *upstreams.TLS) (t proxying.TLS) {
	if c == nil {
		return t
	}
	t = proxying.TLS{Certificate: c.Certificate, Name: c.Name}
	if c.Roots != nil {
		t.Roots = x509.NewCertPool()
		for _, root := range c.Roots {
			t.Roots.AddCert(root)
		}
	}
	return t
}
