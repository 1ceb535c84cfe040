package front

import (
	"crypto/x509"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/proxy"
)

// serverTLS returns the configuration of the connections to the https servers of an upstream.
func serverTLS(c *config.UpstreamTLS) (t proxy.TLS) {
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
