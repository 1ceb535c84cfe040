package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weirhq/weir/lab"
	"github.com/weirhq/weir/lab/analysis"
)

// A labScreen shows on stderr how far an experiment is: a line for each run that
// has ended, and on a terminal the one that is being made below them.
type labScreen struct {
	streams
	live  bool // the last line is drawn again and again
	quiet bool
	drawn bool
	width int // of the longest configuration's name so far
}

func newLabScreen(s streams, quiet bool) *labScreen {
	return &labScreen{streams: s, live: isTerminal(s.err), quiet: quiet}
}

// show shows what has changed.
func (v *labScreen) show(p lab.Progress) {
	switch {
	case v.quiet:
	case p.Line != "":
		v.line(p.Line)
	case p.Step == lab.Ended && p.Last != nil:
		v.line(v.ended(p))
	}
	if v.live && !v.quiet {
		v.draw(now(p))
	}
}

// ended is the line of a run that has ended.
func (v *labScreen) ended(p lab.Progress) string {
	r := p.Last
	v.width = max(v.width, len([]rune(r.Configuration)))
	text := fmt.Sprintf("%*d/%d  %-*s  ", len(fmt.Sprint(p.Of)), p.Run, p.Of, v.width, r.Configuration)
	switch {
	case r.Outcome != lab.Done:
		text += string(r.Outcome) + ": " + untilNewline(r.Error)
	default:
		text += brief(r)
	}
	if !v.live && p.Left > 0 {
		text += "  " + left(p.Left)
	}
	return text
}

// shown are the metrics that a run's line has.
var shown = []string{"requests per second", "latency p99", "CPU per request", "memory, peak"}

// brief has what a person looks for first in a run.
func brief(r *lab.Run) string {
	var parts []string
	for _, m := range lab.Metrics() {
		if value, ok := m.Of(r); ok && slices.Contains(shown, m.Name) {
			parts = append(parts, m.Name+" "+analysis.Quantity(value, m.Unit))
		}
	}
	if len(parts) == 0 {
		return fmt.Sprintf("%d measures", len(r.Own))
	}
	return strings.Join(parts, ", ")
}

// now is the line of the run that is being made.
func now(p lab.Progress) string {
	text := string(p.Step)
	if p.Run > 0 {
		text = fmt.Sprintf("%d/%d  %s  %s", p.Run, p.Of, p.Configuration, p.Step)
	}
	if p.Left > 0 {
		text += "  " + left(p.Left)
	}
	return text
}

func left(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.0f s left", d.Seconds())
	}
	return fmt.Sprintf("%.0f min left", d.Minutes())
}

func untilNewline(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// line writes a line that stays.
func (v *labScreen) line(text string) {
	v.close()
	fmt.Fprintln(v.err, text)
}

// draw writes the line that does not stay, cut to the terminal's width.
func (v *labScreen) draw(text string) {
	width, _ := terminalSize(v.err)
	if runes := []rune(text); len(runes) >= width && width > 1 {
		text = string(runes[:width-1])
	}
	fmt.Fprintf(v.err, "\r\x1b[K%s", text)
	v.drawn = true
}

// close removes the line that does not stay.
func (v *labScreen) close() {
	if v.drawn {
		fmt.Fprint(v.err, "\r\x1b[K")
		v.drawn = false
	}
}
