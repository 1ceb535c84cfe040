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
// is drawn again in place. It is made by [NewLive], and its methods may be called
// at the same time. What a terminal does not take is lost: there is nowhere else
// to say so.
//
// The block is drawn with five control sequences by hand. A framework for
// terminals would read the keyboard and the signals too, which belong to the
// command.
type Live struct {
	w     io.Writer
	url   string
	size  func() (width, height int)
	color bool

	mu     sync.Mutex // guards what follows, and w
	widths []int      // of the lines on the screen, from its top
	past   []load.Second
}

// NewLive returns a Live that writes to a terminal whose size is asked for before
// each drawing; 0 is 80 by 24. Without color it still draws in place.
func NewLive(w io.Writer, url string, size func() (width, height int), color bool) *Live {
	return &Live{w: w, url: url, size: size, color: color}
}

// The control sequences. Terminals that do not know what begins and ends a
// frame (mode 2026) ignore it.
const (
	beginFrame = "\x1b[?2026h"
	endFrame   = "\x1b[?2026l"
	hideCursor = "\x1b[?25l"
	showCursor = "\x1b[?25h"
	clearRight = "\x1b[K" // to the end of the line
	clearBelow = "\x1b[J" // to the end of the screen
)

// Show draws the block, in one write, in place of the one before.
func (l *Live) Show(p load.Progress) {
	l.mu.Lock()
	defer l.mu.Unlock()
	width, height := l.terminal()
	l.remember(p.Last)
	lines := l.lines(p, width-1) // a full line would make some terminals wrap
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

// terminal is the size to draw for.
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

// Clear removes the block, if there is one, and gives the cursor back. Show may
// follow.
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

// toTop moves the cursor from the block's last line to its first one. When a
// terminal has become narrower since, it has broken the lines that no longer
// fit; those that do not break them are few.
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

// pastSeconds are kept for the sparklines.
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

// A piece of a line has one colour and no control characters.
type piece struct {
	color page.Color
	text  string
}

// A line is made of pieces.
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

// cut returns at most width characters of the line.
func (l line) cut(width int) line {
	for i, p := range l {
		text := []rune(p.text)
		if len(text) <= width {
			width -= len(text)
			continue
		}
		kept := slices.Clone(l[:i])
		if width > 0 {
			kept = append(kept, piece{p.color, string(text[:width-1]) + "…"})
		}
		return kept
	}
	return l
}

// labelWidth is that of the words at the left.
const labelWidth = 11

// lines returns the block: what matters most comes first, as a low terminal
// shows no more.
func (l *Live) lines(p load.Progress, width int) []line {
	lines := []line{
		{{page.Bold, page.Pen{Colored: true}.Clean(readable.Clip(l.url))}},
		progressLine(p, width),
	}
	lines = append(lines, packed("answers", answerPieces(p), width)...)
	lines = append(lines, packed("from "+countsFrom(p), latencyPieces(p), width)...)
	lines = append(lines, packed("status", statusPieces(p), width)...)
	lines = append(lines, packed("now", []piece{
		{page.Plain, readable.Things(int64(p.Connections), "connection")},
		{page.Plain, readable.Things(p.InFlight, "request") + " under way"},
	}, width)...)
	lines = append(lines,
		l.sparkline("answers", page.Green, width, answersPerSecond),
		l.sparkline("p99", page.Cyan, width, func(s load.Second) float64 { return float64(s.P99) }),
	)
	for i := range lines {
		lines[i] = lines[i].cut(max(width, 1))
	}
	return lines
}

// packed puts pieces beside a label and, where a line is full, below each other.
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

func answerPieces(p load.Progress) []piece {
	pieces := []piece{{page.Plain, readable.Count(p.Requests)}}
	if p.Last.Seconds > 0 {
		pieces = append(pieces, piece{page.Bold, readable.Number(answersPerSecond(p.Last)) + "/s now"})
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

// countsFrom names what the latencies of a progress count from.
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
	}{{"p50", column{"p50", l.P50}}, {"p90", column{"p90", l.P90}}, {"p99", column{"p99", l.P99}}, {"p99.9", column{"p999", l.P999}}, {"max", column{"max", l.Max}}} {
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
		pieces = append(pieces, piece{c, page.Pen{Colored: true}.Clean(readable.Clip(class)) + " " + readable.Count(p.Status[class])})
	}
	if len(pieces) == 0 {
		return []piece{{page.Plain, "no answer yet"}}
	}
	return pieces
}

// sparkline draws the seconds that there is room for, the last at the right, and
// the greatest of them in words.
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
		if label == "answers" {
			text = " " + readable.Number(most) + "/s"
		}
	}
	return line{{page.Dim, fmt.Sprintf("%-*s", labelWidth, label)}, {c, sparkline(page.Pen{Colored: true}, values, most)}, {page.Dim, text}}
}

// progressLine draws how much of the run is over, and tells what is left.
func progressLine(p load.Progress, width int) line {
	text := "  " + progressText(p)
	done := progressShare(p)
	room := min(60, width-len([]rune(text)))
	if done < 0 || room < 8 {
		return line{{page.Plain, strings.TrimSpace(text)}}
	}
	bar := bar(page.Pen{Colored: true}, done, room)
	return line{{page.Green, bar}, {page.Dim, strings.Repeat("░", max(0, room-len([]rune(bar))))}, {page.Plain, text}}
}

// progressShare is how much of the run is over, from 0 to 1, and less than 0 when
// that is not known.
func progressShare(p load.Progress) float64 {
	share := -1.0
	if p.Duration > 0 {
		share = p.Elapsed.Seconds() / p.Duration.Seconds()
	}
	if p.Of > 0 {
		share = max(share, float64(p.Sent)/float64(p.Of))
	}
	if p.Waiting || p.Done {
		share = 1
	}
	return min(share, 1)
}

func progressText(p load.Progress) string {
	switch {
	case p.Done:
		return "done after " + readable.Lasting(p.Elapsed.Seconds())
	case p.Waiting:
		return fmt.Sprintf("waiting for %s", readable.Things(p.InFlight, "last answer"))
	}
	left, known := timeLeft(p)
	if !known {
		return readable.Lasting(wholeSeconds(p.Elapsed))
	}
	return readable.Lasting(wholeSeconds(left)) + " left"
}

// wholeSeconds keeps a clock from flickering.
func wholeSeconds(d time.Duration) float64 { return d.Round(time.Second).Seconds() }

// timeLeft is the least that the duration and the number leave.
func timeLeft(p load.Progress) (left time.Duration, known bool) {
	if p.Duration > 0 {
		left, known = max(0, p.Duration-p.Elapsed), true
	}
	if p.Of > 0 && p.Sent > 0 {
		byNumber := time.Duration(float64(p.Elapsed) * float64(max(0, p.Of-p.Sent)) / float64(p.Sent))
		if !known || byNumber < left {
			left, known = byNumber, true
		}
	}
	return left, known
}
