package labcmd

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/internal/readable"
	"github.com/weirhq/weir/lab"
	"github.com/weirhq/weir/lab/analysis"
	"github.com/weirhq/weir/lab/experiment"
	"github.com/weirhq/weir/lab/guard"
	"github.com/weirhq/weir/lab/results"
)

// A screen shows the progress of an experiment on stderr: a line for each ended
// run and, on a terminal, a live line for the current run below them.
type screen struct {
	cli.Streams
	live bool // stderr is a terminal that can redraw lines

	mu     sync.Mutex // guards the fields below: the lab shows progress, a signal ends it
	quiet  bool
	drawn  bool     // the live line is shown
	header []string // to be shown before the first line
	width  int      // of the longest configuration name so far
}

func newScreen(s cli.Streams, quiet bool) *screen {
	return &screen{Streams: s, live: cli.IsScreen(s.Err), quiet: quiet}
}

// begin sets the header, with the sentence of the plan. It is printed with the first progress, because the lab may refuse
// to start.
func (v *screen) begin(cases []experiment.Case, dir, plan string) {
	for _, c := range cases {
		v.widen(c.Name)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.header = []string{fmt.Sprintf("weir: %d configurations, the baseline's second one included; results are kept in "+
		"%s", len(cases), dir)}
	if plan != "" {
		v.header = append(v.header, "weir: "+plan)
	}
}

// widen extends the column of configuration names, up to 40 characters.
func (v *screen) widen(name string) {
	v.width = max(v.width, min(len([]rune(name)), 40))
}

// show prints progress.
func (v *screen) show(p lab.Progress) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.quiet {
		return
	}
	for _, line := range v.header {
		v.line(line)
	}
	v.header = nil
	switch {
	case p.Line != "":
		v.line(p.Line)
	case p.Step == lab.Ended && p.Last != nil:
		v.line(v.ended(p))
	}
	if v.live {
		v.draw(liveLine(p))
	}
}

// showBlock prints progress of a guard: the builds, failed runs, and on a terminal
// the current run.
func (v *screen) showBlock(p lab.Progress) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case v.quiet:
		return
	case p.Line != "":
		v.line(p.Line)
	case p.Step == lab.Ended && p.Last != nil && p.Last.Outcome != results.Done:
		v.line(fmt.Sprintf("%s, run %d: %s", p.Configuration, p.Repeat, failure(p.Last)))
	}
	if v.live && p.Repeat > 0 {
		v.draw(fmt.Sprintf("%s  run %d  %s", p.Configuration, p.Repeat, p.Step))
	}
}

// looked prints the differences so far of a guard.
func (v *screen) looked(r *guard.Result) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.quiet {
		return
	}
	var parts []string
	for _, j := range r.Conditions {
		parts = append(parts, j.Summary())
	}
	v.line(fmt.Sprintf("block %d: %s", len(r.Blocks), strings.Join(parts, ", ")))
}

// Say implements cli.Screen. It prints the message even with --quiet.
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
	v.quiet = true
}

// interruptNotice is the message at the first interrupt.
const interruptNotice = "stopping all started processes and reporting the runs so far"

// ended returns the line of an ended run.
func (v *screen) ended(p lab.Progress) string {
	r := p.Last
	v.widen(r.Configuration)
	digits := len(fmt.Sprint(p.Of))
	text := fmt.Sprintf("%*d/%d  %-*s  ", digits, p.Run, p.Of, v.width, r.Configuration)
	if r.Outcome == results.Done {
		text += summary(r)
	} else {
		text += failure(r)
	}
	if !v.live && p.Left > time.Second/2 {
		text += "  " + left(p.Left)
	}
	if last := lastLine(r.LastOutput); last != "" && r.Outcome != results.Done {
		text += fmt.Sprintf("\n%*s%s", 2*digits+1, "", "its last output: "+last)
	}
	return text
}

// failure returns how a failed run ended.
func failure(r *results.Run) string {
	why, _, _ := strings.Cut(r.Error, "\n")
	text := string(r.Outcome) + ": " + readable.Visible(why)
	if r.Outcome == results.Died && r.Exit != "" {
		text += " (" + r.Exit + ")"
	}
	return text
}

// lastLine returns the last line of a service's output that is not blank, without
// control characters.
func lastLine(output string) string {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	return readable.Clip(readable.Visible(strings.TrimSpace(lines[len(lines)-1])))
}

// shownMetrics has the metrics of a run's line, and their labels.
var shownMetrics = map[string]string{"requests per second": "", "latency p99": "p99 ", "CPU per request": "CPU ",
	"memory, peak": "memory "}

// summary returns the most important metrics of a run.
func summary(r *results.Run) string {
	var parts []string
	for _, m := range results.Metrics() {
		label, isShown := shownMetrics[m.Name]
		if value, ok := m.Of(r); ok && isShown {
			parts = append(parts, label+analysis.Quantity(value, m.Unit))
		}
	}
	parts = append(parts, missing(r)...)
	if len(parts) > 0 || len(r.Own) == 0 {
		return strings.Join(parts, ", ")
	}
	first := r.Own[0] // such as that of a benchmark
	text := readable.Visible(first.Name) + " " + analysis.Quantity(first.Value, first.Unit)
	if more := len(r.Own) - 1; more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text
}

// missing returns the counts of missing responses and log lines.
func missing(r *results.Run) []string {
	var parts []string
	if r.Load != nil {
		if n := r.Load.Without2xx(); n > 0 {
			parts = append(parts, readable.Count(n)+" not answered with 2xx")
		}
	}
	if r.Output.Lost > 0 {
		parts = append(parts, readable.Count(r.Output.Lost)+" log lines lost")
	}
	return parts
}

// liveLine describes the current run. The important parts come first, because a
// narrow terminal cuts off the end.
func liveLine(p lab.Progress) string {
	var parts []string
	switch {
	case p.Repeat > 0:
		parts = append(parts, fmt.Sprintf("%d/%d", p.Run, p.Of))
	case p.Configuration != "":
		parts = append(parts, "profiles")
	}
	if p.Left > time.Second/2 {
		parts = append(parts, left(p.Left))
	}
	if p.Configuration != "" {
		parts = append(parts, p.Configuration)
	}
	return strings.Join(append(parts, string(p.Step)), "  ")
}

func left(d time.Duration) string {
	return readable.Lasting(math.Round(d.Seconds())) + " left"
}

// line prints a line above the live line.
func (v *screen) line(text string) {
	v.clear()
	fmt.Fprintln(v.Err, cli.Printable(text))
}

// draw replaces the live line, cut to the terminal's width.
func (v *screen) draw(text string) {
	width, _ := cli.TerminalSize(v.Err)
	text = readable.Visible(text)
	if runes := []rune(text); len(runes) >= width && width > 1 {
		text = string(runes[:width-1])
	}
	fmt.Fprintf(v.Err, "\r\x1b[K%s", text)
	v.drawn = true
}

// clear removes the live line.
func (v *screen) clear() {
	if v.drawn {
		fmt.Fprint(v.Err, "\r\x1b[K")
		v.drawn = false
	}
}
