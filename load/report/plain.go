package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/page"
	"github.com/weirhq/weir/internal/readable"
	"github.com/weirhq/weir/load"
)

// Plain writes a run's progress as lines: one every ten seconds, and one at the
// end. Use [NewPlain]. It is not safe for concurrent use.
type Plain struct {
	w    io.Writer
	next time.Duration
}

// NewPlain returns a Plain that writes to w.
func NewPlain(w io.Writer) *Plain { return &Plain{w: w, next: plainEvery} }

const plainEvery = 10 * time.Second

// Show writes a line if it is due.
func (l *Plain) Show(p load.Progress) {
	if p.Elapsed < l.next && !p.Done {
		return
	}
	for l.next <= p.Elapsed {
		l.next += plainEvery
	}
	when := readable.Lasting(wholeSeconds(p.Elapsed))
	if p.Done {
		when = progressText(p)
	}
	fmt.Fprintf(l.w, "%s: %s\n", when, page.Pen{}.Clean(plainText(p)))
}

// plainText describes a progress. Without a response it has neither latencies
// nor statuses.
func plainText(p load.Progress) string {
	parts := []string{readable.Things(p.Requests, "response")}
	for _, piece := range responsePieces(p)[1:] {
		parts = append(parts, piece.text)
	}
	text := strings.Join(parts, ", ")
	if p.Requests == 0 {
		return text
	}
	parts = nil
	for _, piece := range latencyPieces(p) {
		parts = append(parts, piece.text)
	}
	text += "; from " + countsFrom(p) + " " + strings.Join(parts, ", ") + ";"
	for _, piece := range statusPieces(p) {
		text += " " + piece.text
	}
	return text
}
