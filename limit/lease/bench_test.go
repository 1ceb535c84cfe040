package lease_test

import (
	"net/netip"
	"testing"

	"github.com/weirhq/weir/limit/lease"
)

func BenchmarkKey(b *testing.B) {
	a := netip.MustParseAddr("2001:db8::1")
	b.Run("address", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			lease.KeyOf(a)
		}
	})
	b.Run("string", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			lease.KeyOfString("Bearer 123456789012345678901234567890")
		}
	})
}
