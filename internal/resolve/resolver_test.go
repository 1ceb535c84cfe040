package resolve_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/weirhq/weir/internal/resolve"
	"github.com/weirhq/weir/internal/resolve/resolvetest"
)

// newResolver returns a resolver of a name server, with an empty file of hosts.
func newResolver(t *testing.T, s *resolvetest.Server) *resolve.Resolver {
	t.Helper()
	return &resolve.Resolver{Servers: []string{s.Addr}, Hosts: os.DevNull}
}

// briefly returns a context for a question that is not answered.
func briefly(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	t.Cleanup(cancel)
	return ctx
}

func TestAddressesAreResolved(t *testing.T) {
	s := resolvetest.Start(t)
	s.Set("both.example", 30, resolvetest.IP("2001:db8::1"), resolvetest.IP("192.0.2.2"), resolvetest.IP("192.0.2.1"))
	s.Set("alias.example", 20, resolvetest.Alias("more.example"))
	s.Set("more.example", 10, resolvetest.Alias("both.example"))
	s.Set("apart.example", 5, resolvetest.Alias("alias.example"))
	s.Set("empty.example", 30)
	s.Set("loop.example", 30, resolvetest.Alias("loop.example"))
	s.Set("far.example", 30, resolvetest.Alias("nowhere.example"))
	all := "[192.0.2.1 192.0.2.2 2001:db8::1]"
	for _, c := range []struct {
		name, want string
		ttl        time.Duration
		err        string
	}{
		{name: "both.example", want: all, ttl: 30 * time.Second},
		{name: "BOTH.example.", want: all, ttl: 30 * time.Second},
		{name: "apart.example", want: all, ttl: 5 * time.Second},
		{name: "empty.example", want: "[]", ttl: time.Second, err: "empty.example: no record of type A: not found"},
		{name: "missing.example", want: "[]", ttl: time.Second, err: "missing.example: not found"},
		{name: "far.example", want: "[]", err: "far.example: not found"},
		{name: "loop.example", want: "[]", err: "loop.example: no record of type A: not found"},
	} {
		a, err := newResolver(t, s).Addresses(t.Context(), c.name)
		if got := fmt.Sprint(a.Addrs); got != c.want || a.TTL != c.ttl || fmt.Sprint(err) != fmt.Sprint(orNil(c.err)) {
			t.Errorf("%s: %s for %v, %v; want %s for %v, %v", c.name, got, a.TTL, err, c.want, c.ttl, c.err)
		}
	}
}

