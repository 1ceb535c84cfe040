package lease_test

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/limit/lease"
	"github.com/weirhq/weir/limit/lease/leasetest"
)

func TestAlloc(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	l := lease.New(new(leasetest.Store), lease.Options{})
	one := l.Rate(lease.RateOptions{Name: "one", Every: time.Hour, Burst: 500})
	many := l.Rate(lease.RateOptions{Name: "many", Every: time.Hour, Burst: 500, Keys: 1000})
	address, long := netip.MustParseAddr("2001:db8::1"), strings.Repeat("x", 1000)
	for _, c := range []struct {
		name string
		call func()
	}{
		{"a rate of one key, admitted and refused", func() { one.Allow(time.Now(), 0) }},
		{"a client, admitted and refused", func() { many.Allow(time.Now(), lease.KeyOf(address)) }},
		{"a header, admitted and refused", func() { many.Allow(time.Now(), lease.KeyOfString(long)) }},
	} {
		if got := testing.AllocsPerRun(1000, c.call); got != 0 {
			t.Errorf("%s: %v allocations, want 0", c.name, got)
		}
	}
}
