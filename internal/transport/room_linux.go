package transport

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// SendBlock is the free space in a socket's buffer that is worth a write, in bytes.
const SendBlock = 32 << 10

// A room reads how many more bytes a connection's socket accepts. The rest of a response
// stays in the upstream's socket, which holds it anyway, instead of in a buffer whose
// write waits.
type room struct {
	look func(fd uintptr) bool // the method lookOnce; kept because a closure for each call is an allocation
	n    int
}

// wait waits until the socket accepts bytes, and returns about how many: half of its free
// buffer, because the kernel also counts its own data for each segment, and a peer with a
// small window causes many segments. Like a write, it waits until a third of the buffer is
// free.
func (r *room) wait(raw syscall.RawConn) (int, error) {
	err := raw.Write(r.look)
	return r.n, err
}

func (r *room) lookOnce(fd uintptr) (done bool) {
	r.n, done = roomOf(int(fd))
	return done
}

// roomOf returns half of the free buffer, and reports whether a write is worthwhile:
// SendBlock bytes are free, or the socket is writable for the kernel. It uses poll,
// because the kernel reports a later change only after it.
func roomOf(fd int) (n int, ok bool) {
	if n = freeOf(fd) / 2; n >= SendBlock {
		return n, true
	}
	for {
		poll := [1]unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}
		ready, err := unix.Poll(poll[:], 0)
		if err != unix.EINTR {
			return n, ready > 0 || err != nil // the write returns the error, too
		}
	}
}

// freeOf returns the free bytes of a socket's write buffer, or 0 if the kernel does not
// report them.
func freeOf(fd int) int {
	var info [unix.SK_MEMINFO_VARS]uint32
	size := uint32(unsafe.Sizeof(info))
	_, _, failed := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.SOL_SOCKET, unix.SO_MEMINFO,
		uintptr(unsafe.Pointer(&info)), uintptr(unsafe.Pointer(&size)), 0)
	if failed != 0 {
		return 0
	}
	return max(int(info[unix.SK_MEMINFO_SNDBUF])-int(info[unix.SK_MEMINFO_WMEM_QUEUED]), 0)
}
