package takeover

import (
	"net"
	"runtime"
	"testing"

	"github.com/weirhq/weir/internal/testkit"
)

// TestProcessesTakeOverInTurn begins a drain while an earlier one goes on, as after two restarts. The
// listeners of the second process can be taken over: a public one once the first process has
// closed its own, and an admin one, which only one process takes, at once.
func TestProcessesTakeOverInTurn(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs Linux")
	}
	for _, admin := range []bool{false, true} {
		first := listen(t, "127.0.0.1:0")
		withdraw, taken := offer(t, first, admin)
		defer withdraw()
		addr := first.Addr().String()
		second := listen(t, addr)
		if admin {
			testkit.Receive(t, "the end of the first offer", taken)
		}
		withdrawSecond, _ := offer(t, second, admin)
		defer withdrawSecond()
		if !admin {
			third := listen(t, addr) // from the first process
			third.Close()
			first.Close()
			withdraw()
		}
		third := listen(t, addr)
		first.Close()
		second.Close()
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatalf("admin %v: %v", admin, err)
		}
		c.Close()
		third.Close()
	}
}

func listen(t *testing.T, addr string) *net.TCPListener {
	t.Helper()
	var l *net.TCPListener
	testkit.AwaitNil(t, "a listener at "+addr, func() (err error) {
		l, err = Listen(addr)
		return err
	})
	t.Cleanup(func() { l.Close() })
	return l
}

// offer offers a listener as a process that drains does. taken receives a value once that of admin is taken.
func offer(t *testing.T, l *net.TCPListener, admin bool) (withdraw func(), taken <-chan struct{}) {
	t.Helper()
	closed := make(chan struct{}, 1)
	o := Offer{Listener: l, Addr: l.Addr().String()}
	if admin {
		o.Taken = func() {
			l.Close()
			closed <- struct{}{}
		}
	}
	return OfferAll([]Offer{o}, func(err error) { t.Errorf("not offered: %v", err) }), closed
}
