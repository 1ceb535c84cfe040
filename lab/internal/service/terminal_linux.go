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
	defer from.Close()
	again, err := nonblocking(from)
	if err == nil {
		err = pty.Setsize(end, &pty.Winsize{Rows: 24, Cols: 80})
	}
	if err != nil {
		end.Close()
		return nil, nil, fmt.Errorf("set up a pseudo-terminal: %w", err)
	}
	return again, end, nil
}

// nonblocking returns the same file as one whose reads can be ended: pty has
// made it one that blocks.
func nonblocking(f *os.File) (*os.File, error) {
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		unix.Close(fd)
		return nil, err
	}
	return os.NewFile(uintptr(fd), f.Name()), nil
}

// waiting is how many bytes wait in a pipe or terminal, 0 when that is not
// known.
func waiting(f *os.File) (bytes int64) {
	raw, err := f.SyscallConn()
	if err != nil {
		return 0
	}
	raw.Control(func(fd uintptr) {
		if n, err := unix.IoctlGetInt(int(fd), unix.TIOCINQ); err == nil {
			bytes = int64(n)
		}
	})
	return bytes
}
