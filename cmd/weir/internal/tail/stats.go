package tail

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/log/record"
)

const (
	maxRoutes   = 1000 // that have their own count; a service may log paths as routes
	shownRoutes = 20   // in a table

	// A live table must fit a terminal of 24 lines of 80 characters.
	shownLive   = 10
	nameLive    = 45 // characters of a route
	otherRoutes = "(other routes)"
)

// stats counts events by severity and by route.
type stats struct {
	json bool
	live bool // whether the table is drawn every refreshEvery

	events     int
	otherLines int
	span       // of created_at
	severities map[string]*tally
	routes     map[string]*tally

	drawn       int       // lines of the table on the terminal
	drawnAt     time.Time // when it was drawn
	drawnEvents int       // events at that time
}

// A tally is a row of the table.
type tally struct {
	Name         string   `json:"name"`
	Events       int      `json:"events"`
	PerSecond    *float64 `json:"per_second"`              // nil if the events span no time
	ServerErrors int      `json:"server_errors,omitempty"` // responses with a status of 500 or more
}

// statsMembers are the members of an event that stats reads.
var statsMembers = []string{"created_at", "severity", "http.status_code", "http.method", "http.path", "http.route"}

func newStats(json, live bool) *stats {
	return &stats{
		json: json, live: live, severities: map[string]*tally{}, routes: map[string]*tally{}, drawnAt: time.Now(),
	}
}

// severityNames are the rows by severity, worst first.
var severityNames = []string{"fatal", "error", "warn", "info", "debug", "none"}

func (s *stats) add(r *record.Record) {
	s.events++
	at, _ := r.CreatedAt.Time()
	s.span.add(at)
	name := strings.ToLower(r.Severity.String())
	if name == "" {
		name = "none"
	}
	tallyOf(s.severities, name).Events++
	if r.HTTP == nil || r.HTTP.StatusCode == 0 {
		return // the event of the response will count the request
	}
	t := tallyOf(s.routes, routeOf(r.HTTP))
	t.Events++
	if r.HTTP.StatusCode >= 500 {
		t.ServerErrors++
	}
}

// routeOf returns the method and the route of a request, or its path if it has no
// route. A route may name its methods itself.
func routeOf(h *record.HTTP) string {
	name := cmp.Or(h.Route, h.Path)
	if h.Method == "" || strings.Contains(h.Route, " ") {
		return name
	}
	return h.Method + " " + name
}

func tallyOf(tallies map[string]*tally, name string) *tally {
	t := tallies[name]
	if t == nil && len(tallies) >= maxRoutes {
		name = otherRoutes
		t = tallies[name]
	}
	if t == nil {
		t = &tally{Name: strings.Clone(name)}
		tallies[t.Name] = t
	}
	return t
}

// other counts a line that is not an event. A long line comes in several pieces,
// so only the piece with the newline is counted.
func (s *stats) other(line []byte) {
	if n := len(line); n > 0 && line[n-1] == '\n' {
		s.otherLines++
	}
}

// seconds is the time between the first event and the last.
func (s *stats) seconds() float64 { return s.last.Sub(s.first).Seconds() }

// perSecond returns a rate, or nil if the events span no time.
func (s *stats) perSecond(events int) *float64 {
	if s.events < 2 || s.seconds() <= 0 {
		return nil
	}
	rate := float64(events) / s.seconds()
	return &rate
}

// rows returns the severities with events, and the routes by their number of
// events.
func (s *stats) rows() (severities, routes []tally) {
	severities, routes = []tally{}, []tally{} // empty lists in JSON, not null
	for _, name := range severityNames {
		if t := s.severities[name]; t != nil {
			severities = append(severities, *t)
		}
	}
	for _, t := range s.routes {
		routes = append(routes, *t)
	}
	slices.SortFunc(routes, func(a, b tally) int {
		return cmp.Or(cmp.Compare(b.Events, a.Events), cmp.Compare(a.Name, b.Name))
	})
	for _, list := range [][]tally{severities, routes} {
		for i := range list {
			list[i].PerSecond = s.perSecond(list[i].Events)
		}
	}
	return severities, routes
}

// finish writes the final statistics.
func (s *stats) finish(out io.Writer) error {
	if !s.json {
		s.erase(out)
		s.table(out)
		return nil
	}
	severities, routes := s.rows()
	return cli.PrintJSON(out, struct {
		Events     int      `json:"events"`
		OtherLines int      `json:"other_lines"`
		Seconds    float64  `json:"seconds"`
		PerSecond  *float64 `json:"per_second"`
		Severities []tally  `json:"severities"`
		Routes     []tally  `json:"routes"`
	}{s.events, s.otherLines, max(0, s.seconds()), s.perSecond(s.events), severities, routes})
}

// draw writes the table in place of the previous one.
func (s *stats) draw(out io.Writer, now time.Time) {
	var b strings.Builder
	s.table(&b)
	if elapsed := now.Sub(s.drawnAt).Seconds(); elapsed > 0 {
		fmt.Fprintf(&b, "\nnow %.1f events per second\n", float64(s.events-s.drawnEvents)/elapsed)
	}
	s.erase(out)
	io.WriteString(out, b.String())
	s.drawn = strings.Count(b.String(), "\n")
	s.drawnAt, s.drawnEvents = now, s.events
}

// erase erases the table that was drawn last. The cursor may be after a ^C that
// the terminal echoed.
func (s *stats) erase(out io.Writer) {
	if s.drawn > 0 {
		fmt.Fprintf(out, "\r\x1b[%dA\x1b[J", s.drawn)
	}
	s.drawn = 0
}

func (s *stats) table(w io.Writer) {
	severities, routes := s.rows()
	shown := shownRoutes
	if s.live {
		shown = shownLive
	}
	shown = min(shown, len(routes))
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(tab, "EVENTS\tPER SECOND\t5XX\t \tWHAT\n")
	row(tab, tally{Name: "all", Events: s.events, PerSecond: s.perSecond(s.events)})
	for _, t := range severities {
		row(tab, t)
	}
	for _, t := range routes[:shown] {
		// The length is that of the escaped name.
		if name := []rune(printableName(t.Name)); s.live && len(name) > nameLive {
			t.Name = string(name[:nameLive-1]) + "…"
		}
		row(tab, t)
	}
	tab.Flush()
	if more := len(routes) - shown; more > 0 {
		fmt.Fprintf(w, "and %s; --json has all\n", counted(more, "more route", "more routes"))
	}
	if s.otherLines > 0 {
		fmt.Fprintf(w, "and %s\n", counted(s.otherLines, "line that is not an event", "lines that are not events"))
	}
}

func row(w io.Writer, t tally) {
	rate, failed := "-", ""
	if t.PerSecond != nil {
		rate = fmt.Sprintf("%.1f", *t.PerSecond)
	}
	if t.ServerErrors > 0 {
		failed = fmt.Sprint(t.ServerErrors)
	}
	fmt.Fprintf(w, "%d\t%s\t%s\t \t%s\n", t.Events, rate, failed, printableName(t.Name))
}

// printableName returns a name with its control characters escaped, and without
// tabs, which separate the columns.
func printableName(name string) string {
	return string(record.AppendPrintable(nil, []byte(strings.ReplaceAll(name, "\t", " "))))
}

// counted returns a number with the noun for it.
func counted(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n, " ", more)
}
