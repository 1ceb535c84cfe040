package main

import (
	"context"
	"errors"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
)

// leaveRun interrupts a run that does not end until it is left, which is at the
// second interrupt, but not when the first is only seen twice.
func leaveRun(t *testing.T, v cli.Screen, notice string) {
	t.Helper()
	signals, cancelled, release := make(chan os.Signal), make(chan struct{}), make(chan struct{})
	t.Cleanup(func() { close(release) })
	go func() {
		for {
			select {
			case signals <- syscall.SIGINT:
				time.Sleep(time.Millisecond) // as fast as nobody presses it
			case <-release:
				return
			}
		}
	}()
	began := time.Now()
	_, err := cli.Interruptible(v, notice, signals, func(ctx context.Context) (struct{}, error) {
		<-ctx.Done()
		close(cancelled)
		<-release
		return struct{}{}, errors.New("released")
	})
	if !errors.Is(err, cli.ErrInterrupted) {
		t.Errorf("left with %v, want cli.ErrInterrupted", err)
	}
	if took := time.Since(began); took < cli.SameInterrupt {
		t.Errorf("left after %v: the same interrupt counted twice", took)
	}
	arrives(t, "the end of the context", cancelled)
}
