package service

import (
	"fmt"
	"os"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// openTerminal opens a pseudo-terminal. Programs write to end, and from reads
// their output.
func openTerminal() (from, end *os.File, err error) {
	from, end, err = pty.Open()
	if err != nil {
		return nil, nil, fmt.Errorf("open a pseudo-terminal: %w", err)
	}
	if err = pty.Setsize(end, &pty.Winsize{Rows: 24, Cols: 80}); err != nil {
		from.Close()
		end.Close()
		return nil, nil, fmt.Errorf("set up a pseudo-terminal: %w", err)
	}
	return from, end, nil
}

// nonblocking returns a non-blocking duplicate of a descriptor that is not in
// Go's poller.
func nonblocking(f *os.File) (fd int, err error) {
	if fd, err = unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0); err != nil {
		return 0, err
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		unix.Close(fd)
		return 0, err
	}
	return fd, nil
}

// waiting returns the number of unread bytes in a pipe or terminal, or 0 if it
// is unknown.
func waiting(fd int) int64 {
	n, err := unix.IoctlGetInt(fd, unix.TIOCINQ)
	if err != nil {
		return 0
	}
	return int64(n)
}
