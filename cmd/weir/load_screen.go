package main

import (
	"fmt"
	"os"
	"sync"

	"golang.org/x/term"

	"github.com/weirhq/weir/load"
	"github.com/weirhq/weir/load/report"
)

// A screen shows a run: on stderr while it lasts, on stdout when it is over.
type screen struct {
	streams
	color bool // of the report

	mu    sync.Mutex // guards what follows: the run shows its progress, signals end it
	show  func(load.Progress)
	clear func()
}

// newScreen makes a screen for a run: one that is drawn in place on a terminal,
// one of lines elsewhere.
func newScreen(s streams, c *loadSendCmd, plan load.Plan) *screen {
	plain := c.NoColor || os.Getenv("NO_COLOR") != ""
	v := &screen{streams: s, color: isTerminal(s.out) && !plain, show: func(load.Progress) {}, clear: func() {}}
	switch {
	case c.Quiet:
	case isTerminal(s.err):
		live := report.NewLive(s.err, plan.Targets[0].URL, func() (int, int) { return terminalSize(s.err) }, !plain)
		v.show, v.clear = live.Show, live.Clear
	default:
		v.show = report.NewPlain(s.err).Show
	}
	return v
}

// terminalSize is 0 by 0 where f is no terminal.
func terminalSize(f *os.File) (width, height int) {
	width, height, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0, 0
	}
	return width, height
}

// progress shows how far the run is.
func (v *screen) progress(p load.Progress) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.show(p)
	if p.Done {
		v.clear()
	}
}

// say writes a line, after which the progress goes on below.
func (v *screen) say(line string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.clear()
	fmt.Fprintln(v.err, line)
}

// close shows no more progress.
func (v *screen) close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.clear()
	v.show, v.clear = func(load.Progress) {}, func() {}
}

// report writes what a person wants to know at the end.
func (v *screen) report(r *load.Result) error {
	width, _ := terminalSize(v.out)
	return report.Text(v.out, r, report.Style{Width: width, Color: v.color})
}

// loadEnds is the message at the first interrupt. The wait is that of load.Run.
const loadEnds = "nothing more is sent; responses under way have one more second"
