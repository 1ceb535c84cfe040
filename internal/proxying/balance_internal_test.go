package proxying

import (
	"net/netip"
	"testing"
	"time"

	"github.com/cespare/xxhash/v2"
)

// TestHashKeyIsStable checks the key of each kind, and that the hash is the same in all versions and
// processes.
func TestHashKeyIsStable(t *testing.T) {
	t.Parallel()
	client := netip.MustParseAddr("192.0.2.1")
	header := []Field{{"X-USER", "ada"}, {"x-user", "bob"}, {"Cookie", "a=1; s=7"}, {"Cookie", "s=8"}, {"X-Empty", ""}}
	byClient := (&HashKey{}).hash(header, "/a?b", client)
	for _, c := range []struct {
		key  HashKey
		want uint64
	}{
		{HashKey{}, 0xde3cbbe5a2240bf0},
		{HashKey{By: ByPath}, xxhash.Sum64String("/a")},
		{HashKey{ByHeader, "x-user"}, xxhash.Sum64String("ada")},
		{HashKey{ByCookie, "s"}, xxhash.Sum64String("7")},
		{HashKey{ByCookie, "S"}, byClient},
		{HashKey{ByHeader, "X-Empty"}, byClient},
		{HashKey{ByHeader, "X-Missing"}, byClient},
	} {
		if got := c.key.hash(header, "/a?b", client); got != c.want {
			t.Errorf("%v: %#x, want %#x", c.key, got, c.want)
		}
	}
	var k HashKey
	same := k.hash(nil, "/", netip.MustParseAddr("2001:db8::1"))
	if k.hash(nil, "/", netip.MustParseAddr("2001:db8::ffff")) != same ||
		k.hash(nil, "/", netip.MustParseAddr("2001:db8:0:1::1")) == same {
		t.Error("an IPv6 client is not its /64")
	}
}

// TestOrderAllocatesNothing checks that the order of a request with a key and a cookie needs no allocation.
func TestOrderAllocatesNothing(t *testing.T) {
	up := balanced(t, Options{Balance: Hash, HashKey: HashKey{ByCookie, "s"},
		Sticky: &Sticky{Cookie: "a", Secret: []byte("secret")}}, 3, 1, 1, -1)
	x := &Exchange{Header: []Field{{"Cookie", "a=1; s=7"}}, Peer: netip.MustParseAddr("2001:db8::1")}
	tr := &transfer{x: x, up: up}
	if n := testing.AllocsPerRun(100, func() {
		tr.beginOrder(time.Time{})
		tr.order.Place()
	}); n != 0 {
		t.Errorf("%v allocations for a choice", n)
	}
}
