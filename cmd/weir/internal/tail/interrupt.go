package tail

import (
	"context"
	"io"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
)

// stallTime is the time after which a write is given up, once a signal has ended weir tail.
const stallTime = 250 * time.Millisecond

// An output knows whether a write stalls, because its reader does not read.
type output struct {
	to    io.Writer
	began atomic.Pointer[time.Time] // when the current write began; nil if there is none
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	now := time.Now()
	o.began.Store(&now)
	defer o.began.Store(nil)
	return o.to.Write(p)
}

func (o *output) stalls() bool {
	began := o.began.Load()
	return began != nil && time.Since(*began) >= stallTime
}

// interruptible calls run. The signal that ends weir tail cancels its context, and run then writes what it has. If its
// output stalls, interruptible returns ErrInterrupted, and leaves run to end with the process.
func interruptible(signals <-chan os.Signal, ignoreFirst bool, out *output, run func(context.Context) error) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- run(ctx) }() // awaited below, unless the output stalls
	var ignored time.Time             // when the first interrupt came
	var checks <-chan time.Time       // nil until the context is cancelled
	for {
		select {
		case err := <-ended:
			return err
		case sig := <-signals:
			switch {
			case sig != syscall.SIGINT || !ignoreFirst || !ignored.IsZero() && time.Since(ignored) > cli.SameInterrupt:
				cancel()
				checks = time.Tick(stallTime / 5)
			case ignored.IsZero():
				ignored = time.Now()
			}
		case <-checks:
			if out.stalls() {
				return cli.ErrInterrupted
			}
		}
	}
}
