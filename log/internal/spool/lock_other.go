//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package spool

import (
	"errors"
	"fmt"
	"os"
	"runtime"
)

var errLocked = errors.New("another process has this folder")

func lockFile(string) (*os.File, error) {
	return nil, fmt.Errorf("locks of files on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}