// orNil returns nil for an empty text.
func orNil(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// The name servers send wrong responses. The resolver uses no forged address, and reports an error or uses the next
// server.
func TestFaultsYieldNoForgedAddress(t *testing.T) {
	for _, c := range []struct {
		fault resolvetest.Fault
		addrs string
		err   string // a part of it
	}{
		{resolvetest.None, "[192.0.2.1]", ""},
		{resolvetest.ServFail, "[]", "it responds with SERVFAIL"},
		{resolvetest.Silent, "[]", "i/o timeout"},
		{resolvetest.Garbage, "[]", "i/o timeout"},
		{resolvetest.Malformed, "[]", "malformed"},
		{resolvetest.Spoofed, "[]", "i/o timeout"},
		{resolvetest.SpoofFirst, "[192.0.2.1]", ""},
		{resolvetest.Truncated, "[192.0.2.1]", ""},
		{resolvetest.NoTCP, "[]", "EOF"},
	} {
		s, second := resolvetest.Start(t), resolvetest.Start(t)
		s.Set("shop.example", 30, resolvetest.IP("192.0.2.1"))
		second.Set("shop.example", 30, resolvetest.IP("192.0.2.9"))
		s.Fail(c.fault)
		r := newResolver(t, s)
		a, err := r.Addresses(briefly(t), "shop.example")
		if got := fmt.Sprint(a.Addrs); got != c.addrs || (err == nil) != (c.err == "") ||
			err != nil && (!strings.Contains(err.Error(), c.err) || errors.Is(err, resolve.ErrNotFound)) {
			t.Errorf("fault %d: %s, %v; want %s, %q", c.fault, got, err, c.addrs, c.err)
		}
		if c.err == "" || strings.Contains(c.err, "timeout") {
			continue
		}
		r.Servers = append(r.Servers, second.Addr)
		if a, err := r.Addresses(t.Context(), "shop.example"); err != nil || fmt.Sprint(a.Addrs) != "[192.0.2.9]" {
			t.Errorf("fault %d, with a second server: %v, %v", c.fault, a.Addrs, err)
		}
	}
}

// The response for one family of addresses is lost.
func TestLostAddressFamilyIsReported(t *testing.T) {
	s := resolvetest.Start(t)
	s.Set("shop.example", 30, resolvetest.IP("192.0.2.1"), resolvetest.IP("2001:db8::1"))
	for fault, want := range map[resolvetest.Fault]string{
		resolvetest.NoIPv6: "[192.0.2.1]", resolvetest.NoIPv4: "[2001:db8::1]",
	} {
		s.Fail(fault)
		a, err := newResolver(t, s).Addresses(t.Context(), "shop.example")
		if err != nil || fmt.Sprint(a.Addrs) != want || a.Incomplete == nil || a.LacksIPv4 != (fault == resolvetest.NoIPv4) {
			t.Errorf("%v, %v, %t, %v; want %s", a.Addrs, a.Incomplete, a.LacksIPv4, err, want)
		}
	}
}

// The response fits only in TCP.
func TestManyAddressesAreResolvedOverTCP(t *testing.T) {
	s := resolvetest.Start(t)
	var bodies []dnsmessage.ResourceBody
	for i := range 100 {
		bodies = append(bodies, resolvetest.IP(fmt.Sprintf("192.0.2.%d", i)))
	}
	s.Set("shop.example", 30, bodies...)
	a, err := newResolver(t, s).Addresses(t.Context(), "shop.example")
	if err != nil || len(a.Addrs) != 100 {
		t.Errorf("%d addresses, %v", len(a.Addrs), err)
	}
}

func TestServicesAreResolved(t *testing.T) {
	s := resolvetest.Start(t)
	s.Set("_http._tcp.shop.example", 30, resolvetest.Service(20, 0, 81, "c.example"),
		resolvetest.Service(10, 5, 80, "b.example"), resolvetest.Service(10, 60, 80, "a.example"))
	a, err := newResolver(t, s).Services(t.Context(), "_http._tcp.shop.example")
	want := []resolve.Service{{"a.example", 80, 10, 60}, {"b.example", 80, 10, 5}, {"c.example", 81, 20, 0}}
	if err != nil || !slices.Equal(a.Services, want) || a.TTL != 30*time.Second {
		t.Errorf("%v for %v, %v", a.Services, a.TTL, err)
	}
	if _, err := newResolver(t, s).Services(t.Context(), "_http._tcp.other.example"); !errors.Is(err, resolve.ErrNotFound) {
		t.Error(err)
	}
}

// TestHostsFileAndSearchDomainsApply resolves names by a file of hosts and the search domains of a resolv.conf.
func TestHostsFileAndSearchDomainsApply(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	r := &resolve.Resolver{
		Hosts: write("hosts", "# a comment\n192.0.2.7 db Shop.example # shop2\n2001:db8::7 shop.example\nbad shop.example\n"),
	}
	r.ResolvConf = write("resolv.conf", "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n")
	for _, name := range []string{"shop.example", "SHOP.example."} {
		a, err := r.Addresses(t.Context(), name)
		if err != nil || a.TTL != resolve.HostsTTL ||
			!slices.Equal(a.Addrs, []netip.Addr{netip.MustParseAddr("192.0.2.7"), netip.MustParseAddr("2001:db8::7")}) {
			t.Errorf("%s: %v for %v, %v", name, a.Addrs, a.TTL, err)
		}
	}
	if c, err := net.ListenPacket("udp", "127.0.0.1:0"); err == nil {
		defer c.Close()
		r.Servers = []string{c.LocalAddr().String()}
		if _, err := r.Addresses(briefly(t), "shop2"); err == nil {
			t.Error("a comment is a name")
		}
	}
}
