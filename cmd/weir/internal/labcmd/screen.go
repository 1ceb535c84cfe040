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
)

// A screen shows on stderr how far an experiment is: a line for each run that
// has ended, and on a terminal the one that is being made below them.
type screen struct {
	cli.Streams
	live bool // the last line is drawn again and again

	mu    sync.Mutex // guards what follows: the lab shows its progress, signals end it
	quiet bool
	drawn bool
	head  string // is shown before anything else, once there is something
	width int    // of the longest configuration's name, as far as they are known
}

func newScreen(s cli.Streams, quiet bool) *screen {
	return &screen{Streams: s, live: cli.IsTerminal(s.Err), quiet: quiet}
}

// begin says what is going to be run, and where its results are kept. It does so
// when the lab has begun: it may refuse to.
func (v *screen) begin(cases []lab.Case, dir string) {
	for _, c := range cases {
		v.widen(c.Name)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.head = fmt.Sprintf("weir: %d configurations, the baseline's second one included; results are kept in %s", len(cases), dir)
}

// widen makes room for a configuration's name, unless it is a very long one.
func (v *screen) widen(name string) {
	const most = 40
	v.width = max(v.width, min(len([]rune(name)), most))
}

// show shows what has changed.
func (v *screen) show(p lab.Progress) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.quiet {
		return
	}
	if v.head != "" {
		v.line(v.head)
		v.head = ""
	}
	switch {
	case p.Line != "":
		v.line(p.Line)
	case p.Step == lab.Ended && p.Last != nil:
		v.line(v.ended(p))
	}
	if v.live {
		v.draw(now(p))
	}
}

// Say writes a line that no --quiet keeps back.
func (v *screen) Say(text string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.line(text)
}

// Close shows nothing more.
func (v *screen) Close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.clear()
	v.quiet = true
}

// interruptNotice is said at the first interrupt.
const interruptNotice = "what was started is stopped, and the runs so far are reported"

// ended is the line of a run that has ended.
func (v *screen) ended(p lab.Progress) string {
	r := p.Last
	v.widen(r.Configuration)
	digits := len(fmt.Sprint(p.Of))
	text := fmt.Sprintf("%*d/%d  %-*s  ", digits, p.Run, p.Of, v.width, r.Configuration)
	switch {
	case r.Outcome != lab.Done:
		text += failure(r)
	default:
		text += brief(r)
	}
	if !v.live && p.Left > time.Second/2 {
		text += "  " + left(p.Left)
	}
	if last := lastLine(r.LastOutput); last != "" && r.Outcome != lab.Done {
		text += fmt.Sprintf("\n%*s  %s", 2*digits+1, "", "its last words: "+last)
	}
	return text
}

// failure says how a run that is not done has ended.
func failure(r *lab.Run) string {
	why, _, _ := strings.Cut(r.Error, "\n")
	text := string(r.Outcome) + ": " + readable.Visible(why)
	if r.Outcome == lab.Died && r.Exit != "" {
		text += " (" + r.Exit + ")"
	}
	return text
}

// lastLine returns the last line of a service's output that says something, fit
// for a terminal.
func lastLine(output string) string {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	return readable.Clip(readable.Visible(strings.TrimSpace(lines[len(lines)-1])))
}

// shown are the metrics of a run's line, and what stands before each.
var shown = map[string]string{"requests per second": "", "latency p99": "p99 ", "CPU per request": "CPU ", "memory, peak": "memory "}

// brief has what a person looks for first in a run.
func brief(r *lab.Run) string {
	var parts []string
	for _, m := range lab.Metrics() {
		before, isShown := shown[m.Name]
		if value, ok := m.Of(r); ok && isShown {
			parts = append(parts, before+analysis.Quantity(value, m.Unit))
		}
	}
	parts = append(parts, missing(r)...)
	if len(parts) > 0 || len(r.Own) == 0 {
		return strings.Join(parts, ", ")
	}
	first := r.Own[0] // of a benchmark, say
	text := readable.Visible(first.Name) + " " + analysis.Quantity(first.Value, first.Unit)
	if more := len(r.Own) - 1; more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text
}

// missing has what a service should not owe: answers, and lines of its log.
func missing(r *lab.Run) []string {
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

// now is the line of the run that is being made. What matters most stands first,
// since a narrow terminal cuts the end.
func now(p lab.Progress) string {
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

// line writes a line that stays.
func (v *screen) line(text string) {
	v.clear()
	fmt.Fprintln(v.Err, text)
}

// draw writes the line that does not stay, cut to the terminal's width.
func (v *screen) draw(text string) {
	width, _ := cli.TerminalSize(v.Err)
	if runes := []rune(text); len(runes) >= width && width > 1 {
		text = string(runes[:width-1])
	}
	fmt.Fprintf(v.Err, "\r\x1b[K%s", text)
	v.drawn = true
}

// clear removes the line that does not stay.
func (v *screen) clear() {
	if v.drawn {
		fmt.Fprint(v.Err, "\r\x1b[K")
		v.drawn = false
	}
}
