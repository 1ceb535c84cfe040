package http3

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// shareAddress lets another socket of the same user have the same address.
func shareAddress(fd int) error { return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1) }

// HandOver prepares for the socket of the next process, which binds the same address. From
// then on, the kernel passes it the packets of new connections, and s those of the connections
// that it has accepted. Until then, and if that process ends, s gets all packets.
//
// The kernel numbers the sockets of an address in the order of their binding, and asks a
// program for the number (SO_ATTACH_REUSEPORT_CBPF). If there is no such socket, it chooses
// one itself. When a socket closes, the last one gets its number. With a third socket, the
// numbers would therefore change without a process that knows: HandOver returns [ErrShared] if
// another socket has the address.
func (s *Socket) HandOver() error {
	if shared, err := s.shared(); err != nil {
		return err
	} else if shared {
		return ErrShared
	}
	const next, this = 1, 0
	tag := uint32(s.tag[0])<<8 | uint32(s.tag[1])
	program, err := bpf.Assemble([]bpf.Instruction{
		bpf.LoadAbsolute{Off: 0, Size: 1},
		bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: 0x80, SkipTrue: 2}, // a long header
		bpf.LoadAbsolute{Off: 1, Size: tagLen},                    // of the connection id (RFC 9000, section 17.3.1)
		bpf.Jump{Skip: 1},
		bpf.LoadAbsolute{Off: 6, Size: tagLen}, // of the connection id (section 17.2)
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: tag, SkipFalse: 1},
		bpf.RetConstant{Val: this},
		bpf.RetConstant{Val: next},
	})
	if err != nil {
		return err
	}
	filters := make([]unix.SockFilter, len(program))
	for i, p := range program {
		filters[i] = unix.SockFilter{Code: p.Op, Jt: p.Jt, Jf: p.Jf, K: p.K}
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Control(func(fd uintptr) {
		failed = unix.SetsockoptSockFprog(int(fd), unix.SOL_SOCKET, unix.SO_ATTACH_REUSEPORT_CBPF,
			&unix.SockFprog{Len: uint16(len(filters)), Filter: &filters[0]})
	})
	if err != nil {
		return err
	}
	return failed
}

// shared reports whether another socket has the address of s.
func (s *Socket) shared() (bool, error) {
	raw, err := s.SyscallConn()
	if err != nil {
		return false, err
	}
	var stat unix.Stat_t
	var failed error
	if err := raw.Control(func(fd uintptr) { failed = unix.Fstat(int(fd), &stat) }); err != nil {
		return false, err
	}
	if failed != nil {
		return false, failed
	}
	for _, name := range []string{"/proc/thread-self/net/udp", "/proc/thread-self/net/udp6"} {
		text, err := os.ReadFile(name)
		if err != nil && !os.IsNotExist(err) { // without IPv6 there is no udp6
			return false, err
		}
		const local, inode = 1, 9 // columns, proc_net(5)
		own, count := "", make(map[string]int)
		for line := range strings.Lines(string(text)) {
			columns := strings.Fields(line)
			if len(columns) <= inode {
				continue
			}
			count[columns[local]]++
			if columns[inode] == strconv.FormatUint(stat.Ino, 10) {
				own = columns[local]
			}
		}
		if own != "" {
			return count[own] > 1, nil
		}
	}
	return false, nil
}

// BufferSize returns the size of the receive buffer, and the size that quic-go asks for. If it
// is smaller, packets are lost under load.
func (s *Socket) BufferSize() (size, wanted int, err error) {
	raw, err := s.SyscallConn()
	if err != nil {
		return 0, 0, err
	}
	var failed error
	err = raw.Control(func(fd uintptr) { size, failed = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF) })
	if err == nil {
		err = failed
	}
	return size / 2, wantedBuffer, err // the kernel doubles the size for its own data (socket(7))
}
