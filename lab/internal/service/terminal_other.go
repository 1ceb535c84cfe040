//go:build !linux

package service

import (
	"errors"
	"fmt"
	"os"
	"runtime"
)

func openTerminal() (from, end *os.File, err error) {
	return nil, nil, fmt.Errorf("open a pseudo-terminal on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}

func nonblocking(*os.File) (fd int, err error) { return 0, errors.ErrUnsupported }

// waiting is not known here.
func waiting(int) int64 { return 0 }
