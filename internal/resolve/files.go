package resolve

import (
	"cmp"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/miekg/dns"
)

// A client sends the queries of one call.
type client struct {
	servers  []string
	names    dns.ClientConfig // completes names
	timeout  time.Duration    // of one query to one server
	attempts int              // of each server
}

// newClient returns a client for the name servers, if there are any. Otherwise it has the
// settings of a resolv.conf, within the bounds of resolv.conf(5).
func newClient(servers []string, resolvConf string) *client {
	if len(servers) > 0 {
		return &client{servers: servers, timeout: 5 * time.Second, attempts: 2}
	}
	file, err := dns.ClientConfigFromFile(cmp.Or(resolvConf, "/etc/resolv.conf"))
	if err != nil { // without a file, the defaults apply
		file, _ = dns.ClientConfigFromReader(strings.NewReader(""))
	}
	file.Search = slices.DeleteFunc(file.Search, func(domain string) bool { return domain == "." })
	c := &client{names: *file, timeout: time.Duration(min(file.Timeout, 30)) * time.Second, attempts: min(file.Attempts, 5)}
	for _, server := range file.Servers {
		if addr, err := netip.ParseAddr(server); err == nil && len(c.servers) < 3 {
			c.servers = append(c.servers, net.JoinHostPort(addr.String(), "53"))
		}
	}
	if len(c.servers) == 0 {
		c.servers = []string{"127.0.0.1:53", "[::1]:53"}
	}
	return c
}

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
