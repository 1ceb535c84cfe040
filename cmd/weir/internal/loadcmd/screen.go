package loadcmd

import (
	"sync"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/load"
	"github.com/weirhq/weir/load/report"
)

// A screen shows the progress of a run on stderr.
type screen struct {
	cli.Streams

	mu    sync.Mutex // guards the fields below: the run shows progress, a signal ends it
	show  func(load.Progress)
	clear func()
}

// newScreen returns a live screen on a terminal that can redraw lines, and one of plain lines
// elsewhere.
func newScreen(s cli.Streams, o *output, plan load.Plan) *screen {
	v := &screen{Streams: s, show: func(load.Progress) {}, clear: func() {}}
	switch {
	case o.Quiet:
	case cli.IsScreen(s.Err):
		live := report.NewLive(s.Err, plan.Targets[0].URL, func() (int, int) { return cli.TerminalSize(s.Err) }, !o.plain())
		v.show, v.clear = live.Show, live.Clear
	default:
		v.show = report.NewPlain(s.Err).Show
	}
	return v
}

// progress shows the state of the run.
func (v *screen) progress(p load.Progress) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.show(p)
	if p.Done {
		v.clear()
	}
}

// Say implements cli.Screen.
func (v *screen) Say(message string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.clear()
	cli.Say(v.Err, message)
}

// Close implements cli.Screen.
func (v *screen) Close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.clear()
	v.show, v.clear = func(load.Progress) {}, func() {}
}

// interruptNotice is the message at the first interrupt. The wait is that of load.Run.
const interruptNotice = "sending has stopped; waiting up to a second for responses in flight"
