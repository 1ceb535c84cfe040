package agent

import (
	"net"
	"net/url"
	"strings"

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

// warnOfSecrets warns if the plan has secrets, and the connection is neither encrypted nor on
// this machine.
func (c *coordinator) warnOfSecrets() {
	host, _, err := net.SplitHostPort(c.conn.ConnectedAddr())
	if ip := net.ParseIP(host); err == nil && ip != nil && ip.IsLoopback() {
		return
	}
	if _, err := c.conn.TLSConnectionState(); err == nil {
		return
	}
	if found := secrets(c.Settings); len(found) > 0 {
		c.later("the plan crosses the network without encryption, with " + strings.Join(found, ", ") + "; use tls://")
	}
}
