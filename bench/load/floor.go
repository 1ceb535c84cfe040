package load

import (
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Floor sends requests for d, over the given number of connections with the given number of requests in flight on each.
// It uses as few system calls as possible and only counts the bytes of the responses. It locks the calling goroutine to
// its thread and occupies a P.
func Floor(address netip.AddrPort, connections, pipeline int, d time.Duration) error {
	runtime.LockOSThread()
	poll, err := newPoller()
	if err != nil {
		return err
	}
	f := floor{poll: poll, in: make([]byte, 64<<10)}
	request := "GET / HTTP/1.1\r\nHost: " + address.String() + "\r\nUser-Agent: floor\r\nAccept: */*\r\n\r\n"
	f.size, f.requests = len(request), []byte(strings.Repeat(request, pipeline))
	for range connections {
		if err := f.connect(address); err != nil {
			return err
		}
	}
	for end := time.Now().Add(d); time.Now().Before(end); {
		events, err := poll.wait(100 * time.Millisecond)
		if err != nil {
			return err
		}
		for _, e := range events {
			if err := f.exchange(int(e.Fd)); err != nil {
				return err
			}
		}
	}
	return nil
}

type floor struct {
	poll     *poller
	got      []int // bytes of an incomplete response, by file descriptor
	in       []byte
	requests []byte // the requests of one pipeline
	size     int    // of one response
}

func (f *floor) connect(address netip.AddrPort) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("socket", err)
	}
	if err := unix.Connect(fd, &unix.SockaddrInet4{Addr: address.Addr().As4(), Port: int(address.Port())}); err != nil {
		return os.NewSyscallError("connect", err)
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		return os.NewSyscallError("fcntl", err)
	}
	if err := f.poll.add(fd, unix.EPOLLET); err != nil {
		return err
	}
	f.got = append(f.got, make([]int, max(0, fd+1-len(f.got)))...)
	return f.send(fd, len(f.requests))
}

func (f *floor) send(fd, n int) error {
	if sent, errno := send(fd, f.requests[:n]); errno != 0 || sent < n {
		return fmt.Errorf("sendto took %d of %d bytes: %w", sent, n, errno)
	}
	return nil
}

// exchange sends a new request for each response that has arrived.
func (f *floor) exchange(fd int) error {
	n, errno := receive(fd, f.in)
	if errno == unix.EAGAIN {
		return nil
	}
	if errno != 0 || n == 0 {
		return fmt.Errorf("recvfrom took %d bytes: %w", n, errno)
	}
	got := f.got[fd] + n
	f.got[fd] = got % len(Answer)
	if got < len(Answer) {
		return nil
	}
	return f.send(fd, got/len(Answer)*f.size)
}
