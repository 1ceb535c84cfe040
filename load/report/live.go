package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/weirhq/weir/internal/page"
	"github.com/weirhq/weir/internal/readable"
	"github.com/weirhq/weir/load"
)

// Live shows a run's progress in a terminal, as a block of about ten lines that
// is redrawn in place. Use [NewLive]. It is safe for concurrent use. Errors of
// the terminal are ignored, because there is no other place to report them.
//
// The block is drawn with five control sequences. A framework for terminals
// would also read the keyboard and the signals, which belong to the command.
type Live struct {
	w     io.Writer
	url   string
	size  func() (width, height int)
	color bool

	mu     sync.Mutex // guards w and the fields below
	widths []int      // of the lines on the screen, from the top
	past   []load.Second
}

// NewLive returns a Live that writes to a terminal. It asks for the size before
// each drawing; 0 is 80 by 24. Without color it still redraws in place.
func NewLive(w io.Writer, url string, size func() (width, height int), color bool) *Live {
	return &Live{w: w, url: url, size: size, color: color}
}

// The control sequences. Terminals without synchronised output (mode 2026)
// ignore the frame sequences.
const (
	beginFrame = "\x1b[?2026h"
	endFrame   = "\x1b[?2026l"
	hideCursor = "\x1b[?25l"
	showCursor = "\x1b[?25h"
	clearRight = "\x1b[K" // to the end of the line
	clearBelow = "\x1b[J" // to the end of the screen
)

// Show replaces the block in one write.
func (l *Live) Show(p load.Progress) {
	l.mu.Lock()
	defer l.mu.Unlock()
	width, height := l.terminal()
	l.remember(p.Last)
	lines := l.lines(p, width-1) // a full line would wrap on some terminals
	lines = lines[:min(len(lines), max(1, height-1))]

	var b strings.Builder
	b.WriteString(beginFrame + hideCursor)
	b.WriteString(l.toTop(width, height))
	l.widths = l.widths[:0]
	for i, line := range lines {
		if i > 0 {
			b.WriteString("\r\n")
		}
		b.WriteString(line.text(page.Pen{Colored: l.color}) + clearRight)
		l.widths = append(l.widths, line.width())
	}
	b.WriteString(clearBelow + endFrame)
	io.WriteString(l.w, b.String())
}

// terminal returns the size to draw for.
func (l *Live) terminal() (width, height int) {
	width, height = l.size()
	if width <= 0 {
		width = 80
	}
	if height <= 0 {
		height = 24
	}
	return width, height
}

// Clear removes the block, if there is one, and shows the cursor. Show may be
// called again.
func (l *Live) Clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.widths) == 0 {
		return
	}
	width, height := l.terminal()
	io.WriteString(l.w, l.toTop(width, height)+clearBelow+showCursor)
	l.widths = l.widths[:0]
}

// toTop moves the cursor from the block's last line to its first. It assumes
// that a terminal that has become narrower has wrapped the long lines, as most
// do.
func (l *Live) toTop(width, height int) string {
	rows := 0
	for _, w := range l.widths {
		rows += max(1, (w+width-1)/width)
	}
	if up := min(rows-1, height-1); up > 0 {
		return fmt.Sprintf("\r\x1b[%dA", up)
	}
	return "\r"
}

// pastSeconds is the number of seconds that are kept for the sparklines.
const pastSeconds = 300

func (l *Live) remember(s load.Second) {
	if n := len(l.past); s.Seconds == 0 || n > 0 && l.past[n-1].Start == s.Start {
		return
	}
	if len(l.past) == pastSeconds {
		l.past = slices.Delete(l.past, 0, 1)
	}
	l.past = append(l.past, s)
}

// A piece is a part of a line in one colour, without control characters.
type piece struct {
	color page.Color
	text  string
}

// A line consists of pieces.
type line []piece

func (l line) width() int {
	n := 0
	for _, p := range l {
		n += len([]rune(p.text))
	}
	return n
}

func (l line) text(p page.Pen) string {
	var b strings.Builder
	for _, piece := range l {
		b.WriteString(p.Paint(piece.color, piece.text))
	}
	return b.String()
}

// cut shortens the line to width characters.
func (l line) cut(width int) line {
	for i, p := range l {
		text := []rune(p.text)
		if len(text) <= width {
			width -= len(text)
			continue
		}
		kept := slices.Clone(l[:i])
		if width > 0 {
			kept = append(kept, piece{p.color, readable.Fit(p.text, width)})
		}
		return kept
	}
	return l
}

// labelWidth is the width of the labels at the left.
const labelWidth = 11

// lines returns the block, the most important lines first, because a low
// terminal cuts the others.
func (l *Live) lines(p load.Progress, width int) []line {
	lines := []line{
		{{page.Bold, page.Pen{Colored: true}.Clean(readable.Clip(l.url))}},
		progressLine(p, width),
	}
	lines = append(lines, packed("responses", responsePieces(p), width)...)
	lines = append(lines, packed("from "+countsFrom(p), latencyPieces(p), width)...)
	lines = append(lines, packed("status", statusPieces(p), width)...)
	lines = append(lines, packed("now", []piece{
		{page.Plain, readable.Things(int64(p.Connections), "connection")},
		{page.Plain, readable.Things(p.InFlight, "request") + " under way"},
	}, width)...)
	if p.Agents > 0 {
		lines = append(lines, packed("agents", agentPieces(p), width)...)
	}
	lines = append(lines,
		l.sparkline("responses", page.Green, width, responsesPerSecond),
		l.sparkline("p99", page.Cyan, width, p99Of),
	)
	for i := range lines {
		lines[i] = lines[i].cut(max(width, 1))
	}
	return lines
}

