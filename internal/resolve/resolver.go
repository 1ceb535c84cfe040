// Package resolve resolves host names with the time for which the response is valid, which
// package net does not report. It reads /etc/hosts and /etc/resolv.conf at each call, and sends
// its queries over UDP, or over TCP if a response is truncated.
//
// Other sources of names, such as mDNS and the modules of nsswitch.conf, are not used.
package resolve

import (
	"cmp"
	"context"
	"errors"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/miekg/dns"
)

// HostsTTL is the time for which an address of /etc/hosts is valid.
const HostsTTL = 5 * time.Second

// A Resolver resolves names. The zero value uses the name servers of /etc/resolv.conf. It is
// safe for concurrent use.
type Resolver struct {
	// Servers are the name servers, each as an IP address and a port. They are tried in this
	// order. If there are any, resolv.conf is not read, and all names are complete.
	Servers []string

	// ResolvConf and Hosts are the names of the two files. Empty means the files in /etc.
	ResolvConf, Hosts string
}

// Addresses returns all IPv4 and IPv6 addresses of a name.
func (r *Resolver) Addresses(ctx context.Context, name string) (Answer, error) {
	if addrs := hosts(r.Hosts, name); len(addrs) > 0 {
		return Answer{Addrs: addrs, TTL: HostsTTL}, nil
	}
	return r.search(ctx, name, (*client).addresses)
}

// Services returns the SRV records of a name.
func (r *Resolver) Services(ctx context.Context, name string) (Answer, error) {
	return r.search(ctx, name, (*client).services)
}

// search looks a name up, with each search domain. After an error other than [ErrNotFound], it
// does not go on, because the next candidate could be the name of another service.
func (r *Resolver) search(
	ctx context.Context, name string, lookup func(*client, context.Context, string) (Answer, error),
) (a Answer, err error) {
	c := newClient(r.Servers, r.ResolvConf)
	for i, candidate := range c.names.NameList(name) {
		var found Answer
		found, err = lookup(c, ctx, candidate)
		if !errors.Is(err, ErrNotFound) {
			return found, err
		}
		if i == 0 || found.TTL < a.TTL {
			a = found
		}
	}
	return a, err
}

// addresses returns the addresses of a complete name.
func (c *client) addresses(ctx context.Context, name string) (Answer, error) {
	var v4, v6 Answer
	var err4, err6 error
	var both sync.WaitGroup
	both.Go(func() { v4, err4 = c.lookup(ctx, name, dns.TypeA) })
	both.Go(func() { v6, err6 = c.lookup(ctx, name, dns.TypeAAAA) })
	both.Wait()
	switch {
	case err4 == nil && err6 == nil:
		v4.Addrs, v4.TTL = append(v4.Addrs, v6.Addrs...), min(v4.TTL, v6.TTL)
	case err4 == nil:
		v4.Incomplete = unlessNotFound(err6)
	case err6 == nil:
		v4, v4.Incomplete = v6, unlessNotFound(err4)
		v4.LacksIPv4 = v4.Incomplete != nil
	default:
		v4.TTL = max(v4.TTL, v6.TTL)
		return v4, cmp.Or(unlessNotFound(err4), unlessNotFound(err6), err4)
	}
	slices.SortFunc(v4.Addrs, netip.Addr.Compare)
	v4.Addrs = slices.Compact(v4.Addrs)
	return v4, nil
}

// unlessNotFound returns err, or nil if it is [ErrNotFound].
func unlessNotFound(err error) error {
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// services returns the SRV records of a complete name.
func (c *client) services(ctx context.Context, name string) (Answer, error) {
	a, err := c.lookup(ctx, name, dns.TypeSRV)
	slices.SortFunc(a.Services, func(a, b Service) int {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.Target, b.Target), cmp.Compare(a.Port, b.Port),
			cmp.Compare(a.Weight, b.Weight))
	})
	a.Services = slices.Compact(a.Services)
	return a, err
}
