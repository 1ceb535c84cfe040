// Package labpage has the page of weir lab run --web and weir lab micro --web: an experiment while its runs are made, and
// its findings.
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
	shows func(own string) bool

	mu      sync.Mutex // guards the fields below
	metrics []results.Metric
	own     []string             // names of the own measures that are shown
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
	Run           string    `json:"run"` // differs from that of any other experiment
	Version       string    `json:"version"`
	Name          string    `json:"name"`
	Folder        string    `json:"folder"`
	LatencyBounds []float64 `json:"latency_bounds"`
}

// plan is the event before the first run.
type plan struct {
	Title          string          `json:"title"`
	Question       string          `json:"question"`
	Configurations []configuration `json:"configurations"`
}

type configuration struct {
	Name     string `json:"name"`
	Baseline bool   `json:"baseline"`
}

// usual are the metrics of the page, beside those that the experiment is about.
var usual = []string{"requests per second", "latency p99", "CPU per request", "memory, peak"}

// mostOwn limits the own measures of the runs on the page.
const mostOwn = 20

// New returns the page of an experiment with results in a folder. lead has the names of the metrics that it is about.
// shows reports whether the page has room for the own measure with that name.
func New(name, folder string, lead []string, shows func(own string) bool) *Page {
	g := &Page{shows: shows, values: make(map[string][]float64)}
	for _, m := range results.Metrics() {
		if slices.Contains(lead, m.Name) || slices.Contains(usual, m.Name) {
			g.metrics = append(g.metrics, m)
		}
	}
	g.Story = livepage.NewStory(start{
		Run: time.Now().Format(time.RFC3339Nano), Version: version.String(), Name: name, Folder: folder,
		LatencyBounds: loadpage.LatencyBounds(),
	})
	return g
}

// Begin shows the configurations. It comes before the first run.
func (g *Page) Begin(title, question string, configurations []results.Configuration) {
	p := plan{Title: title, Question: question}
	for _, c := range configurations {
		p.Configurations = append(p.Configurations, configuration{c.Name, c.Baseline})
	}
	g.Story.Keep("plan", p)
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
	Number        int             `json:"number"`
	Configuration string          `json:"configuration"`
	Block         int             `json:"block"`
	Outcome       results.Outcome `json:"outcome"`
	Error         string          `json:"error"`
	Values        []value         `json:"values"`
	More          int             `json:"more"` // own measures that are not shown
}

// A value of a metric, with the median of the configuration's runs so far.
type value struct {
	Metric string  `json:"metric"`
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
		Values: []value{},
	}
	for _, m := range g.metrics {
		if v, ok := m.Of(r); ok {
			e.Values = append(e.Values, g.value(r.Configuration, m.Name, m.Unit, v))
		}
	}
	for _, m := range r.Own {
		if !g.takes(m.Name) {
			e.More++
			continue
		}
		e.Values = append(e.Values, g.value(r.Configuration, m.Name, m.Unit, m.Value))
	}
	g.Story.Keep("run", e)
}

// takes reports whether the page shows an own measure: the first ones that runs have and that it has room for. The lock is
// held.
func (g *Page) takes(own string) bool {
	if g.shows(own) && !slices.Contains(g.own, own) && len(g.own) < mostOwn {
		g.own = append(g.own, own)
	}
	return slices.Contains(g.own, own)
}

// value adds the value of a metric to those of a configuration. The lock is held.
func (g *Page) value(configuration, metric, unit string, v float64) value {
	key := metric + "\x00" + configuration
	all := append(g.values[key], v)
	slices.Sort(all)
	g.values[key] = all
	median := (all[(len(all)-1)/2] + all[len(all)/2]) / 2
	return value{metric, v, analysis.Quantity(v, unit), analysis.Quantity(median, unit)}
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
