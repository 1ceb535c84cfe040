package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/readable"
	"github.com/weirhq/weir/load"
)

// Plain tells a run's progress where nothing can be drawn: a line every ten
// seconds, and one at the end. It is made by [NewPlain] and used by one goroutine
// at a time.
type Plain struct {
	w    io.Writer
	next time.Duration
}

// NewPlain returns a Plain that writes to w.
func NewPlain(w io.Writer) *Plain { return &Plain{w: w, next: plainEvery} }

const plainEvery = 10 * time.Second

// Show writes a line if it is time for one.
func (l *Plain) Show(p load.Progress) {
	if p.Elapsed < l.next && !p.Done {
		return
	}
	for l.next <= p.Elapsed {
		l.next += plainEvery
	}
	text := readable.Count(p.Requests) + " answers"
	for _, piece := range answerPieces(p)[1:] {
		text += ", " + piece.text
	}
	text += "; from " + countsFrom(p)
	for _, piece := range latencyPieces(p) {
		text += " " + piece.text + ","
	}
	text = strings.TrimSuffix(text, ",") + ";"
	for _, piece := range statusPieces(p) {
		text += " " + piece.text
	}
	fmt.Fprintf(l.w, "%s: %s\n", readable.Lasting(wholeSeconds(p.Elapsed)), pen{}.clean(text))
}
