package transport

import (
	"errors"
	"net"

	"golang.org/x/sys/unix"
)

// synFilter is a packet filter that drops the first packet of a connection, which has
// the flag SYN (RFC 9293, section 3.1). For a TCP socket, a packet begins with the TCP
// header.
var synFilter = []unix.SockFilter{
	{Code: unix.BPF_LD | unix.BPF_B | unix.BPF_ABS, K: 13},                // load the flags
	{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, K: 2, Jt: 0, Jf: 1}, // if SYN is set,
	{Code: unix.BPF_RET | unix.BPF_K, K: 0},                               // drop the packet,
	{Code: unix.BPF_RET | unix.BPF_K, K: 0xffffffff},                      // else accept it
}

// IgnoreNew makes the kernel ignore new connections to a listener. Connections that it
// has accepted, or is setting up, are not affected. A client that is ignored tries again,
// and is refused when the listener is closed.
func IgnoreNew(l *net.TCPListener) error {
	raw, err := l.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Control(func(fd uintptr) {
		failed = unix.SetsockoptSockFprog(int(fd), unix.SOL_SOCKET, unix.SO_ATTACH_FILTER,
			&unix.SockFprog{Len: uint16(len(synFilter)), Filter: &synFilter[0]})
	})
	return errors.Join(err, failed)
}
