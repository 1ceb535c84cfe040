package front

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// sendBlock is the free space in a socket's buffer that is worth a write, in
// bytes.
const sendBlock = 32 << 10

// A socketSpace reads how many more bytes of a response a connection's socket
// accepts. The rest of a response stays in the upstream's socket, which holds it
// anyway, instead of in a buffer whose write waits.
type socketSpace struct {
	raw  syscall.RawConn
	look func(fd uintptr) bool // the method lookOnce; kept because a closure for each call is an allocation
	n    int
}

// sendSpace waits until the socket accepts bytes, and returns about how many: half
// of its free buffer, because the kernel also counts its own data for each
// segment, and a client with a small window causes many segments. Like a write, it
// waits until a third of the buffer is free.
func (c *patientConn) sendSpace() (int, error) {
	if c.socketSpace == nil {
		raw, err := c.TCPConn.SyscallConn()
		if err != nil {
			return 0, err
		}
		c.socketSpace = &socketSpace{raw: raw}
		c.socketSpace.look = c.socketSpace.lookOnce
	}
	for {
		c.beginWrite()
		err := c.socketSpace.raw.Write(c.socketSpace.look)
		if c.endWrite(err) {
			return c.socketSpace.n, err
		}
	}
}

// lookOnce reports whether sendBlock bytes are free, or the socket is writable for
// the kernel. It uses poll, because the kernel reports a later change only after it.
func (r *socketSpace) lookOnce(fd uintptr) (done bool) {
	if r.n = freeOf(int(fd)) / 2; r.n >= sendBlock {
		return true
	}
	for {
		poll := [1]unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}
		n, err := unix.Poll(poll[:], 0)
		if err != unix.EINTR {
			return n > 0 || err != nil // the write returns the error, too
		}
	}
}

// freeOf returns the free bytes of a socket's write buffer, or 0 if the kernel
// does not report them.
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
