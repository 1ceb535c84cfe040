package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/front"
	"github.com/weirhq/weir/front/config"
)

// openLog opens what the configuration names as the log's destinations.
func openLog(cfg *config.Config, s cli.Streams, says io.Writer) (*front.Log, error) {
	grumble := grumbler{to: says}
	out, err := front.OpenLog(cfg, s.Out, s.Err, grumble.about)
	if err != nil {
		return nil, cli.WithHint(err, "its folder must exist and be writable")
	}
	return out, nil
}

// logWait is how long the goroutine that receives signals waits for the log. A
// named pipe without a reader may hold up a write for ever.
const logWait = time.Second

// reopenLog opens the log's files anew.
func reopenLog(out *front.Log, says io.Writer) {
	err, ended := waitForLog(out.Reopen)
	switch {
	case !ended:
		cli.PrintError(says, errors.New("the log is opened anew when the write under way has ended"))
	case err != nil:
		cli.PrintError(says, fmt.Errorf("the log goes on in the file of before: %w", err))
	}
}

// waitForLog calls do and reports whether it returned within logWait. Otherwise
// it goes on by itself, and ends with the process.
func waitForLog(do func() error) (err error, ended bool) {
	done := make(chan error, 1)
	go func() { done <- do() }()
	timer := time.NewTimer(logWait)
	defer timer.Stop()
	select {
	case err := <-done:
		return err, true
	case <-timer.C:
		return nil, false
	}
}

// A grumbler says what goes wrong with the log's files, on stderr: the same
// thing once a minute at most.
type grumbler struct {
	mu   sync.Mutex
	to   io.Writer            // guarded by mu
	said map[string]time.Time // guarded by mu: what was said in the last minute
}

const sameGrumble = time.Minute

func (g *grumbler) about(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now, about := time.Now(), gist(err)
	maps.DeleteFunc(g.said, func(_ string, when time.Time) bool { return now.Sub(when) >= sameGrumble })
	if _, ok := g.said[about]; ok {
		return
	}
	if g.said == nil {
		g.said = make(map[string]time.Time)
	}
	g.said[about] = now
	fmt.Fprintf(g.to, "weir: the log: %v\n", err)
}

// gist is what two errors have in common that are the same thing: a file that
// cannot be put aside would have another name each time.
func gist(err error) string {
	var link *os.LinkError
	if errors.As(err, &link) {
		return link.Op + " " + link.Old + ": " + link.Err.Error()
	}
	return err.Error()
}

// lastEvents is how long the log may take for the events that wait when
// everything else has ended.
const lastEvents = time.Second

// closeLog writes what waits, says what the log lacks, and returns err with
// what it has to add. When the log's reader stands still, a write never returns
// and no signal would end the process: that write is left to end with it.
func closeLog(out *front.Log, says io.Writer, err error) error {
	ctx, cancel := context.WithTimeout(context.Background(), lastEvents)
	defer cancel()
	left := out.Close(ctx)
	for _, d := range out.Destinations() {
		if text := lacks(d); text != "" {
			fmt.Fprintln(says, text)
		}
	}
	if left == nil {
		return err
	}
	why := "the log's reader stands still"
	if cause := out.Stats().LastError; cause != nil {
		why = cause.Error()
	}
	left = fmt.Errorf("the log ends early: %s: %w", why, left)
	if err == nil {
		return left
	}
	return fmt.Errorf("%w; %w", err, left)
}

// afterDrain is more than a door takes to end when its requests were cut.
const afterDrain = 3 * time.Second

// giveUpLog closes the log under a door that does not end: with when_full:
// block it waits for the log, perhaps for ever. What it logs from now on is
// dropped.
func giveUpLog(out *front.Log) {
	ctx, cancel := context.WithTimeout(context.Background(), lastEvents)
	defer cancel()
	out.Close(ctx) // closeLog says what is left
}

// lacks says how many events a destination that is closed does not have, and
// why, or "".
func lacks(d front.LogDestination) string {
	n := d.Stats.Lost()
	if n == 0 {
		return ""
	}
	var why []string
	for _, loss := range d.Stats.Dropped {
		why = append(why, fmt.Sprintf("%s %s: %d", loss.Reason, loss.Level, loss.Events))
	}
	return fmt.Sprintf("weir: the log to %s lacks %d of %d events (%s)", d.To, n, d.Stats.Emitted, strings.Join(why, ", "))
}
