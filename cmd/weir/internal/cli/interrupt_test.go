package cli

import (
	"context"
	"errors"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"
)

// recordedScreen keeps the lines that it is given.
type recordedScreen struct {
	lines  []string
	closed bool
}

func (v *recordedScreen) Say(line string) { v.lines = append(v.lines, line) }
func (v *recordedScreen) Close()          { v.closed = true }

// TestSecondInterruptEndsTheWait interrupts a run that does not end. The second signal
// ends the wait, but not if it comes together with the first.
func TestSecondInterruptEndsTheWait(t *testing.T) {
	signals, cancelled, release := make(chan os.Signal), make(chan struct{}), make(chan struct{})
	t.Cleanup(func() { close(release) })
	go func() {
		for {
			select {
			case signals <- syscall.SIGINT:
				time.Sleep(time.Millisecond) // faster than anyone presses Ctrl-C
			case <-release:
				return
			}
		}
	}()
	began := time.Now()
	v := new(recordedScreen)
	_, err := Interruptible(v, "stopping", signals, func(ctx context.Context) (struct{}, error) {
		<-ctx.Done()
		close(cancelled)
		<-release
		return struct{}{}, errors.New("released")
	})
	if !errors.Is(err, ErrInterrupted) {
		t.Errorf("error %v, want ErrInterrupted", err)
	}
	if took := time.Since(began); took < SameInterrupt {
		t.Errorf("ended after %v: the same interrupt counted twice", took)
	}
	if want := []string{"stopping (again to quit immediately)"}; !slices.Equal(v.lines, want) || !v.closed {
		t.Errorf("the screen has %q, closed %v; want %q, closed", v.lines, v.closed, want)
	}
	select {
	case <-cancelled:
	case <-time.After(10 * time.Second):
		t.Error("the context was not cancelled")
	}
}
