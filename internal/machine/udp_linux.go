package machine

import (
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// UDPReceiveBuffer returns how large the receive buffer of a UDP socket of this process can be,
// at most wanted, in bytes.
func UDPReceiveBuffer(wanted int) (int, error) {
	c, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return 0, err
	}
	defer c.Close()
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	size := 0
	var failed error
	err = raw.Control(func(fd uintptr) {
		if unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, wanted) != nil { // needs CAP_NET_ADMIN
			failed = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF, wanted)
		}
		if failed == nil {
			size, failed = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF)
		}
	})
	if err == nil {
		err = os.NewSyscallError("SO_RCVBUF", failed)
	}
	return size / 2, err // the kernel doubles the size for its own data (socket(7))
}
