package names

import (
	"cmp"
	"context"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/proxying"
	"github.com/weirhq/weir/internal/resolve"
)

// An answer is the servers of a name.
type answer struct {
	servers    []proxying.Endpoint
	ttl        time.Duration
	incomplete error // why some servers may be missing
	gaps       []gap // which ones
}

// A gap is the servers that an answer lacks because a query has failed.
type gap struct {
	url        string
	ipv4, ipv6 bool
}

// lacks reports whether a server of an earlier answer is in a gap of this one.
func (a *answer) lacks(e proxying.Endpoint) bool {
	addr, err := netip.ParseAddrPort(e.Addr)
	return err == nil && slices.ContainsFunc(a.gaps, func(g gap) bool {
		return g.url == e.URL && (addr.Addr().Is4() && g.ipv4 || addr.Addr().Is6() && g.ipv6)
	})
}

// after returns the servers of the answer with those of the earlier one that it lacks, up to
// MaxAddrs, and the number of the others.
func (a *answer) after(before []proxying.Endpoint) (servers []proxying.Endpoint, leftOut int) {
	servers = slices.Clone(a.servers)
	for _, e := range before {
		if a.lacks(e) && !contains(a.servers, e) {
			servers = append(servers, e)
		}
	}
	n := min(len(servers), MaxAddrs)
	return servers[:n], len(servers) - n
}

// lookup resolves the name of a server once.
func (w *Watcher) lookup(ctx context.Context, e proxying.Endpoint) (a answer, err error) {
	plain, isSRV := strings.CutPrefix(e.URL, SRV)
	u, err := url.Parse(plain)
	if err != nil {
		return answer{}, err
	}
	s := &source{endpoint: e}
	if isSRV {
		a, err = w.services(ctx, s, u)
	} else {
		a, err = w.addresses(ctx, u.Hostname(), e.URL, func(addr netip.Addr) proxying.Endpoint {
			return s.like(proxying.Endpoint{URL: e.URL, Addr: net.JoinHostPort(addr.String(), portOf(u))})
		})
	}
	return a, err
}

// portOf returns the port of a URL, or that of its scheme.
func portOf(u *url.URL) string {
	if u.Port() == "" && u.Scheme == "https" {
		return "443"
	}
	return cmp.Or(u.Port(), "80")
}

// addresses returns a server for each address of a host. All have the same URL.
func (w *Watcher) addresses(
	ctx context.Context, host, serverURL string, server func(netip.Addr) proxying.Endpoint,
) (answer, error) {
	found, err := w.Resolver.Addresses(ctx, host)
	a := answer{ttl: found.TTL, incomplete: found.Incomplete}
	switch {
	case err != nil:
		a.gaps = []gap{{url: serverURL, ipv4: true, ipv6: true}}
	case found.Incomplete != nil:
		a.gaps = []gap{{url: serverURL, ipv4: found.LacksIPv4, ipv6: !found.LacksIPv4}}
	}
	for _, addr := range reachable(found.Addrs) {
		a.servers = append(a.servers, server(addr))
	}
	return a, err
}

// reachable returns the addresses to which the machine has a route, or all if it has none to any
// of them. A machine without IPv6 would otherwise try to connect to addresses that it cannot
// reach.
func reachable(addrs []netip.Addr) []netip.Addr {
	left := slices.DeleteFunc(slices.Clone(addrs), func(a netip.Addr) bool {
		c, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(netip.AddrPortFrom(a, 9))) // sends nothing
		if err != nil {
			return true
		}
		c.Close()
		return false
	})
	if len(left) == 0 {
		return addrs
	}
	return left
}

// services returns the servers of SRV records. Those with the lowest priority get the requests,
// in proportion to their weights, and all others are backups.
func (w *Watcher) services(ctx context.Context, s *source, u *url.URL) (answer, error) {
	found, err := w.Resolver.Services(ctx, u.Hostname())
	a := answer{ttl: found.TTL}
	if err != nil {
		return a, err
	}
	for _, service := range found.Services {
		if service.Target == "" { // the service is not available at this domain, RFC 2782
			continue
		}
		port := strconv.Itoa(int(service.Port))
		at := *u
		at.Host = net.JoinHostPort(strings.ToLower(service.Target), port)
		hosts, err := w.addresses(ctx, service.Target, at.String(), func(addr netip.Addr) proxying.Endpoint {
			server := s.like(proxying.Endpoint{URL: at.String(), Addr: net.JoinHostPort(addr.String(), port)})
			server.Weight = max(1, int(service.Weight))
			server.Backup = server.Backup || service.Priority > found.Services[0].Priority
			return server
		})
		a.gaps = append(a.gaps, hosts.gaps...)
		if err != nil {
			a.incomplete = err
			continue
		}
		if hosts.incomplete != nil {
			a.incomplete = hosts.incomplete
		}
		a.ttl = min(a.ttl, hosts.ttl)
		a.servers = append(a.servers, hosts.servers...)
	}
	if len(a.servers) == 0 {
		if a.incomplete == nil {
			a.incomplete = resolve.ErrNotFound
		}
		return answer{}, a.incomplete
	}
	return a, nil
}
