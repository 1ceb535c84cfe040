package transport

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// receiveRaw is a recvfrom(2) that does not wait, outside of the scheduler.
func receiveRaw(fd int, p []byte, flags int) (int, error) {
	for {
		n, _, errno := syscall.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd),
			uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)), uintptr(flags|unix.MSG_DONTWAIT), 0, 0)
		switch errno {
		case 0:
			return int(n), nil
		case unix.EINTR:
		default:
			return 0, errno
		}
	}
}

// sendRaw is a sendto(2) that does not wait, outside of the scheduler.
func sendRaw(fd int, p []byte, flags int) (int, error) {
	for {
		n, _, errno := syscall.RawSyscall6(unix.SYS_SENDTO, uintptr(fd),
			uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)),
			uintptr(flags|unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL), 0, 0)
		switch errno {
		case 0:
			return int(n), nil
		case unix.EINTR:
		default:
			return 0, errno
		}
	}
}
