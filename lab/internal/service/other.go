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

// A Service is a program that runs, which is possible on Linux alone: elsewhere
// nobody says which children a program has left behind.
type Service struct{}

// Start returns an error that wraps [errors.ErrUnsupported].
func Start(Spec) (*Service, error) {
	return nil, fmt.Errorf("run a service on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}

// Check does nothing: there is no service to be limited.
func (Limits) Check() error { return nil }

// EndMarked does nothing: there is no service.
func EndMarked(string) ([]string, error) { return nil, nil }

// There is no Service that these methods could be called of.

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

// waiting is not known here.
func waiting(int) int64 { return 0 }
