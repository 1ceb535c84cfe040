package agent

import (
	"net"
	"net/url"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/weirhq/weir/load/settings"
)

// secrets returns the settings that have a secret, such as a password or a key.
func secrets(s settings.Settings) []string {
	var found []string
	if u, err := url.Parse(settings.WithScheme(s.URL)); err == nil && u.User != nil {
		found = append(found, "the user of the URL")
	}
	for _, line := range s.Headers {
		name, _, _ := strings.Cut(line, ":")
		if secretHeaders[strings.ToLower(name)] {
			found = append(found, "the header "+name)
		}
	}
	if s.Cert != "" {
		found = append(found, "the key of the client's certificate")
	}
	return found
}

var secretHeaders = map[string]bool{
	"authorization": true, "proxy-authorization": true, "cookie": true, "x-api-key": true, "x-auth-token": true,
}

// exposure returns a warning if the settings have secrets, and the connection is neither
// encrypted nor on this machine; else "".
func exposure(c *nats.Conn, s settings.Settings) string {
	host, _, err := net.SplitHostPort(c.ConnectedAddr())
	if ip := net.ParseIP(host); err == nil && ip != nil && ip.IsLoopback() {
		return ""
	}
	if _, err := c.TLSConnectionState(); err == nil {
		return ""
	}
	found := secrets(s)
	if len(found) == 0 {
		return ""
	}
	return "the plan crosses the network without encryption, with " + strings.Join(found, ", ") + "; use tls://"
}
