package load

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/resolve/resolvetest"
	"github.com/weirhq/weir/internal/testkit"
)

// TestSilentAddressLeavesTimeForOthers resolves a name whose first address accepts no connection and sends nothing.
func TestSilentAddressLeavesTimeForOthers(t *testing.T) {
	silent := testkit.SilentAddress(t)
	_, port, err := net.SplitHostPort(silent)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.2", port))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	names := resolvetest.Start(t)
	names.Set("two.example", 30, resolvetest.IP("127.0.0.1"), resolvetest.IP("127.0.0.2"))
	system := net.DefaultResolver
	t.Cleanup(func() { net.DefaultResolver = system })
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, names.Addr)
	}}
	if got, err := resolve(t.Context(), "two.example:"+port, 4*time.Second); got != l.Addr().String() || err != nil {
		t.Errorf("the name has the address %q, error %v; want %v", got, err, l.Addr())
	}
}
