//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package spool

import (
	"errors"
	"os"
	"syscall"
)

// errLocked is the error for a folder that another process owns.
var errLocked = errors.New("another process has this folder")

// lockFile opens and locks a file, which it makes if necessary. The lock ends with the
// process, or when the file is closed.
func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		err = checkSame(f, path)
	}
	if err != nil {
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = errLocked
		}
		return nil, err
	}
	return f, nil
}

// checkSame checks that the path is still that of f: another process may have removed it
// before this one had the lock.
func checkSame(f *os.File, path string) error {
	own, err := f.Stat()
	if err != nil {
		return err
	}
	named, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !os.SameFile(own, named) {
		return errLocked
	}
	return nil
}
