package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// SameInterrupt is the time during which a repeated signal counts as the first
// one: some programs forward a signal to a process and also to its group.
const SameInterrupt = 300 * time.Millisecond

// Interrupts returns a channel of the signals that end a run: SIGINT, SIGTERM
// and, unless nohup has it ignored, SIGHUP.
func Interrupts() (signals chan os.Signal, stop func()) {
	signals = make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(signals, syscall.SIGHUP)
	}
	return signals, func() { signal.Stop(signals) }
}

// A Screen shows the progress of a run.
type Screen interface {
	Say(message string)
	Close() // ends the display
}

// Interruptible calls run. The first signal cancels its context and prints
// notice; run then returns the result so far. At the second signal
// Interruptible returns ErrInterrupted immediately and leaves run to end with
// the process.
func Interruptible[R any](
	v Screen, notice string, signals <-chan os.Signal, run func(context.Context) (R, error),
) (R, error) {
	defer v.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	type outcome struct {
		result R
		err    error
	}
	ended := make(chan outcome, 1)
	go func() { // awaited below, unless a second signal comes
		r, err := run(ctx)
		ended <- outcome{r, err}
	}()
	var first time.Time
	for {
		select {
		case o := <-ended:
			return o.result, o.err
		case <-signals:
			switch {
			case first.IsZero():
				first = time.Now()
				v.Say(notice + " (again to quit immediately)")
				cancel()
			case time.Since(first) > SameInterrupt:
				var none R
				return none, ErrInterrupted
			}
		}
	}
}
