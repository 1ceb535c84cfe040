package sibling

import (
	"errors"
	"net"
	"os"
	"syscall"
)

func address(name string) *net.UnixAddr { return &net.UnixAddr{Net: "unix", Name: "@" + name} }

// Listen listens at a name. The error is syscall.EADDRINUSE if another process does.
func Listen(name string) (*net.UnixListener, error) { return net.ListenUnix("unix", address(name)) }

// Dial connects to the process that listens at a name. That process belongs to the same
// user, or the caller is root.
func Dial(name string) (*net.UnixConn, error) {
	c, err := net.DialUnix("unix", nil, address(name))
	if err != nil {
		return nil, err
	}
	if _, err := check(c, func(uid int) bool { return os.Geteuid() == 0 }); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// Accept returns the next connection of a process of the same user or of root, and the id
// of that process. It closes others.
func Accept(l *net.UnixListener) (c *net.UnixConn, pid int, err error) {
	for {
		if c, err = l.AcceptUnix(); err != nil {
			return nil, 0, err
		}
		if pid, err = check(c, func(uid int) bool { return uid == 0 }); err == nil {
			return c, pid, nil
		}
		c.Close()
	}
}

// check returns the id of the other process, or an [OtherUser] if it belongs to another user
// who is not also allowed.
func check(c *net.UnixConn, also func(uid int) bool) (pid int, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	var peer *syscall.Ucred
	var failed error
	err = raw.Control(func(fd uintptr) {
		peer, failed = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	})
	if err := errors.Join(err, failed); err != nil {
		return 0, err
	}
	if uid := int(peer.Uid); uid != os.Geteuid() && !also(uid) {
		return 0, &OtherUser{int(peer.Pid), uid}
	}
	return int(peer.Pid), nil
}

// Send sends a message of at most 64 KiB with open files, which both processes then share.
func Send(c *net.UnixConn, message []byte, files []*os.File) error {
	fds := make([]int, len(files))
	for i, f := range files {
		fds[i] = int(f.Fd())
	}
	_, _, err := c.WriteMsgUnix(message, syscall.UnixRights(fds...), nil)
	return err
}

// maxFiles is the maximum number of files in a message: SCM_MAX_FD of Linux.
const maxFiles = 253

// Receive receives a message with its files. The caller closes them.
func Receive(c *net.UnixConn) (message []byte, files []*os.File, err error) {
	message, rights := make([]byte, 64<<10), make([]byte, syscall.CmsgSpace(4*maxFiles))
	n, control, _, _, err := c.ReadMsgUnix(message, rights)
	if err != nil {
		return nil, nil, err
	}
	parsed, err := syscall.ParseSocketControlMessage(rights[:control])
	if err != nil {
		return nil, nil, err
	}
	for _, m := range parsed {
		fds, err := syscall.ParseUnixRights(&m)
		if err != nil {
			return nil, nil, err
		}
		for _, fd := range fds {
			syscall.CloseOnExec(fd)
			files = append(files, os.NewFile(uintptr(fd), "received"))
		}
	}
	return message[:n], files, nil
}
