package router_test

import (
	"strings"
	"testing"

	"github.com/weirhq/weir/router"
)

// BenchmarkConstraint measures a matcher on a segment of typical length, and on a long
// one if the length is not fixed.
func BenchmarkConstraint(b *testing.B) {
	long := strings.Repeat("0123456789abcdef", 8)
	for _, c := range []struct {
		name       string
		constraint router.Constraint
		segment    string
	}{
		{"UUID", router.UUID, "123e4567-e89b-12d3-a456-426614174000"},
		{"IPv4/short", router.IPv4, "10.0.0.1"},
		{"IPv4", router.IPv4, "192.168.100.255"},
		{"IPv6", router.IPv6, "2001:db8:85a3::8a2e:370:7334"},
		{"Int/short", router.Int, "42"},
		{"Int", router.Int, "-1234567890123456"},
		{"Int/limit", router.Int, "9223372036854775807"},
		{"Hex/short", router.Hex, "c0ffee"},
		{"Hex", router.Hex, "0123456789abcdef0123456789abcdef"},
		{"Hex/long", router.Hex, long},
		{"Slug/short", router.Slug, "a-b"},
		{"Slug", router.Slug, "consumer-price-inflation-2024"},
		{"Slug/long", router.Slug, long},
		{"Word/short", router.Word, "user_id"},
		{"Word", router.Word, "some_longer_identifier_2024"},
		{"Word/long", router.Word, long},
		{"Uint/limit", router.Uint, "18446744073709551615"},
		{"Base64URL", router.Base64URL, "mwH8tDRwSqu4yZQ2xkO-7g"},
		{"Range", router.Range(1, 500), "42"},
		{"Length", router.Length(3, 20), "some-title"},
		{"Any", router.Any(router.Date, router.Int), "42"},
		{"All", router.All(router.Slug, router.Length(3, 20)), "some-title"},
		{"Regexp", router.Regexp("[a-z]+-[a-z]+"), "some-title"},
		{"Date", router.Date, "2024-02-29"},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if !c.constraint.Match(c.segment) {
					b.Fatal("not accepted")
				}
			}
		})
	}
}
