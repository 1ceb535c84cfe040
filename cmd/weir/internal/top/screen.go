package top

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/page"
	"github.com/weirhq/weir/internal/readable"
	"github.com/weirhq/weir/internal/snapshot"
)

const (
	labelWidth  = 11
	mostOfOne   = 6 // lines of problems, limits or refusals
	leastOfRows = 3 // lines of each table that is shown
)

// lines returns the screen of a snapshot. Each line fits into the width, and all fit into the height: the most important
// ones come first.
func (v *view) lines(d *snapshot.Door, width, height int) []string {
	up := readable.Lasting(d.At.Sub(d.Started).Seconds())
	lines := []string{
		v.pen.Paint(page.Bold, readable.Fit(v.pen.Clean(fmt.Sprintf("%s  %s  weir %s  up %s  %s", v.admin, state(d), d.Version, up,
			d.At.Local().Format(time.TimeOnly))), width)),
	}
	lines = append(lines, v.problems(d, width)...)
	for _, part := range []struct{ label, text string }{
		{"requests", requests(d)}, {"latency", fmt.Sprintf("p50 %s  p99 %s", atMost(d.Requests.P50), atMost(d.Requests.P99))},
		{"log", logText(&d.Log)}, {"process", processText(&d.Process)},
	} {
		label := fmt.Sprintf("%-*s", labelWidth, part.label)
		lines = append(lines, v.pen.Paint(page.Dim, label)+readable.Fit(v.pen.Clean(part.text), width-labelWidth))
	}
	for _, t := range tables(d) {
		if room := height - len(lines) - 2; len(t.rows) > 0 && room > leastOfRows {
			lines = append(append(lines, ""), t.lines(v.pen, width, min(room, t.most))...)
		}
	}
	return lines[:min(len(lines), height)]
}

// problems returns the lines of the problems.
func (v *view) problems(d *snapshot.Door, width int) (lines []string) {
	label := v.pen.Paint(page.Dim, fmt.Sprintf("%-*s", labelWidth, "problems"))
	if len(d.Problems) == 0 {
		return []string{label + v.pen.Paint(page.Green, "none")}
	}
	shown := d.Problems[:min(len(d.Problems), mostOfOne)]
	for i, p := range shown {
		if i > 0 {
			label = strings.Repeat(" ", labelWidth)
		}
		lines = append(lines, label+v.pen.Paint(page.Red, readable.Fit(v.pen.Clean(p), width-labelWidth)))
	}
	if more := len(d.Problems) - len(shown); more > 0 {
		lines = append(lines, fmt.Sprintf("%*s%s", labelWidth, "", v.pen.Paint(page.Red, fmt.Sprintf("and %d more", more))))
	}
	return lines
}

func requests(d *snapshot.Door) string {
	text := perSecond(d.Requests.Counter)
	for _, class := range classes {
		if n := d.Requests.Classes[class]; n.Total > 0 {
			text += "  " + class + " " + perSecond(n)
		}
	}
	return text + fmt.Sprintf("  in flight %.0f  total %s", d.Requests.InFlight, readable.Count(int64(d.Requests.Total)))
}

func logText(l *snapshot.Log) string {
	lost := 0.0
	for _, c := range l.Dropped {
		lost += c.Total
	}
	return fmt.Sprintf("written %s  lost %s  waiting %s  held %s  CPU %.1f%%", perSecond(l.Written),
		readable.Count(int64(lost)), readable.Count(int64(l.Waiting)), readable.Count(int64(l.Held)), 100*l.CPUShare)
}

func processText(p *snapshot.Process) string {
	return fmt.Sprintf("processors %s  heap %s  resident %s  goroutines %.0f  open files %.0f of %.0f",
		readable.Number(p.CPU.PerSecond), readable.Size(p.Heap), readable.Size(p.Resident), p.Goroutines, p.OpenFiles,
		p.MaxFiles)
}

