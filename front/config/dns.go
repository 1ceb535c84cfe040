package config

import (
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/weirhq/weir/front/internal/scalar"
	"github.com/weirhq/weir/internal/yamlfile"
)

// parseNameServer reads an IP address, perhaps with a port, and returns it with one.
func parseNameServer(s yamlfile.Scalar) (string, *yamlfile.Refusal) {
	s.Describe(yamlfile.Form{Name: "address or address:port", Pattern: `[0-9a-fA-F:.\[\]]+`})
	host, port, err := net.SplitHostPort(s.Text)
	if err != nil {
		host, port = strings.Trim(s.Text, "[]"), "53"
	}
	addr, err := netip.ParseAddr(host)
	if err != nil || !scalar.IsPort(port) || port == "0" {
		return "", yamlfile.Refuse("write an IP address, as in 10.0.0.2 or 10.0.0.2:53", "%s is not a name server",
			yamlfile.Quote(s.Text))
	}
	return net.JoinHostPort(addr.String(), port), nil
}

// parseMaxTTL reads the longest time between two resolutions.
func parseMaxTTL(s yamlfile.Scalar) (time.Duration, *yamlfile.Refusal) {
	d, refused := yamlfile.Duration(s)
	if refused == nil && d < time.Second {
		return 0, yamlfile.Refuse("write 1s or more", "names are not resolved more than once in a second: %s",
			yamlfile.Quote(s.Text))
	}
	return d, refused
}
