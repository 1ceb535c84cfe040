package router_test

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/weirhq/weir/router"
)

// All combinations of a few pieces are addresses or not as net/netip decides.
func TestAddressesMatchAsInNetip(t *testing.T) {
	check := func(s string) {
		addr, err := netip.ParseAddr(s)
		if got, want := router.IPv4.Match(s), err == nil && addr.Is4(); got != want {
			t.Errorf("ipv4 of %q: got %v, want %v", s, got, want)
		}
		if got, want := router.IPv6.Match(s), err == nil && addr.Is6() && addr.Zone() == ""; got != want {
			t.Errorf("ipv6 of %q: got %v, want %v", s, got, want)
		}
	}
	var build func(prefix string, pieces []string, most int)
	build = func(prefix string, pieces []string, most int) {
		check(prefix)
		for _, piece := range pieces {
			if most > 0 {
				build(prefix+piece, pieces, most-1)
			}
		}
	}
	build("", []string{"f:", ":", "abcd"}, 9)
	build("1:2:3:4:", []string{"5:", ":", "12345", "1.2.3.4"}, 5)
	build("", []string{"::", "fffF:", "1.2.3.4", "255.255.255.255", "."}, 5)
	build("", []string{"1.", ".", "0", "25"}, 7)
	for n := range 1000 {
		check(fmt.Sprintf("%d.1.1.1", n))
		check(fmt.Sprintf("1.%03d.1.1", n))
		check(fmt.Sprintf("1.1.1.%d", n))
		check(fmt.Sprintf("::1.1.%d.1", n))
	}
	for size := range 60 {
		check(fmt.Sprintf("%0*d", size, 1))
		check(fmt.Sprintf("%0*d::", size, 1))
		check(fmt.Sprintf("::%0*d", size, 1))
		check(fmt.Sprintf("0:0:0:0:0:0:0:%0*d", size, 1))
	}
}
