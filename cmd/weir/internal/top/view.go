package top

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/internal/page"
	"github.com/weirhq/weir/internal/readable"
	"github.com/weirhq/weir/internal/snapshot"
)

// The control sequences. The screen is a second one, so that the terminal has its old text at the end.
const (
	enterScreen = "\x1b[?1049h\x1b[?25l"
	leaveScreen = "\x1b[?25h\x1b[?1049l"
	toTop       = "\x1b[H"
	clearRight  = "\x1b[K"
	clearBelow  = "\x1b[J"
)

// A view draws snapshots.
type view struct {
	out    *os.File
	admin  string
	screen bool // out is a terminal
	pen    page.Pen
}

// A writeError is an error of the output, which ends weir top.
type writeError struct{ error }

func (e writeError) Unwrap() error { return e.error }

// show draws a snapshot.
func (v *view) show(d *snapshot.Door) error {
	if !v.screen {
		return v.write(v.line(d) + "\n")
	}
	width, height := cli.TerminalSize(v.out)
	if width <= 0 || height <= 0 {
		width, height = 80, 24
	}
	return v.write(toTop + strings.Join(v.lines(d, width, height), clearRight+"\r\n") + clearRight + clearBelow)
}

// lost says that there is no connection.
func (v *view) lost(why error) error {
	text := "not connected, trying again: " + cli.Printable(why.Error())
	if !v.screen {
		return v.write(text + "\n")
	}
	width, _ := cli.TerminalSize(v.out)
	return v.write(toTop + v.pen.Paint(page.Red, readable.Fit(text, max(width, 20))) + clearRight)
}

func (v *view) write(text string) error {
	if _, err := v.out.WriteString(text); err != nil {
		return writeError{err}
	}
	return nil
}

// line returns a snapshot as one line.
func (v *view) line(d *snapshot.Door) string {
	parts := []string{d.At.Local().Format(time.TimeOnly), state(d), perSecond(d.Requests.Counter)}
	for _, class := range classes {
		if n := d.Requests.Classes[class]; n.Total > 0 {
			parts = append(parts, class+" "+perSecond(n))
		}
	}
	parts = append(parts, "p99 "+atMost(d.Requests.P99), fmt.Sprintf("in flight %.0f", d.Requests.InFlight))
	if len(d.Problems) > 0 {
		parts = append(parts, "problems: "+strings.Join(d.Problems, "; "))
	}
	return v.pen.Clean(strings.Join(parts, "  "))
}

var classes = []string{"2xx", "3xx", "4xx", "5xx"}

func state(d *snapshot.Door) string {
	if d.Draining {
		return "draining"
	}
	return "ready"
}

func perSecond(c snapshot.Counter) string { return readable.Number(c.PerSecond) + "/s" }

// atMost returns an upper bound in seconds.
func atMost(seconds *float64) string {
	if seconds == nil {
		return "-"
	}
	return "<= " + readable.Span(*seconds*1e6)
}
