package names_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/weirhq/weir/front/internal/names"
	"github.com/weirhq/weir/internal/proxying"
	"github.com/weirhq/weir/internal/resolve"
	"github.com/weirhq/weir/internal/resolve/resolvetest"
	"github.com/weirhq/weir/internal/testkit"
)

// A recorder has the results of a watcher.
type recorder struct {
	mu      sync.Mutex
	servers []proxying.Endpoint
	results []names.Resolution
	gone    []string
}

// watch runs a watcher of servers until the end of the test.
func watch(t *testing.T, s *resolvetest.Server, maxTTL time.Duration, urls ...string) (*names.Watcher, *recorder) {
	t.Helper()
	rec := new(recorder)
	w := &names.Watcher{
		Resolver: &resolve.Resolver{Servers: []string{s.Addr}, Hosts: os.DevNull},
		MaxTTL:   maxTTL,
		Apply: func(e []proxying.Endpoint) {
			rec.mu.Lock()
			defer rec.mu.Unlock()
			rec.servers = e
		},
		Report: func(r names.Resolution) {
			rec.mu.Lock()
			defer rec.mu.Unlock()
			if r.Gone {
				rec.gone = append(rec.gone, r.URL)
				return
			}
			rec.results = append(rec.results, r)
		},
	}
	var endpoints []proxying.Endpoint
	for _, u := range urls {
		endpoints = append(endpoints, proxying.Endpoint{URL: u})
	}
	w.SetSources(endpoints)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { w.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
	return w, rec
}

// wait waits for a number of results and returns the last one and the servers.
func (r *recorder) wait(t *testing.T, n int) (names.Resolution, string) {
	t.Helper()
	results := func() int {
		r.mu.Lock()
		defer r.mu.Unlock()
		return len(r.results)
	}
	testkit.Await(t, fmt.Sprint(n, " results"), func() bool { return results() >= n })
	r.mu.Lock()
	defer r.mu.Unlock()
	var text []string
	for _, s := range r.servers {
		text = append(text, s.URL+" "+s.Addr)
	}
	return r.results[len(r.results)-1], strings.Join(text, ", ")
}

// TestWatchFollowsAddressesOfName resolves a name between two addresses. A failure keeps the addresses.
func TestWatchFollowsAddressesOfName(t *testing.T) {
	s := resolvetest.Start(t)
	s.Set("shop.example", 1, resolvetest.IP("127.0.0.2"), resolvetest.IP("127.0.0.1"))
	_, rec := watch(t, s, time.Hour, "http://127.0.0.9:80", "http://shop.example:8080/app", "http://[::1]:80")
	const around, first = "http://127.0.0.9:80 , %s, http://[::1]:80 ", "http://shop.example:8080/app 127.0.0.1:8080"
	both := fmt.Sprintf(around, first+", http://shop.example:8080/app 127.0.0.2:8080")
	r, servers := rec.wait(t, 1)
	if servers != both || r.Addrs != 2 || len(r.Added) != 2 || r.Err != nil {
		t.Errorf("%s; %+v", servers, r)
	}
	s.Set("shop.example", 1, resolvetest.IP("127.0.0.1"))
	r, servers = rec.wait(t, 2)
	if servers != fmt.Sprintf(around, first) || fmt.Sprint(r.Removed) != "[127.0.0.2:8080]" || len(r.Added) != 0 {
		t.Errorf("after the change: %s; %+v", servers, r)
	}
	s.Fail(resolvetest.ServFail)
	if r, servers = rec.wait(t, 3); servers != fmt.Sprintf(around, first) || r.Err == nil || r.Addrs != 1 {
		t.Errorf("after a failure: %s; %+v", servers, r)
	}
	s.Remove("shop.example")
	s.Fail(resolvetest.None)
	if r, servers = rec.wait(t, 4); servers != fmt.Sprintf(around, first) || r.Err == nil {
		t.Errorf("after the removal: %s; %+v", servers, r)
	}
	s.Set("shop.example", 1) // no address, as a headless service without a pod has
	if r, servers = rec.wait(t, 5); servers != fmt.Sprintf(around, first) || r.Err == nil {
		t.Errorf("after a response without an address: %s; %+v", servers, r)
	}
}

// TestSetSourcesChangesRunningWatcher changes the list of servers of a watcher that runs.
func TestSetSourcesChangesRunningWatcher(t *testing.T) {
	s := resolvetest.Start(t)
	s.Set("stays.example", 3600, resolvetest.IP("127.0.0.1"))
	s.Set("removed.example", 3600, resolvetest.IP("127.0.0.2"))
	s.Set("added.example", 3600, resolvetest.IP("127.0.0.3"))
	w, rec := watch(t, s, time.Hour, "http://stays.example:80", "http://removed.example:80")
	rec.wait(t, 2)
	s.Fail(resolvetest.ServFail)
	w.SetSources([]proxying.Endpoint{{URL: "http://stays.example:80", Weight: 3}, {URL: "http://127.0.0.9:80"}})
	const stays = "http://stays.example:80 127.0.0.1:80"
	r, servers := rec.wait(t, 3) // with another weight, the name is resolved again
	if servers != stays+", http://127.0.0.9:80 " || r.Err == nil || w.Endpoints()[0].Weight != 3 {
		t.Errorf("after a change of the weight: %s; %+v; %+v", servers, r, w.Endpoints())
	}
	s.Fail(resolvetest.None)
	w.SetSources([]proxying.Endpoint{{URL: "http://added.example:80"}, {URL: "http://stays.example:80", Weight: 3}})
	testkit.AwaitEqual(t, "servers after a change of the list", func() string {
		_, servers := rec.wait(t, 4)
		return servers
	}, "http://added.example:80 127.0.0.3:80, "+stays)
	rec.mu.Lock()
	defer rec.mu.Unlock()
	if n := len(rec.gone); n != 1 || rec.gone[0] != "http://removed.example:80" {
		t.Errorf("the names that have gone are %q", rec.gone)
	}
}

// TestNameIsResolvedWhenTTLEnds asks no earlier than the TTL says, and no later than MaxTTL.
func TestNameIsResolvedWhenTTLEnds(t *testing.T) {
	s := resolvetest.Start(t)
	s.Set("long.example", 3600, resolvetest.IP("127.0.0.1"))
	s.Set("short.example", 0, resolvetest.IP("127.0.0.1"))
	_, long := watch(t, s, time.Hour, "http://long.example:80")
	_, bounded := watch(t, s, time.Second, "http://bounded.example:80")
	s.Set("bounded.example", 3600, resolvetest.IP("127.0.0.1"))
	began := time.Now()
	_, short := watch(t, s, time.Hour, "http://short.example:80")
	short.wait(t, 3)
	if took := time.Since(began); took < 2*time.Second {
		t.Errorf("a TTL of 0: three resolutions in %v", took)
	}
	long.wait(t, 1)
	bounded.wait(t, 2)
	if n := s.Asked("long.example"); n != 2 { // A and AAAA
		t.Errorf("a TTL of an hour: %d questions in %v", n, time.Since(began))
	}
}

// TestIncompleteResolutionKeepsAddresses keeps the addresses of a family that could not be asked for.
func TestIncompleteResolutionKeepsAddresses(t *testing.T) {
	if c, err := net.Dial("udp", "[::1]:9"); err != nil {
		t.Skip("this machine has no IPv6:", err)
	} else {
		c.Close()
	}
	s := resolvetest.Start(t)
	s.Set("shop.example", 1, resolvetest.IP("127.0.0.1"), resolvetest.IP("::1"))
	_, rec := watch(t, s, time.Hour, "http://shop.example:80")
	rec.wait(t, 1)
	s.Fail(resolvetest.NoIPv6)
	if r, servers := rec.wait(t, 2); r.Err == nil || !strings.Contains(servers, "[::1]:80") {
		t.Errorf("%s; %+v", servers, r)
	}
}

// TestIncompleteResolutionKeepsIPv4 keeps the addresses of IPv4, for which the question fails.
func TestIncompleteResolutionKeepsIPv4(t *testing.T) {
	s := resolvetest.Start(t)
	s.Set("shop.example", 1, resolvetest.IP("127.0.0.1"))
	_, rec := watch(t, s, time.Hour, "http://shop.example:80")
	rec.wait(t, 1)
	s.Fail(resolvetest.NoIPv4)
	s.Set("shop.example", 1, resolvetest.IP("127.0.0.2"), resolvetest.IP("::1"))
	if r, servers := rec.wait(t, 2); r.Err == nil || !strings.Contains(servers, " 127.0.0.1:80") || r.Addrs != 2 {
		t.Errorf("%s; %+v", servers, r)
	}
}

// TestIncompleteResolutionReplacesAddresses changes the addresses of a name whose server never answers for AAAA.
// Those of the complete family are replaced, each time after the TTL.
func TestIncompleteResolutionReplacesAddresses(t *testing.T) {
	s := resolvetest.Start(t)
	s.Fail(resolvetest.NoIPv6)
	began := time.Now()
	var rec *recorder
	for n := 1; n <= 5; n++ {
		s.Set("shop.example", 1, resolvetest.IP(fmt.Sprintf("127.0.0.%d", n)))
		if rec == nil {
			_, rec = watch(t, s, time.Hour, "http://shop.example:80")
		}
		want := fmt.Sprintf("http://shop.example:80 127.0.0.%d:80", n)
		if r, servers := rec.wait(t, n); servers != want || r.Err == nil || r.Addrs != 1 {
			t.Errorf("%s; %+v; want %s", servers, r, want)
		}
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("a TTL of a second: five resolutions in %v", took)
	}
}

// TestIncompleteServicesReplaceAddresses keeps the addresses of the target that has failed, up to the limit, and
// replaces those of the other one.
func TestIncompleteServicesReplaceAddresses(t *testing.T) {
	s := resolvetest.Start(t)
	ips := func(subnet, n int) (bodies []dnsmessage.ResourceBody) {
		for i := range n {
			bodies = append(bodies, resolvetest.IP(fmt.Sprintf("127.%d.0.%d", subnet, i+1)))
		}
		return bodies
	}
	s.Set("_http._tcp.shop.example", 1, resolvetest.Service(10, 1, 80, "a.example"),
		resolvetest.Service(10, 1, 80, "b.example"))
	s.Set("a.example", 1, ips(1, 200)...)
	s.Set("b.example", 1, ips(2, 50)...)
	_, rec := watch(t, s, time.Hour, "srv+http://_http._tcp.shop.example")
	rec.wait(t, 1)
	s.Remove("b.example")
	s.Set("a.example", 1, ips(3, 250)...)
	r, servers := rec.wait(t, 2)
	kept := strings.Count(servers, "//b.example:80 127.2.")
	if r.Addrs != names.MaxAddrs || r.LeftOut != 300-names.MaxAddrs || kept != names.MaxAddrs-250 ||
		strings.Contains(servers, " 127.1.") {
		t.Errorf("%d addresses, %d of them kept, %d left out: %s", r.Addrs, kept, r.LeftOut, servers)
	}
}

func TestAddressesBeyondTheLimitAreLeftOut(t *testing.T) {
	s := resolvetest.Start(t)
	var bodies []dnsmessage.ResourceBody
	for i := range 300 {
		bodies = append(bodies, resolvetest.IP(fmt.Sprintf("127.1.%d.%d", i/200, i%200+1)))
	}
	s.Set("shop.example", 60, bodies...)
	_, rec := watch(t, s, time.Hour, "http://shop.example:80")
	if r, _ := rec.wait(t, 1); r.Addrs != names.MaxAddrs || r.LeftOut != 300-names.MaxAddrs {
		t.Errorf("%d addresses, %d left out", r.Addrs, r.LeftOut)
	}
}

// TestInheritTakesAddressesOver gives a watcher the addresses of another one, whose name server has failed.
func TestInheritTakesAddressesOver(t *testing.T) {
	s := resolvetest.Start(t)
	s.Set("shop.example", 60, resolvetest.IP("127.0.0.1"))
	before, rec := watch(t, s, time.Hour, "http://shop.example:80")
	rec.wait(t, 1)
	w := new(names.Watcher)
	w.SetSources([]proxying.Endpoint{{URL: "http://other.example:80"}, {URL: "http://shop.example:80"}})
	w.Inherit(before)
	got := w.Endpoints()
	if len(got) != 2 || !got[0].Unresolved || got[1].Unresolved || got[1].Addr != "127.0.0.1:80" {
		t.Errorf("%+v", got)
	}
}

// TestSRVPriorityAndWeightAreUsed resolves SRV records. Those with the lowest priority are used in proportion to their
// weights, and the others are backups.
func TestSRVPriorityAndWeightAreUsed(t *testing.T) {
	s := resolvetest.Start(t)
	s.Set("_http._tcp.shop.example", 60, resolvetest.Service(10, 3, 81, "a.example"),
		resolvetest.Service(10, 0, 82, "b.example"), resolvetest.Service(20, 7, 83, "c.example"),
		resolvetest.Service(30, 0, 84, "gone.example"))
	for i, host := range []string{"a", "b", "c"} {
		s.Set(host+".example", 60, resolvetest.IP(fmt.Sprintf("127.0.0.%d", i+1)))
	}
	w, rec := watch(t, s, time.Hour, "srv+http://_http._tcp.shop.example/app")
	if got := w.Endpoints(); len(got) == 1 && (!got[0].Unresolved || got[0].URL != "http://_http._tcp.shop.example/app") {
		t.Errorf("before: %+v", got)
	}
	r, _ := rec.wait(t, 1)
	want := []proxying.Endpoint{
		{URL: "http://a.example:81/app", Addr: "127.0.0.1:81", Weight: 3},
		{URL: "http://b.example:82/app", Addr: "127.0.0.2:82", Weight: 1},
		{URL: "http://c.example:83/app", Addr: "127.0.0.3:83", Weight: 7, Backup: true},
	}
	if got := w.Endpoints(); !slices.Equal(got, want) || r.Err == nil || !strings.Contains(r.Err.Error(), "gone.example") {
		t.Errorf("%+v, %v", got, r.Err)
	}
}

func TestIsNameDetectsHostNames(t *testing.T) {
	for url, want := range map[string]bool{
		"http://127.0.0.1:80": false, "http://[::1]:80": false, "unix:/run/app.sock": false, "http://localhost:80": false,
		"http://shop:80": true, "http://shop.example:80/app": true, "srv+http://_http._tcp.shop.example": true,
	} {
		if got := names.IsName(url); got != want {
			t.Errorf("%s: %t", url, got)
		}
	}
}
