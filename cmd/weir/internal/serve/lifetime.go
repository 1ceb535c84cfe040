package serve

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/front"
	"github.com/weirhq/weir/internal/abandon"
)

// A lifetime is that of a process that serves: the start, until the first signal or an upgrade the service, then the
// drain, until its end or the second signal. Its goroutine only waits. All work, which a disk that hangs can hold up,
// is in others.
type lifetime struct {
	end, reload chan os.Signal // separate: many reloads cannot displace the signals that end the process
	stderr      messages
	door        atomic.Pointer[front.Door] // nil during the start

	draining context.Context // ends when the drain begins
	drain    context.CancelFunc
	cutting  context.Context         // ends at the second signal
	cut      context.CancelCauseFunc // gets the error of the process; errNothingCut for none
}

// newLifetime catches the signals.
func newLifetime(stderr *os.File) *lifetime {
	l := &lifetime{
		end: make(chan os.Signal, 2), reload: make(chan os.Signal, 8), stderr: newMessages(stderr),
	}
	l.draining, l.drain = context.WithCancel(context.Background())
	l.cutting, l.cut = context.WithCancelCause(context.Background())
	signal.Notify(l.end, syscall.SIGTERM, syscall.SIGINT)
	signal.Notify(l.reload, syscall.SIGHUP, syscall.SIGUSR1)
	return l
}

// run runs work, whose error it returns, until a signal ends the start, or the drain. Work that does not end goes on
// until the process ends.
func (l *lifetime) run(work func() error) error {
	defer func() {
		signal.Stop(l.end)
		signal.Stop(l.reload)
		l.drain()
		l.cut(nil)
	}()
	ended := make(chan error, 1)
	go func() { ended <- work() }()
	for stopping := false; ; {
		select {
		case err := <-ended:
			l.stderr.flush(flushTimeout)
			return err
		case sig := <-l.end:
			switch {
			case l.door.Load() == nil:
				fmt.Fprintf(l.stderr, "weir: %v: the start ends\n", sig)
				l.stderr.flush(lastFlush)
				return nil
			case !stopping && l.draining.Err() == nil:
				stopping = true
				fmt.Fprintf(l.stderr, "weir: %v: draining\n", sig)
				go func() {
					notify(daemon.SdNotifyStopping)
					l.drain()
				}()
			default:
				return l.endDrain(sig, ended)
			}
		}
	}
}

// The limits after the second signal, together less than a second: for the work, of which lastLog is for the log, and
// for stderr.
const (
	lastWork  = 700 * time.Millisecond
	lastLog   = 500 * time.Millisecond
	lastFlush = 200 * time.Millisecond
)

// errNothingCut is the end of a drain that had no request in flight.
var errNothingCut = errors.New("no request was cut")

// endDrain ends the process at the second signal.
func (l *lifetime) endDrain(sig os.Signal, ended <-chan error) error {
	why := errNothingCut
	switch n := l.door.Load().InFlight(); n {
	case 0:
		fmt.Fprintf(l.stderr, "weir: %v while draining: the process ends; %v\n", sig, errNothingCut)
	case 1:
		why = fmt.Errorf("%v while draining: 1 request was cut", sig)
	default:
		why = fmt.Errorf("%v while draining: %d requests were cut", sig, n)
	}
	l.cut(why)
	ctx, cancel := context.WithTimeout(context.Background(), lastWork)
	defer cancel()
	err := abandon.Call(ctx, func() error { return <-ended })
	if ctx.Err() != nil && why == errNothingCut {
		err = nil
	} else if ctx.Err() != nil {
		cli.PrintError(l.stderr, why)
		err = cli.ErrReported
	}
	l.stderr.flush(lastFlush)
	return err
}

// cause returns the error of the process after the second signal, or nil.
func (l *lifetime) cause() error {
	if err := context.Cause(l.cutting); err != errNothingCut {
		return err
	}
	return nil
}
