//go:build !linux

package service

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"
)

// A Service is a running program, which is supported only on Linux: other
// systems do not report the processes that a program has left.
type Service struct{}

// Start returns an error that wraps [errors.ErrUnsupported].
func Start(Spec) (*Service, error) {
	return nil, fmt.Errorf("run a service on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}

// Attach returns an error that wraps [errors.ErrUnsupported].
func Attach(int, string) (*Running, error) {
	return nil, fmt.Errorf("measure a service on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}

// Check does nothing, because there are no services.
func (Limits) Check() error { return nil }

// EndMarked does nothing, because there are no services.
func EndMarked(string) ([]string, error) { return nil, nil }

// These methods cannot be called, because Start returns no Service.

func (*Service) PID() int                                   { return 0 }
func (*Service) Ended() <-chan struct{}                     { return nil }
func (*Service) Count() Count                               { return Count{} }
func (*Service) Lines() int64                               { return 0 }
func (*Service) CPU() time.Duration                         { return 0 }
func (*Service) Hold(_, _ time.Time)                        {}
func (*Service) Stop(context.Context, time.Duration) Ending { return Ending{} }

func openTerminal() (from, end *os.File, err error) {
	return nil, nil, fmt.Errorf("open a pseudo-terminal on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}

func nonblocking(*os.File) (fd int, err error) { return 0, errors.ErrUnsupported }

// waiting returns 0, because the number is unknown here.
func waiting(int) int64 { return 0 }
