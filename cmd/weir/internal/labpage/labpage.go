// Package labpage has the page of weir lab run --web: an experiment while its runs are made, and its findings.
package labpage

import (
	"embed"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/weirhq/weir/cmd/weir/internal/loadpage"
	"github.com/weirhq/weir/internal/livepage"
	"github.com/weirhq/weir/internal/version"
	"github.com/weirhq/weir/lab"
	"github.com/weirhq/weir/lab/analysis"
	"github.com/weirhq/weir/lab/experiment"
	"github.com/weirhq/weir/lab/report"
	"github.com/weirhq/weir/lab/results"
	"github.com/weirhq/weir/load"
)

// Files has the page, for [livepage.Serve].
//
//go:embed web
var Files embed.FS

// A Page has the events of one experiment. Use [New]. It is safe for concurrent use.
type Page struct {
	Story *livepage.Story

	mu      sync.Mutex // guards the fields below
	metrics []results.Metric
	values  map[string][]float64 // of finished runs, by metric and configuration
	loading *runLoad             // nil between the loads of two runs
}

// A runLoad is the load of one run.
type runLoad struct {
	began   time.Time
	seconds loadpage.Seconds
}

// start is the first event.
type start struct {
	Run            string          `json:"run"` // differs from that of any other experiment
	Version        string          `json:"version"`
	Name           string          `json:"name"`
	Title          string          `json:"title"`
	Question       string          `json:"question"`
	Folder         string          `json:"folder"`
	Configurations []configuration `json:"configurations"`
	Metrics        []string        `json:"metrics"` // of finished runs
	LatencyBounds  []float64       `json:"latency_bounds"`
}

type configuration struct {
	Name     string `json:"name"`
	Baseline bool   `json:"baseline"`
}

// usual are the metrics of the page, beside those that the experiment is about.
var usual = []string{"requests per second", "latency p99", "CPU per request", "memory, peak"}

// New returns the page of an experiment with results in a folder.
func New(e *experiment.Experiment, cases []experiment.Case, folder string) *Page {
	g := &Page{values: make(map[string][]float64)}
	s := start{
		Run: time.Now().Format(time.RFC3339Nano), Version: version.String(), Name: e.Name, Title: e.Title,
		Question: e.Question, Folder: folder, LatencyBounds: loadpage.LatencyBounds(),
	}
	for _, c := range cases {
		s.Configurations = append(s.Configurations, configuration{c.Name, c.Baseline})
	}
	for _, m := range results.Metrics() {
		if slices.Contains(e.Lead, m.Name) || slices.Contains(usual, m.Name) {
			g.metrics = append(g.metrics, m)
			s.Metrics = append(s.Metrics, m.Name)
		}
	}
	g.Story = livepage.NewStory(s)
	return g
}

// progress is the state of the experiment. Times are in seconds.
type progress struct {
	Step          lab.Step `json:"step"`
	Run           int      `json:"run"`
	Of            int      `json:"of"`
	Configuration string   `json:"configuration"`
	Block         int      `json:"block"` // from 1; 0 while profiles are taken
	Elapsed       float64  `json:"elapsed"`
	Left          float64  `json:"left"` // 0 if it is not known
	Line          string   `json:"line"` // of a build
}

// Show adds the state of the experiment, and the run that has ended, if there is one.
func (g *Page) Show(p lab.Progress) {
	g.Story.Add("progress", progress{
		Step: p.Step, Run: p.Run, Of: p.Of, Configuration: p.Configuration, Block: p.Repeat,
		Elapsed: p.Elapsed.Seconds(), Left: p.Left.Seconds(), Line: p.Line,
	})
	if p.Step == lab.Ended && p.Last != nil {
		g.Add(p.Last)
	}
}

// run is the event of a finished run.
type run struct {
	Number        int              `json:"number"`
	Configuration string           `json:"configuration"`
	Block         int              `json:"block"`
	Outcome       results.Outcome  `json:"outcome"`
	Error         string           `json:"error"`
	Values        map[string]value `json:"values"` // by metric
}

// A value of a metric, with the median of the configuration's runs so far.
type value struct {
	Value  float64 `json:"value"`
	Text   string  `json:"text"`
	Median string  `json:"median"`
}

// Add adds a finished run, also one that was made before this process.
func (g *Page) Add(r *results.Run) {
	g.mu.Lock()
	defer g.mu.Unlock()
	e := run{
		Number: r.Number, Configuration: r.Configuration, Block: r.Repeat, Outcome: r.Outcome, Error: r.Error,
		Values: make(map[string]value),
	}
	for _, m := range g.metrics {
		v, ok := m.Of(r)
		if !ok {
			continue
		}
		key := m.Name + "\x00" + r.Configuration
		all := append(g.values[key], v)
		slices.Sort(all)
		g.values[key] = all
		median := (all[(len(all)-1)/2] + all[len(all)/2]) / 2
		e.Values[m.Name] = value{v, analysis.Quantity(v, m.Unit), analysis.Quantity(median, m.Unit)}
	}
	g.Story.Keep("run", e)
}

// ShowLoad adds a second of the load of the current run.
func (g *Page) ShowLoad(p load.Progress) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.loading == nil {
		g.loading = &runLoad{began: time.Now().Add(-p.Elapsed).UTC()}
	}
	if second := g.loading.seconds.Next(&p, g.loading.began); second != nil {
		g.Story.Add("second", second)
	}
	if p.Done {
		g.loading = nil
	}
}

// ending is the last event.
type ending struct {
	Error       string `json:"error"` // "" with a text
	Interrupted bool   `json:"interrupted"`
	Text        string `json:"text"` // the same as in the terminal
}

// textWidth is the width of the text of the page, in characters.
const textWidth = 100

// End shows the findings.
func (g *Page) End(r *results.Results, a *analysis.Analysis, folder string) {
	var text strings.Builder
	if err := report.Text(&text, r, a, folder, report.Style{Width: textWidth}); err != nil {
		g.Fail(err)
		return
	}
	g.Story.End(ending{Interrupted: r.Interrupted, Text: strings.TrimSpace(text.String())})
}

// Fail shows the error that ended the experiment.
func (g *Page) Fail(err error) { g.Story.End(ending{Error: err.Error()}) }
