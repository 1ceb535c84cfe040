package process_test

import (
	"errors"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/process"
)

func TestListeningOnFindsTheProcess(t *testing.T) {
	for _, c := range []struct{ listen, ask string }{
		{"127.0.0.1:0", "127.0.0.1"},
		{"127.0.0.1:0", "::ffff:127.0.0.1"},
		{"0.0.0.0:0", "127.0.0.1"},
		{"0.0.0.0:0", "127.0.0.77"},
		{"[::1]:0", "::1"},
		{"[::]:0", "::1"},
		{"[::]:0", "127.0.0.1"},
	} {
		t.Run(c.listen+" asked for "+c.ask, func(t *testing.T) {
			if strings.HasPrefix(c.listen, "[") {
				l, err := net.Listen("tcp", "[::1]:0")
				if err != nil {
					t.Skip("no IPv6: ", err)
				}
				l.Close()
			}
			server := start(t, "")
			at := netip.MustParseAddrPort(server.command(t, "listen", c.listen))
			got, err := process.ListeningOn(netip.AddrPortFrom(netip.MustParseAddr(c.ask), at.Port()))
			if got != server.Process.Pid || err != nil {
				t.Errorf("ListeningOn(%s) = %d, %v; want %d", c.ask, got, err, server.Process.Pid)
			}
		})
	}
}

// TestListeningOnPrefersTheOldest starts a process with a listener, a fork that inherits
// it, and a third process that shares the port.
func TestListeningOnPrefersTheOldest(t *testing.T) {
	oldest := start(t, "")
	at := oldest.command(t, "listen", "127.0.0.1:0")
	oldest.command(t, "fork")
	start(t, "").command(t, "listen", at)
	got, err := process.ListeningOn(netip.MustParseAddrPort(at))
	if got != oldest.Process.Pid || err != nil {
		t.Errorf("ListeningOn(%s) = %d, %v; want %d", at, got, err, oldest.Process.Pid)
	}
}

// TestListeningOnPrefersTheExactAddress checks that a listener on one address is preferred to
// one on all addresses.
func TestListeningOnPrefersTheExactAddress(t *testing.T) {
	all := start(t, "")
	at := netip.MustParseAddrPort(all.command(t, "listen", "0.0.0.0:0"))
	exact := start(t, "")
	addr := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.9"), at.Port())
	exact.command(t, "listen", addr)
	if got, err := process.ListeningOn(addr); got != exact.Process.Pid || err != nil {
		t.Errorf("ListeningOn(%v) = %d, %v; want %d", addr, got, err, exact.Process.Pid)
	}
	other := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), at.Port())
	if got, err := process.ListeningOn(other); got != all.Process.Pid || err != nil {
		t.Errorf("ListeningOn(%v) = %d, %v; want %d", other, got, err, all.Process.Pid)
	}
}

func TestListeningOnReportsUnusedAddress(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := netip.MustParseAddrPort(l.Addr().String())
	if got, err := process.ListeningOn(addr); got != os.Getpid() || err != nil {
		t.Errorf("ListeningOn(%v) = %d, %v; want %d", addr, got, err, os.Getpid())
	}
	l.Close()
	for _, addr := range []netip.AddrPort{addr, netip.MustParseAddrPort("192.0.2.1:80"), {}} {
		if got, err := process.ListeningOn(addr); got != 0 || !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("ListeningOn(%v) = %d, %v; want %v", addr, got, err, fs.ErrNotExist)
		}
	}
}

func TestListeningListsAddresses(t *testing.T) {
	c := start(t, "")
	p := open(t, c.Process.Pid)
	want := func(want ...string) {
		t.Helper()
		got, err := p.Listening()
		if err != nil {
			t.Fatal(err)
		}
		var texts []string
		for _, addr := range got {
			texts = append(texts, addr.String())
		}
		if !slices.Equal(texts, want) {
			t.Errorf("Listening() = %v, want %v", texts, want)
		}
	}
	want()
	first := c.command(t, "listen", "127.0.0.1:0")
	second := c.command(t, "listen", "0.0.0.0:0")
	want(first, second)
	c.command(t, "fork") // which has both too
	want(first, second)
}

// The listener is only in a child.
func TestListeningIncludesChildren(t *testing.T) {
	c := start(t, "")
	p := open(t, c.Process.Pid)
	at := c.command(t, "listen", "127.0.0.1:0")
	c.command(t, "fork")
	c.command(t, "deaf")
	got, err := p.Listening()
	if err != nil || len(got) != 1 || got[0].String() != at {
		t.Errorf("Listening() = %v, %v; want %s", got, err, at)
	}
}

func TestListeningReportsEndedProcess(t *testing.T) {
	c := start(t, "")
	p := open(t, c.Process.Pid)
	c.Process.Kill()
	c.Wait()
	if got, err := p.Listening(); got != nil || !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("Listening() = %v, %v; want %v", got, err, os.ErrProcessDone)
	}
}

// TestAnswersAtIncludesChildren checks the listeners of a process, of a child that inherited
// one, and of an unrelated process, and an address without a listener.
func TestAnswersAtIncludesChildren(t *testing.T) {
	c, stranger := start(t, ""), start(t, "")
	p := open(t, c.Process.Pid)
	own := c.command(t, "listen", "127.0.0.1:0")
	all := netip.MustParseAddrPort(c.command(t, "listen", "0.0.0.0:0"))
	other := stranger.command(t, "listen", "127.0.0.1:0")
	exact := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.9"), all.Port())
	stranger.command(t, "listen", exact)
	check := func(at string, want bool) {
		t.Helper()
		if got, err := p.AnswersAt(netip.MustParseAddrPort(at)); got != want || err != nil {
			t.Errorf("AnswersAt(%s) = %v, %v; want %v", at, got, err, want)
		}
	}
	check(own, true)
	check(netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), all.Port()).String(), true)
	check(exact.String(), false)
	check(other, false)
	c.command(t, "fork")
	c.command(t, "deaf")
	check(own, true) // the child still has it
	stranger.command(t, "deaf")
	for _, none := range []string{other, "192.0.2.1:80"} {
		if got, err := p.AnswersAt(netip.MustParseAddrPort(none)); got || !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("AnswersAt(%s) = %v, %v; want %v", none, got, err, fs.ErrNotExist)
		}
	}
	c.command(t, "kill")
	c.Process.Kill()
	c.Wait()
	if got, err := p.AnswersAt(netip.MustParseAddrPort(stranger.command(t, "listen", "127.0.0.1:0"))); got ||
		!errors.Is(err, os.ErrProcessDone) {
		t.Errorf("AnswersAt of a process that has ended = %v, %v; want %v", got, err, os.ErrProcessDone)
	}
}
