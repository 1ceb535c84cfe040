package tail

import (
	"context"
	"errors"
	"io"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
)

func untilCancelled(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

// TestSameInterruptCountsOnce sends an interrupt twice, as programs do that forward it, and
// then another one.
func TestSameInterruptCountsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		signals := make(chan os.Signal)
		ended := make(chan error, 1)
		go func() { ended <- interruptible(signals, true, new(output), untilCancelled) }()
		signals <- syscall.SIGINT
		time.Sleep(cli.SameInterrupt)
		signals <- syscall.SIGINT
		synctest.Wait()
		if len(ended) > 0 {
			t.Fatalf("the same interrupt ends it: %v", <-ended)
		}
		time.Sleep(time.Nanosecond)
		signals <- syscall.SIGINT
		if err := <-ended; err != nil {
			t.Errorf("got %v", err)
		}
	})
}

// TestSlowOutputIsWritten needs a long time for the output after an interrupt, but not for one write.
func TestSlowOutputIsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := &output{to: writerFunc(func() { time.Sleep(stallTime - 1) })}
		signals := make(chan os.Signal, 1)
		signals <- syscall.SIGINT
		written := errors.New("all is written")
		err := interruptible(signals, false, slow, func(ctx context.Context) error {
			<-ctx.Done()
			for range 20 {
				io.WriteString(slow, "line\n")
			}
			return written
		})
		if err != written {
			t.Errorf("got %v, want %v", err, written)
		}
	})
}

// TestStalledOutputIsLeft interrupts a write that does not return.
func TestStalledOutputIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		read := make(chan struct{})
		defer close(read)
		stalled := &output{to: writerFunc(func() { <-read })}
		signals := make(chan os.Signal)
		ended := make(chan error, 1)
		go func() {
			ended <- interruptible(signals, false, stalled, func(context.Context) error {
				_, err := io.WriteString(stalled, "line\n")
				return err
			})
		}()
		time.Sleep(time.Hour)
		if len(ended) > 0 {
			t.Fatalf("ended without a signal: %v", <-ended)
		}
		signals <- syscall.SIGTERM
		if err := <-ended; err != cli.ErrInterrupted {
			t.Errorf("got %v, want %v", err, cli.ErrInterrupted)
		}
	})
}

// A writerFunc is called for each write.
type writerFunc func()

func (f writerFunc) Write(p []byte) (int, error) {
	f()
	return len(p), nil
}
