package front

import (
	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/proxy"
)

// newUpstream returns an upstream with the settings of a configuration.
func newUpstream(c *config.Upstream) (*proxy.Upstream, error) {
	up, err := proxy.NewUpstream(c.Name)
	if err != nil {
		return nil, err
	}
	up.ConnectRetry, up.MaxFields, up.ProxyProtocol = c.ConnectRetry, c.ResponseFields, c.ProxyProtocol
	up.Retry = retryOf(c.Retry)
	up.Secure(serverTLS(c.TLS))
	endpoints := make([]proxy.Endpoint, len(c.Servers))
	for i, s := range c.Servers {
		endpoints[i] = proxy.Endpoint{URL: s.URL, Weight: s.Weight, Backup: s.Backup}
	}
	return up, up.SetServers(endpoints)
}
