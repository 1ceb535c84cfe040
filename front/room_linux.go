package front

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A socketRoom looks how much more of an answer a connection's socket takes. The
// answer is better off in the upstream's socket, which holds it anyway, than in a
// buffer whose write waits.
type socketRoom struct {
	raw  syscall.RawConn
	look func(fd uintptr) bool // lookOnce; a closure for each call would be an allocation
	n    int
}

// room waits until the socket takes something, and returns about how much that
// is: half of what is free, since the kernel counts what it keeps of each segment
// besides, which with a client whose window is small are many. What it waits for
// is a third of the socket's buffer, as a write would.
func (c *patientConn) room() (int, error) {
	if c.socketRoom == nil {
		raw, err := c.TCPConn.SyscallConn()
		if err != nil {
			return 0, err
		}
		c.socketRoom = &socketRoom{raw: raw}
		c.socketRoom.look = c.socketRoom.lookOnce
	}
	for {
		c.beginWrite()
		err := c.socketRoom.raw.Write(c.socketRoom.look)
		if c.endWrite(err) {
			return c.socketRoom.n, err
		}
	}
}

// lookOnce tells whether there is room for a block, or as much as is to be waited
// for. Only poll has the kernel report later that there is.
func (r *socketRoom) lookOnce(fd uintptr) (done bool) {
	if r.n = freeOf(int(fd)) / 2; r.n >= block {
		return true
	}
	for {
		poll := [1]unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}
		n, err := unix.Poll(poll[:], 0)
		if err != unix.EINTR {
			return n > 0 || err != nil // an error shows in the write, too
		}
	}
}

// freeOf returns how much of a socket's buffer for writes is not in use; 0 when
// the kernel does not say.
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
