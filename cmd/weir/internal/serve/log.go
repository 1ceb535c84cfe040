package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/logto"
	"github.com/weirhq/weir/internal/abandon"
)

// openLog opens the log's destinations that the configuration names.
func openLog(cfg *config.Config, s cli.Streams, stderr io.Writer) (*logto.Log, error) {
	reporter := errorReporter{stderr: stderr}
	out, err := logto.Open(cfg.Log.Config, logto.Options{
		Stdout: s.Out, Stderr: s.Err, Complain: reporter.report, Servers: logServers,
	})
	var server *cli.Error // of a destination that is a server
	if err != nil && !errors.As(err, &server) {
		err = cli.WithHint(err, "its folder must exist and be writable")
	}
	return out, err
}

// logWait is the time that a reload waits for the log. A named pipe without a reader can block a write for ever.
const logWait = time.Second

// reopenLog opens the log's files again.
func reopenLog(out *logto.Log, stderr io.Writer) {
	err, ended := waitForLog(out.Reopen)
	switch {
	case !ended:
		cli.PrintError(stderr, errors.New("the log will be reopened when the current write ends"))
	case err != nil:
		cli.PrintError(stderr, fmt.Errorf("the log stays in its previous file: %w", err))
	}
}

// waitForLog calls do and reports whether it returned within logWait. If not, do
// goes on in its goroutine, at most until the process ends.
func waitForLog(do func() error) (err error, ended bool) {
	ctx, cancel := context.WithTimeout(context.Background(), logWait)
	defer cancel()
	if err = abandon.Call(ctx, do); ctx.Err() != nil {
		return nil, false
	}
	return err, true
}

// flushTimeout is the time to write the waiting events after everything else
// has ended.
const flushTimeout = time.Second

// closeLog writes the waiting events, prints the loss of each destination, and
// returns err joined with an error of the log. If the log's reader stalls, or its disk hangs, a
// write never returns: closeLog then abandons the write.
func closeLog(out *logto.Log, life *lifetime, err error) error {
	limit, grace := flushTimeout, closeGrace
	if life.cutting.Err() != nil {
		limit, grace = lastLog, cutGrace
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit+grace)
	defer cancel()
	closing := abandon.Call(ctx, func() error { return closeWithin(limit, out, life.stderr) })
	if ctx.Err() != nil {
		closing = errors.New("the log ends early: its disk hangs")
	}
	switch {
	case closing == nil:
		return err
	case err == nil:
		return closing
	}
	return fmt.Errorf("%w; %w", err, closing)
}

// closeGrace is the time that a log may take to close after its limit, to count and report its loss; cutGrace is that
// after a second signal.
const (
	closeGrace = 3 * time.Second
	cutGrace   = 100 * time.Millisecond
)

// closeWithin closes the log. A disk that hangs can hold it up for longer than the limit.
func closeWithin(limit time.Duration, out *logto.Log, stderr io.Writer) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	closing := out.Close(ctx)
	for _, d := range out.Destinations() {
		if text := lossSummary(d); text != "" {
			fmt.Fprintln(stderr, text)
		}
		if n := d.OnDisk.Events; n > 0 {
			fmt.Fprintf(stderr, "weir: %d events for %s wait on the disk for the next process\n", n, d.To)
		}
	}
	if closing == nil {
		return nil
	}
	why := "the log's reader has stalled"
	if cause := out.Stats().LastError; cause != nil {
		why = cause.Error()
	}
	return fmt.Errorf("the log ends early: %s: %w", why, closing)
}

// afterDrain is longer than a door takes to end after its requests were cut.
const afterDrain = 3 * time.Second

// abandonLog closes the log of a door that does not end. With when_full: block
// the door waits for the log, perhaps for ever. Later events are dropped.
func abandonLog(out *logto.Log) {
	ctx, cancel := context.WithTimeout(context.Background(), flushTimeout)
	defer cancel()
	out.Close(ctx) // closeLog returns the error
}

// lossSummary describes the events that a closed destination lacks, or returns "".
func lossSummary(d logto.Destination) string {
	n := d.Stats.Lost()
	if n == 0 {
		return ""
	}
	var why []string
	for _, loss := range d.Stats.Dropped {
		why = append(why, fmt.Sprintf("%s %s: %d", loss.Reason, loss.Level, loss.Events))
	}
	return fmt.Sprintf("weir: the log to %s lacks %d of %d events (%s)", d.To, n, d.Stats.Emitted,
		strings.Join(why, ", "))
}
