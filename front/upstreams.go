package front

import (
	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/proxy"
)

// newUpstream returns an upstream with the settings of a configuration, and without servers.
func newUpstream(c *config.Upstream) (*proxy.Upstream, error) {
	up, err := proxy.NewUpstream(c.Name)
	if err != nil {
		return nil, err
	}
	up.ConnectRetry, up.MaxFields, up.ProxyProtocol = c.ConnectRetry, c.ResponseFields, c.ProxyProtocol
	up.Retry = retryOf(c.Retry)
	up.Secure(serverTLS(c.TLS))
	return up, nil
}

// endpointsOf returns the servers of an upstream as they are configured.
func endpointsOf(c *config.Upstream) []proxy.Endpoint {
	endpoints := make([]proxy.Endpoint, len(c.Servers))
	for i, s := range c.Servers {
		endpoints[i] = proxy.Endpoint{URL: s.URL, Weight: s.Weight, Backup: s.Backup}
	}
	return endpoints
}
