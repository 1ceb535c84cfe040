package networks

import (
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
)

func TestLookupAgreesWithLinearSearch(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	// addr returns an address of few different ones, so that networks overlap.
	addr := func() netip.Addr {
		b := [16]byte{byte(r.IntN(3)), byte(r.IntN(3)), byte(r.IntN(2) * 255), byte(r.IntN(256))}
		if r.IntN(2) == 0 {
			return netip.AddrFrom4([4]byte(b[:4]))
		}
		return netip.AddrFrom16(b)
	}
	for range 1000 {
		prefixes := make([]netip.Prefix, r.IntN(20))
		for i := range prefixes {
			a := addr()
			prefixes[i], _ = a.Prefix(r.IntN(a.BitLen() + 1))
		}
		set := New(prefixes)
		for range 100 {
			a := addr()
			want := slices.ContainsFunc(prefixes, func(p netip.Prefix) bool { return p.Contains(a) })
			if got := set.Contains(a); got != want {
				t.Fatalf("%v contains %v: %v, want %v", prefixes, a, got, want)
			}
		}
	}
}

func BenchmarkNetworks(b *testing.B) {
	prefixes := make([]netip.Prefix, 10_000)
	for i := range prefixes {
		prefixes[i] = netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(i >> 8), byte(i), 0}), 24)
	}
	set := New(prefixes)
	client := netip.MustParseAddr("10.20.30.40")
	for b.Loop() {
		if !set.Contains(client) {
			b.Fatal("not found")
		}
	}
}
