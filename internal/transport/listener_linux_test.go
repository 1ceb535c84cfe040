package transport

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weirhq/weir/internal/testkit"
)

func listen(t *testing.T, addr string) Listener {
	t.Helper()
	tcp, err := net.Listen("tcp", addr)
	if err != nil {
		t.Skip(err) // a machine without IPv6
	}
	l, err := NewRawListener(tcp.(*net.TCPListener))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// TestAcceptSetsOptionsLikePackageNet compares the addresses and options of an accepted socket with those of a
// socket that package net has accepted.
func TestAcceptSetsOptionsLikePackageNet(t *testing.T) {
	for _, c := range []struct{ listen, dial string }{
		{"127.0.0.1:0", "127.0.0.1"}, {"[::1]:0", "::1"}, {":0", "127.0.0.1"}, {":0", "::1"},
	} {
		t.Run(c.listen+" from "+c.dial, func(t *testing.T) {
			l := listen(t, c.listen)
			addr := netip.AddrPortFrom(netip.MustParseAddr(c.dial), l.TCP().Addr().(*net.TCPAddr).AddrPort().Port())
			peer, err := net.Dial("tcp", addr.String())
			if err != nil {
				t.Skip(err)
			}
			defer peer.Close()
			a, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			fd, remote := a.(descriptor).fd, a.Remote()
			defer syscall.Close(fd)
			if want := peer.LocalAddr().(*net.TCPAddr).AddrPort(); remote != want {
				t.Errorf("remote = %v, want %v", remote, want)
			}
			if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0); err != nil || flags&unix.O_NONBLOCK == 0 {
				t.Errorf("the socket blocks: %v", err)
			}
			if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC == 0 {
				t.Errorf("a child process would inherit the socket: %v", err)
			}
			second, err := net.Dial("tcp", addr.String())
			if err != nil {
				t.Fatal(err)
			}
			defer second.Close()
			plain, err := l.TCP().AcceptTCP()
			if err != nil {
				t.Fatal(err)
			}
			defer plain.Close()
			raw, _ := plain.SyscallConn()
			raw.Control(func(other uintptr) {
				for _, option := range []struct{ level, name int }{
					{unix.IPPROTO_TCP, unix.TCP_NODELAY}, {unix.SOL_SOCKET, unix.SO_KEEPALIVE},
					{unix.IPPROTO_TCP, unix.TCP_KEEPIDLE}, {unix.IPPROTO_TCP, unix.TCP_KEEPINTVL},
					{unix.IPPROTO_TCP, unix.TCP_KEEPCNT},
				} {
					got, err := unix.GetsockoptInt(fd, option.level, option.name)
					want, wantErr := unix.GetsockoptInt(int(other), option.level, option.name)
					if got != want || err != nil || wantErr != nil {
						t.Errorf("option %v = %d, want %d", option, got, want)
					}
				}
			})
		})
	}
}

// TestAcceptErrorsKeepTheirCause checks the errors by which the front door classifies a failure.
func TestAcceptErrorsKeepTheirCause(t *testing.T) {
	l := listen(t, "127.0.0.1:0")
	accept := func() (err error) {
		a, err := l.Accept()
		if err == nil {
			syscall.Close(a.(descriptor).fd)
		}
		return err
	}
	l.SetDeadline(time.Now().Add(20 * time.Millisecond))
	for range 2 {
		if err := accept(); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("error = %v, want os.ErrDeadlineExceeded", err)
		}
	}
	l.SetDeadline(time.Time{})
	later(t, func() { l.SetDeadline(Past) })
	if err := accept(); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("error = %v, want os.ErrDeadlineExceeded", err)
	}
	l.SetDeadline(time.Time{})
	peer, err := net.Dial("tcp", l.TCP().Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer peer.Close()
	withoutFiles(t, func() {
		if err := accept(); !errors.Is(err, syscall.EMFILE) {
			t.Errorf("error = %v, want EMFILE", err)
		}
	})
	if err := accept(); err != nil {
		t.Error(err)
	}
	later(t, func() { l.Close() })
	for range 2 {
		if err := accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("error = %v, want net.ErrClosed", err)
		}
	}
}

// TestDialWithoutFilesIsAnError checks the error of Dial, and that a connection stays where it is if
// it cannot move.
func TestDialWithoutFilesIsAnError(t *testing.T) {
	l := startLoop(t)
	c, _ := l.pair(t)
	plain, _ := testkit.Pair(t)
	other, err := NewConn(plain)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	l.do(func() {
		withoutFiles(t, func() {
			if _, err := l.Dial(t.Context(), "127.0.0.1:1"); !errors.Is(err, syscall.EMFILE) {
				t.Errorf("Dial = %v, want EMFILE", err)
			}
			if _, err := c.Detach(); !errors.Is(err, syscall.EMFILE) {
				t.Errorf("Detach = %v, want EMFILE", err)
			}
			if _, err := l.Attach(other); !errors.Is(err, syscall.EMFILE) {
				t.Errorf("Attach = %v, want EMFILE", err)
			}
		})
		for _, c := range []Conn{c, other} {
			if _, err := c.Write([]byte("x")); err != nil {
				t.Errorf("Write to the connection that has not moved = %v", err)
			}
		}
	})
}

// withoutFiles calls f while the process cannot open a file.
func withoutFiles(t *testing.T, f func()) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Error(err)
		return
	}
	low := limit
	low.Cur = 1 // standard input
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &low); err != nil {
		t.Error(err)
		return
	}
	defer syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)
	f()
}