// packed puts pieces beside a label, and continues below it when a line is
// full.
func packed(label string, pieces []piece, width int) []line {
	current := line{{page.Dim, fmt.Sprintf("%-*s", labelWidth, label)}}
	var lines []line
	for _, p := range pieces {
		if len(current) > 1 && current.width()+2+len([]rune(p.text)) > width {
			lines = append(lines, current)
			current = line{{page.Plain, strings.Repeat(" ", labelWidth)}}
		}
		if len(current) > 1 {
			current = append(current, piece{page.Plain, "  "})
		}
		current = append(current, p)
	}
	return append(lines, current)
}

func responsePieces(p load.Progress) []piece {
	pieces := []piece{{page.Plain, readable.Count(p.Requests)}}
	if p.Last.Seconds > 0 && !p.Waiting && !p.Done {
		pieces = append(pieces, piece{page.Bold, readable.Number(responsesPerSecond(p.Last)) + "/s now"})
	}
	if s := p.Elapsed.Seconds(); s > 0 {
		pieces = append(pieces, piece{page.Plain, readable.Number(float64(p.Requests)/s) + "/s on average"})
	}
	errors := piece{page.Plain, "no errors"}
	if p.Errors > 0 {
		errors = piece{page.Red, readable.Things(p.Errors, "error")}
	}
	return append(pieces, errors)
}

// countsFrom names the moment from which the latencies of a progress count.
func countsFrom(p load.Progress) string {
	if p.FromDue {
		return "due"
	}
	return "sent"
}

func latencyPieces(p load.Progress) []piece {
	l := p.Latency
	if l == nil {
		return []piece{{page.Plain, "no request has ended yet"}}
	}
	var pieces []piece
	for _, q := range []struct {
		name string
		column
	}{{"p50", column{"p50", l.P50}}, {"p90", column{"p90", l.P90}}, {"p99", column{"p99", l.P99}}, {"p99.9",
		column{"p999", l.P999}}, {"max", column{"max", l.Max}}} {
		pieces = append(pieces, piece{page.Plain, q.name + " " + bounded(l, q.key, span(q.value))})
	}
	return pieces
}

func statusPieces(p load.Progress) []piece {
	var pieces []piece
	for _, class := range slices.Sorted(maps.Keys(p.Status)) {
		c := page.Green
		if class >= "4" {
			c = page.Red
		}
		pieces = append(pieces, piece{c, page.Pen{Colored: true}.Clean(readable.Clip(class)) + " " +
			readable.Count(p.Status[class])})
	}
	if len(pieces) == 0 {
		return []piece{{page.Plain, "no response yet"}}
	}
	return pieces
}

func agentPieces(p load.Progress) []piece {
	pieces := []piece{{page.Plain, fmt.Sprintf("%d of %d report", p.Reporting, p.Agents)}}
	for _, name := range p.Quiet {
		pieces = append(pieces, piece{page.Red, "nothing from " + page.Pen{Colored: true}.Clean(readable.Clip(name))})
	}
	return pieces
}

// sparkline draws the last seconds that fit, and the largest value as text.
func (l *Live) sparkline(label string, c page.Color, width int, of func(load.Second) float64) line {
	room := max(0, width-labelWidth-12)
	past := l.past[max(0, len(l.past)-room):]
	values, most := make([]float64, len(past)), 0.0
	for i, s := range past {
		values[i] = of(s)
		most = max(most, values[i])
	}
	text := ""
	if most > 0 {
		text = " " + readable.Span(most)
		if label == "responses" {
			text = " " + readable.Number(most) + "/s"
		}
	}
	return line{{page.Dim, fmt.Sprintf("%-*s", labelWidth, label)},
		{c, sparkline(page.Pen{Colored: true}, values, most)}, {page.Dim, text}}
}

// progressLine draws the share of the run that is over, and the time that is
// left.
func progressLine(p load.Progress, width int) line {
	text := "  " + progressText(p)
	done := p.Share()
	room := min(60, width-len([]rune(text)))
	if done < 0 || room < 8 {
		return line{{page.Plain, strings.TrimSpace(text)}}
	}
	bar := bar(page.Pen{Colored: true}, done, room)
	return line{{page.Green, bar}, {page.Dim, strings.Repeat("░", max(0, room-len([]rune(bar))))}, {page.Plain, text}}
}

func progressText(p load.Progress) string {
	switch {
	case p.Elapsed < 0 && p.Done:
		return "ended in the warm-up"
	case p.Elapsed < 0:
		return "warming up, " + readable.Lasting(wholeSeconds(-p.Elapsed)) + " left"
	case p.Done:
		return "done after " + readable.Lasting(p.Elapsed.Seconds())
	case p.Waiting:
		return fmt.Sprintf("waiting for %s", readable.Things(p.InFlight, "last response"))
	}
	left, known := p.Left()
	if !known {
		return readable.Lasting(wholeSeconds(p.Elapsed))
	}
	return readable.Lasting(wholeSeconds(left)) + " left"
}

// wholeSeconds rounds a duration to whole seconds, so that the clock does not
// flicker.
func wholeSeconds(d time.Duration) float64 { return d.Round(time.Second).Seconds() }
