// Package loadpage has the page of weir load --web: a run while its requests are sent, and its result. It gets the same
// progress as the terminal, and sends the changes once a second.
package loadpage

import (
	"embed"
	"slices"
	"time"

	"github.com/weirhq/weir/internal/livepage"
	"github.com/weirhq/weir/internal/version"
	"github.com/weirhq/weir/load"
	"github.com/weirhq/weir/load/report"
)

// Files has the page, for [livepage.Serve].
//
//go:embed web
var Files embed.FS

// A Page has the events of one run. Use [New]. Only one goroutine at a time may use it.
type Page struct {
	Story *livepage.Story

	began   time.Time
	told    time.Duration // Elapsed of the last event
	seconds Seconds
}

// start is the first event.
type start struct {
	Run           string    `json:"run"` // differs from that of any other run
	Version       string    `json:"version"`
	URL           string    `json:"url"` // of the first target
	Pace          string    `json:"pace"`
	Protocol      string    `json:"protocol"`
	LatencyBounds []float64 `json:"latency_bounds"` // in seconds
}

// New returns the page of a run that is about to begin.
func New(p load.Plan) *Page {
	s := start{
		Run: time.Now().Format(time.RFC3339Nano), Version: version.String(),
		URL: p.Targets[0].URL, Pace: p.Pace.String(), Protocol: p.Protocol.String(),
		LatencyBounds: LatencyBounds(),
	}
	return &Page{Story: livepage.NewStory(s)}
}

// An event is the state of the run at one moment. Times are in seconds.
type event struct {
	Began       time.Time        `json:"began"`
	Elapsed     float64          `json:"elapsed"`
	Duration    float64          `json:"duration"` // 0 if it is not known
	Left        *float64         `json:"left"`     // nil if it is not known
	Share       float64          `json:"share"`    // negative if it is not known
	Waiting     bool             `json:"waiting"`  // for the last responses
	FromDue     bool             `json:"from_due"`
	Asked       int64            `json:"asked"`
	Sent        int64            `json:"sent"`
	Answered    int64            `json:"answered"`
	Errors      int64            `json:"errors"`
	Unsent      int64            `json:"unsent"`
	Late        int64            `json:"late"`
	InFlight    int64            `json:"in_flight"`
	Connections int              `json:"connections"`
	Agents      int              `json:"agents"`
	Reporting   int              `json:"reporting"`
	Status      map[string]int64 `json:"status"`
	Failures    map[string]int64 `json:"failures"`
	Latency     []quantile       `json:"latency"` // of the run so far
	Second      *Second          `json:"second"`  // nil if an earlier event has it
}

// A quantile of latencies. Value is nil for requests that were never answered.
type quantile struct {
	Name    string   `json:"name"`
	Value   *float64 `json:"value"`
	AtLeast bool     `json:"at_least"`
}

// Show adds the state of the run, at most once a second and when a second is complete.
func (g *Page) Show(p load.Progress) {
	first := g.began.IsZero()
	if first {
		g.began = time.Now().Add(-p.Elapsed).UTC()
	}
	second := g.seconds.Next(&p, g.began)
	if second == nil && !first && !p.Done && p.Elapsed-g.told < time.Second {
		return
	}
	g.told = p.Elapsed
	e := event{
		Began: g.began, Elapsed: p.Elapsed.Seconds(), Duration: p.Duration.Seconds(), Share: p.Share(),
		Waiting: p.Waiting, FromDue: p.FromDue, Asked: p.Asked, Sent: p.Sent, Answered: p.Requests, Errors: p.Errors,
		Unsent: p.Unsent, Late: p.Late, InFlight: p.InFlight, Connections: p.Connections,
		Agents: p.Agents, Reporting: p.Reporting, Status: p.Status, Failures: p.Failures, Latency: quantiles(p.Latency), Second: second,
	}
	if left, known := p.Left(); known {
		s := left.Seconds()
		e.Left = &s
	}
	g.Story.Add("progress", e)
}

// quantiles returns the quantiles that the page shows while the run lasts.
func quantiles(l *load.Latency) (all []quantile) {
	if l == nil {
		return nil
	}
	for _, q := range []struct {
		name, key string
		value     load.Micros
	}{{"p50", "p50", l.P50}, {"p90", "p90", l.P90}, {"p99", "p99", l.P99}, {"p99.9", "p999", l.P999}, {"max", "max", l.Max}} {
		all = append(all, quantile{q.name, seconds(q.value), slices.Contains(l.AtLeast, q.key)})
	}
	return all
}

// An ending is the last event.
type ending struct {
	Error       string          `json:"error"` // "" with a result
	Interrupted bool            `json:"interrupted"`
	Requests    int64           `json:"requests"`
	Summary     *report.Summary `json:"summary"` // the same as the text
}

// End shows the result, or the error that ended the run.
func (g *Page) End(r *load.Result, err error) {
	if err != nil {
		g.Story.End(ending{Error: err.Error()})
		return
	}
	summary := report.Summarize(r)
	g.Story.End(ending{Interrupted: r.Interrupted, Requests: r.Requests, Summary: &summary})
}
