package natssink

import (
	"crypto/tls"
	"slices"
	"testing"

	"github.com/nats-io/nats.go"
)

// TestServersNamedByAddressAreTriedWithBothNames lists the connections that are tried. The options of the caller stay as
// they are.
func TestServersNamedByAddressAreTriedWithBothNames(t *testing.T) {
	t.Parallel()
	const given, other, address = "tls://a.example:4222", "tls://b.example:4222", "tls://10.0.0.2:4222"
	c := cluster{named: []string{given}, host: "a.example"}
	c.learn([]string{given, other, address})
	o := nats.Options{TLSConfig: new(tls.Config)}
	got := c.attempts(o)
	for i, want := range []struct {
		servers []string
		name    string
	}{{[]string{given, other}, ""}, {[]string{address}, "a.example"}, {[]string{address}, ""}} {
		if !slices.Equal(got[i].Servers, want.servers) || got[i].TLSConfig.ServerName != want.name {
			t.Errorf("attempt %d: %v as %q, want %v", i, got[i].Servers, got[i].TLSConfig.ServerName, want)
		}
	}
	plain := cluster{named: []string{given}}
	plain.learn([]string{given, address})
	if got := plain.attempts(o); len(got) != 1 || !slices.Equal(got[0].Servers, []string{given, address}) {
		t.Errorf("without a host name: %+v", got)
	}
}
