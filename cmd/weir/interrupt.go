package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// errLeft ends a command that was left at the second interrupt, or that the first one has cut short.
var errLeft = errors.New("left")

// interrupts are the signals that end a run: that of a terminal that is closed,
// too, unless nohup has it ignored.
func interrupts() (signals chan os.Signal, stop func()) {
	signals = make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(signals, syscall.SIGHUP)
	}
	return signals, func() { signal.Stop(signals) }
}

// A runScreen shows a run while it lasts.
type runScreen interface {
	say(line string)
	close() // nothing more is shown
}

// interruptible runs what the first signal ends early, with a result of what there
// is by then; notice is said when it comes. The second signal leaves it: errLeft
// comes back at once, and when weir ends then the kernel ends what it has started.
func interruptible[R any](v runScreen, notice string, signals <-chan os.Signal, run func(context.Context) (R, error)) (R, error) {
	defer v.close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	type outcome struct {
		result R
		err    error
	}
	ended := make(chan outcome, 1)
	go func() { // is waited for below, unless it is left, and weir with it
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
				v.say("weir: " + notice + " (again to leave at once)")
				cancel()
			case time.Since(first) > sameInterrupt:
				var none R
				return none, errLeft
			}
		}
	}
}