// A table has rows of texts under heads. The columns after the first texts columns are numbers.
type table struct {
	heads []string
	texts int
	rows  [][]string
	most  int // rows that are shown
}

// tables returns the tables of a snapshot, the most important ones first.
func tables(d *snapshot.Door) []table {
	servers := table{heads: []string{"SERVER", "UPSTREAM", "STATE", "PER SECOND", "P99", "IN FLIGHT"}, texts: 3, most: 10}
	for _, up := range d.Upstreams {
		for _, s := range up.Servers {
			states := slices.Sorted(maps.Keys(s.States))
			servers.rows = append(servers.rows, []string{s.Server, up.Upstream, strings.Join(states, ", "),
				readable.Number(s.Requests.PerSecond), atMost(s.P99), fmt.Sprintf("%.0f", s.InFlight)})
		}
	}
	routes := table{heads: []string{"ROUTE", "PER SECOND", "P50", "P99", "TOTAL", "2XX", "3XX", "4XX", "5XX"}, texts: 1, most: 10}
	for _, r := range d.Routes {
		row := []string{r.Route, readable.Number(r.PerSecond), atMost(r.P50), atMost(r.P99), readable.Count(int64(r.Total))}
		for _, class := range classes {
			row = append(row, readable.Count(int64(r.Classes[class].Total)))
		}
		routes.rows = append(routes.rows, row)
	}
	refusals := table{heads: []string{"REFUSED BY", "REASON", "ROUTE", "PER SECOND", "TOTAL"}, texts: 3, most: mostOfOne}
	for _, r := range d.Refusals {
		refusals.rows = append(refusals.rows, []string{r.By, r.Reason, r.Route, readable.Number(r.PerSecond),
			readable.Count(int64(r.Total))})
	}
	limits := table{heads: []string{"LIMIT", "ROUTE", "IN USE", "OF"}, texts: 2, most: mostOfOne}
	for _, l := range d.Limits {
		limits.rows = append(limits.rows, []string{l.Limit, l.Route, readable.Count(int64(l.InUse)),
			readable.Count(int64(l.Value))})
	}
	return []table{routes, servers, refusals, limits}
}

// lines returns the heads and at most n rows. The last line says how many are not shown.
func (t table) lines(pen page.Pen, width, n int) []string {
	rows := t.rows[:min(len(t.rows), n)]
	widths := make([]int, len(t.heads))
	for _, row := range append([][]string{t.heads}, rows...) {
		for i, text := range row {
			widths[i] = max(widths[i], len([]rune(pen.Clean(text))))
		}
	}
	widths = fitting(widths, width)
	line := func(row []string) string {
		var cells []string
		for i := range widths {
			text := readable.Fit(pen.Clean(row[i]), widths[i])
			pad := strings.Repeat(" ", widths[i]-len([]rune(text)))
			if i < t.texts {
				cells = append(cells, text+pad)
			} else {
				cells = append(cells, pad+text)
			}
		}
		return readable.Fit(strings.Join(cells, "  "), width)
	}
	lines := []string{pen.Paint(page.Dim, line(t.heads))}
	for _, row := range rows {
		lines = append(lines, line(row))
	}
	if more := len(t.rows) - len(rows); more > 0 {
		lines[len(lines)-1] = pen.Paint(page.Dim, fmt.Sprintf("and %d more", more+1))
	}
	return lines
}

// leastName is the width to which a long name is shortened. A narrower screen has fewer columns.
const leastName = 24

// fitting returns the widths of the columns that fit into a width, beside the first one.
func fitting(widths []int, width int) []int {
	for {
		rest := 0
		for _, w := range widths[1:] {
			rest += 2 + w
		}
		if room := width - rest; room >= min(widths[0], leastName) || len(widths) == 1 {
			widths[0] = min(widths[0], max(room, 1))
			return widths
		}
		widths = widths[:len(widths)-1]
	}
}
