package natssink

import (
	"crypto/tls"
	"net"
	"net/url"
	"slices"

	"github.com/nats-io/nats.go"
)

// A cluster is the servers to which a [Destination] can connect, as URLs. Servers name the others of their cluster.
type cluster struct {
	named []string // of the URL, and others that have a host name or need none
	bare  []string // others that a server has named by an IP address, which their certificates may lack
	host  string   // host name in the certificate of the last connection; empty without TLS, or with an IP address
}

// learn adds the servers that a connection knows.
func (c *cluster) learn(servers []string) {
	c.bare = nil
	for _, server := range servers {
		switch {
		case slices.Contains(c.named, server):
		case c.host != "" && isBare(server):
			c.bare = append(c.bare, server)
		default:
			c.named = append(c.named, server)
		}
	}
}

// attempts returns the options of the connections to try, one after the other. A certificate of a server that is named by
// an address has the host name of the last server, as nats.go expects, or the address.
func (c *cluster) attempts(o nats.Options) []nats.Options {
	named := o
	named.Servers = c.named
	if len(c.bare) == 0 {
		return []nats.Options{named}
	}
	o.Servers = c.bare
	host := o
	host.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	if o.TLSConfig != nil {
		host.TLSConfig = o.TLSConfig.Clone()
	}
	host.TLSConfig.ServerName = c.host
	return []nats.Options{named, host, o}
}

func (c *cluster) all() []string { return slices.Concat(c.named, c.bare) }

// isBare reports whether the host of a URL is an IP address.
func isBare(server string) bool {
	u, err := url.Parse(server)
	return err == nil && net.ParseIP(u.Hostname()) != nil
}
