package resolve

import (
	"cmp"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A client sends the queries of one call.
type client struct {
	servers []string
	domains []string // that are tried as the end of a name; each ends in a dot
	ndots   int      // a name with so many dots is tried as it is first

	timeout  time.Duration // of one query to one server
	attempts int           // of each server
}

// newClient returns a client for the name servers, if there are any. Otherwise it has the
// settings of a resolv.conf, see resolv.conf(5).
func newClient(servers []string, resolvConf string) *client {
	c := &client{servers: servers, ndots: 1, timeout: 5 * time.Second, attempts: 2}
	if len(c.servers) > 0 {
		return c
	}
	text, _ := os.ReadFile(cmp.Or(resolvConf, "/etc/resolv.conf")) // without one, the defaults apply
	for line := range strings.Lines(string(text)) {
		c.setting(line)
	}
	if len(c.servers) == 0 {
		c.servers = []string{"127.0.0.1:53", "[::1]:53"}
	}
	return c
}

// setting applies a line of resolv.conf. It ignores one that is invalid or unknown.
func (c *client) setting(line string) {
	words := strings.Fields(line)
	if len(words) < 2 {
		return
	}
	switch values := words[1:]; words[0] {
	case "nameserver":
		if addr, err := netip.ParseAddr(values[0]); err == nil && len(c.servers) < 3 {
			c.servers = append(c.servers, net.JoinHostPort(addr.String(), "53"))
		}
	case "domain":
		c.domains = []string{complete(values[0])}
	case "search":
		c.domains = nil
		for _, domain := range values {
			if domain != "." {
				c.domains = append(c.domains, complete(domain))
			}
		}
	case "options":
		for _, option := range values {
			name, value, _ := strings.Cut(option, ":")
			n, err := strconv.Atoi(value)
			switch {
			case err != nil:
			case name == "ndots":
				c.ndots = min(max(n, 0), 15)
			case name == "timeout":
				c.timeout = time.Duration(min(max(n, 1), 30)) * time.Second
			case name == "attempts":
				c.attempts = min(max(n, 1), 5)
			}
		}
	}
}

// candidates returns the complete names for a name, in the order in which they are tried.
func (c *client) candidates(name string) []string {
	whole := complete(name)
	if strings.HasSuffix(name, ".") || len(c.domains) == 0 {
		return []string{whole}
	}
	var all []string
	for _, domain := range c.domains {
		all = append(all, whole+domain)
	}
	if strings.Count(name, ".") >= c.ndots {
		return append([]string{whole}, all...)
	}
	return append(all, whole)
}

// complete returns a name with a dot at its end.
func complete(name string) string { return strings.TrimSuffix(name, ".") + "." }

// hosts returns the addresses of a name in a file, which is /etc/hosts if path is empty.
func hosts(path, name string) (addrs []netip.Addr) {
	text, _ := os.ReadFile(cmp.Or(path, "/etc/hosts")) // without one, no name is in it
	name = strings.TrimSuffix(name, ".")
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if !slices.ContainsFunc(words[min(1, len(words)):], func(w string) bool { return strings.EqualFold(w, name) }) {
			continue
		}
		if addr, err := netip.ParseAddr(words[0]); err == nil {
			addrs = append(addrs, addr.Unmap())
		}
	}
	slices.SortFunc(addrs, netip.Addr.Compare)
	return slices.Compact(addrs)
}
