package front

import (
	"errors"
	"net"
	"os"
	"syscall"
	"time"
)

// takeoverTimeout is the time limit for the handover of a listener.
const takeoverTimeout = time.Second

// takeoverAddr returns the address at which a draining process offers its listener
// on the TCP address addr. It is an abstract Unix socket, which belongs to the
// same network namespace and disappears with the process.
func takeoverAddr(addr string) *net.UnixAddr {
	return &net.UnixAddr{Net: "unix", Name: "@weir/listener/" + addr}
}

// offerListener sends a copy of the listener to each process of the same user that
// asks for it, until withdraw is called. It calls taken each time. Both processes
// then accept from one queue, so that a connection in it survives the end of this
// process. With SO_REUSEPORT, each process would have its own queue, and the
// kernel would reset the connections in it when the process ends.
func offerListener(tcp *net.TCPListener, addr string, taken func()) (withdraw func(), err error) {
	offers, err := net.ListenUnix("unix", takeoverAddr(addr))
	if err != nil {
		return nil, err
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := offers.AcceptUnix()
			if err != nil {
				return // closed by withdraw
			}
			if sendListener(c, tcp) == nil {
				taken()
			}
			c.Close()
		}
	}()
	return func() {
		offers.Close()
		<-done
	}, nil
}

// sendListener sends the listener's file descriptor to another process.
func sendListener(c *net.UnixConn, tcp *net.TCPListener) error {
	if err := checkSameUser(c); err != nil {
		return err
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return err
	}
	c.SetDeadline(time.Now().Add(takeoverTimeout))
	var sent error
	err = raw.Control(func(fd uintptr) {
		_, _, sent = c.WriteMsgUnix([]byte{0}, syscall.UnixRights(int(fd)), nil)
	})
	return errors.Join(err, sent)
}

// takeListener returns the listener on addr of a draining process.
func takeListener(addr string) (*net.TCPListener, error) {
	c, err := net.DialUnix("unix", nil, takeoverAddr(addr))
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if err := checkSameUser(c); err != nil {
		return nil, err
	}
	c.SetDeadline(time.Now().Add(takeoverTimeout))
	rights := make([]byte, syscall.CmsgSpace(4)) // of one descriptor
	_, n, _, _, err := c.ReadMsgUnix(make([]byte, 1), rights)
	if err != nil {
		return nil, err
	}
	return parseListener(rights[:n])
}

// parseListener returns the listener in a control message with its descriptor.
func parseListener(rights []byte) (*net.TCPListener, error) {
	messages, err := syscall.ParseSocketControlMessage(rights)
	if err != nil {
		return nil, err
	}
	if len(messages) != 1 {
		return nil, errNoListener
	}
	fds, err := syscall.ParseUnixRights(&messages[0])
	if err != nil {
		return nil, err
	}
	file := os.NewFile(uintptr(fds[0]), "listener")
	defer file.Close() // FileListener makes a copy
	l, err := net.FileListener(file)
	if err != nil {
		return nil, err
	}
	tcp, ok := l.(*net.TCPListener)
	if !ok {
		l.Close()
		return nil, errNoListener
	}
	return tcp, nil
}

var (
	errNoListener = errors.New("the draining process sent no TCP listener")
	errOtherUser  = errors.New("the other process belongs to another user")
)

// checkSameUser returns an error if the other end of c belongs to another user.
func checkSameUser(c *net.UnixConn) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var peer *syscall.Ucred
	var failed error
	err = raw.Control(func(fd uintptr) {
		peer, failed = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	})
	if err := errors.Join(err, failed); err != nil {
		return err
	}
	if int(peer.Uid) != os.Geteuid() {
		return errOtherUser
	}
	return nil
}
