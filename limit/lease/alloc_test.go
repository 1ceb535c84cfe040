package lease_test

import (
	"net/netip"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/limit"
	"github.com/weirhq/weir/limit/lease"
	"github.com/weirhq/weir/limit/lease/leasetest"
)

func TestLeasesAllocateNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	l := lease.New(new(leasetest.Store), lease.Options{})
	one := l.Rate("one", limit.RateOptions{Every: time.Hour, Burst: 500, Keys: 1})
	many := l.Rate("many", limit.RateOptions{Every: time.Hour, Burst: 500, Keys: 1000})
	address, long := netip.MustParseAddr("2001:db8::1"), strings.Repeat("x", 1000)
	for _, c := range []struct {
		name string
		call func()
	}{
		{"a rate of one key, admitted and refused", func() { one.Allow(time.Now(), limit.Key{}) }},
		{"a client, admitted and refused", func() { many.Allow(time.Now(), limit.KeyOf(address)) }},
		{"several tokens", func() { many.AllowN(time.Now(), limit.KeyOf(address), 3) }},
		{"a header, admitted and refused", func() { many.Allow(time.Now(), limit.KeyOfString(long)) }},
	} {
		if got := testing.AllocsPerRun(1000, c.call); got != 0 {
			t.Errorf("%s: %v allocations, want 0", c.name, got)
		}
	}
}

// TestLeaseMemoryAllocIsBounded measures the memory of a Rate whose leases are all in use.
func TestLeaseMemoryAllocIsBounded(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	const keys = 100_000
	before := heap()
	r := lease.New(new(leasetest.Store), lease.Options{}).
		Rate("GET /a/path/{of}", limit.RateOptions{Every: time.Hour, Burst: 2, Keys: keys})
	for i := range uint64(3 * keys) {
		r.Allow(time.Now(), limit.KeyOfString(strconv.FormatUint(i, 10)))
	}
	used := float64(heap()-before) / keys
	t.Logf("%.0f bytes for each of Keys", used)
	if used > 400 {
		t.Errorf("%.0f bytes for each of Keys, want at most 400", used)
	}
	if n := r.Stats().Keys; n > keys {
		t.Errorf("%d leases, want at most %d", n, keys)
	}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
