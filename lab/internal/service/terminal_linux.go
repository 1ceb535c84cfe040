package service

import (
	"fmt"
	"os"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// openTerminal opens a pseudo-terminal: what a program writes to end comes out
// of from.
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

// nonblocking returns a descriptor of the same file that does not block and that
// Go's poller does not know.
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

// waiting is how many bytes wait in a pipe or terminal, 0 when that is not
// known.
func waiting(fd int) int64 {
	n, err := unix.IoctlGetInt(fd, unix.TIOCINQ)
	if err != nil {
		return 0
	}
	return int64(n)
}
