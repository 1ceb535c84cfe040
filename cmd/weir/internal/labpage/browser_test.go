package labpage_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/cmd/weir/internal/labpage"
	"github.com/weirhq/weir/internal/browsertest"
	"github.com/weirhq/weir/internal/livepage"
	"github.com/weirhq/weir/internal/peer"
	"github.com/weirhq/weir/lab"
	"github.com/weirhq/weir/lab/analysis"
	"github.com/weirhq/weir/lab/results"
	"github.com/weirhq/weir/load"
)

func TestMain(m *testing.M) {
	code := m.Run()
	browsertest.End()
	os.Exit(code)
}

var configurations = []results.Configuration{
	{Name: "stdout=null", Baseline: true}, {Name: "stdout=null again", Again: true}, {Name: "stdout=pipe"},
}

// madeRun returns a run with a rate that depends on its number.
func madeRun(number int) results.Run {
	l := &load.Latency{Unit: "us", Count: 1000, P50: 900, P99: load.Micros(2000 + 100*number), P999: 4000, Max: 9000}
	return results.Run{
		Number: number, Repeat: 1 + (number-1)/3, Configuration: configurations[(number-1)%3].Name, Outcome: results.Done,
		Started: time.Now(), Seconds: 5,
		Load: &load.Result{Requests: 1000, Sent: 1000, RequestsPerSecond: 1000 + float64(number), DurationSeconds: 1,
			Status: map[string]int64{"2xx": 1000}, Latency: l, FirstByte: l},
		Usage: results.Usage{Seconds: 1, CPUSeconds: .5, PeakRSS: 20 << 20},
	}
}

// newPage serves the page of an experiment with three configurations. It has no room for measures of memory.
func newPage(t *testing.T) (*labpage.Page, *livepage.Server) {
	t.Helper()
	page := labpage.New("log-cost", "lab-results/log-cost", nil, func(own string) bool { return !strings.HasSuffix(own, " B/op") })
	server, err := livepage.Serve("127.0.0.1:0", labpage.Files, page.Story)
	if err != nil {
		t.Fatal(err)
	}
	return page, server
}

// showLoad shows seconds of a load.
func showLoad(page *labpage.Page, seconds int) {
	for i := range seconds {
		p := load.Progress{
			Elapsed: time.Duration(i+1) * time.Second, Duration: 10 * time.Second, Sent: int64(1000 * (i + 1)), Requests: int64(1000 * (i + 1)),
			Status: map[string]int64{"2xx": int64(1000 * (i + 1))}, Connections: 64, InFlight: 64,
			Last:    load.Second{Start: float64(i), Seconds: 1, Asked: 1000, Sent: 1000, Requests: 1000, P50: 900, P99: 2100},
			Buckets: make([]int64, len(load.LatencyBounds())+1),
		}
		p.Buckets[12], p.Buckets[13+i%3] = 900, 100
		page.ShowLoad(p)
	}
}

// TestPageShowsRunsAndFindings compares the page with the runs, and at the end with the text of the terminal.
func TestPageShowsRunsAndFindings(t *testing.T) {
	page, server := newPage(t)
	b := browsertest.Open(t, "http://"+server.Addr.String()+"/")
	page.Begin("Cost of the log", "What does a log line cost?", configurations)
	page.Show(lab.Progress{Step: lab.Starting, Run: 1, Of: 6, Configuration: "stdout=null", Repeat: 1})
	b.Await(`document.getElementById("state").textContent === "starting: stdout=null"`)
	r := &results.Results{Name: "log-cost", Title: "Cost of the log", Question: "What does a log line cost?",
		Started: time.Now(), Configurations: configurations, Seed: 1}
	for number := 1; number <= 6; number++ {
		made := madeRun(number)
		if number == 5 {
			made = results.Run{Number: 5, Repeat: 2, Configuration: made.Configuration, Outcome: results.Died, Error: "killed"}
		}
		r.Runs = append(r.Runs, made)
		page.Show(lab.Progress{Step: lab.Ended, Run: number, Of: 6, Configuration: made.Configuration, Repeat: made.Repeat,
			Elapsed: time.Duration(number) * 5 * time.Second, Left: time.Minute, Last: &made})
	}
	showLoad(page, 8)
	page.Show(lab.Progress{Step: lab.Loading, Run: 6, Of: 6, Configuration: "stdout=pipe", Repeat: 2, Left: time.Minute})
	b.Await(`document.getElementById("state").textContent === "loading: stdout=pipe"`)
	rows := browsertest.Evaluate[[]string](b, `Array.from(document.querySelectorAll("#runs tbody tr"), (row) =>
		Array.from(row.cells, (c) => c.textContent).slice(0, 5).join("|"))`)
	want := "6|2|stdout=pipe|done|1,006/s 5|2|stdout=null again|died: killed|– 4|2|stdout=null|done|1,004/s " +
		"3|1|stdout=pipe|done|1,003/s 2|1|stdout=null again|done|1,002/s 1|1|stdout=null|done|1,001/s"
	if got := strings.Join(rows, " "); got != want {
		t.Errorf("the runs are %s\nwant %s", got, want)
	}
	if dots := browsertest.Evaluate[string](b, `document.querySelector("#strips svg").getAttribute("aria-label")`); dots !=
		"requests per second of stdout=null: median 1,003/s, 2 runs" {
		t.Errorf("the first lane is %q", dots)
	}
	b.Await(`document.querySelectorAll("#course svg path[d*=L]").length >= 4`)
	t.Run("no faults for axe-core", func(t *testing.T) { b.CheckAccess(peer.AxeCore(t)) })
	page.End(r, analysis.Of(r), "lab-results/log-cost")
	server.Close()
	b.Await(`document.getElementById("state").textContent === "the experiment has ended, and weir lab with it"`)
	if text := b.Text("#text"); !strings.Contains(text, "Cost of the log") || !strings.Contains(text, "lab-results/log-cost/report.html") {
		t.Errorf("the findings are %q", text)
	}
	t.Run("no faults for axe-core at the end", func(t *testing.T) { b.CheckAccess(peer.AxeCore(t)) })
	b.CheckWidths()
	b.KeepPictures("lab")
	b.CheckQuiet()
}

// TestPageShowsOwnMeasures shows the benchmarks of two sides. A measure appears with the first run that has it; the
// others are counted.
func TestPageShowsOwnMeasures(t *testing.T) {
	page, server := newPage(t)
	defer server.Close()
	b := browsertest.Open(t, "http://"+server.Addr.String()+"/")
	page.Show(lab.Progress{Step: lab.Building, Line: "go test -c ./router"})
	b.Await(`document.getElementById("now").textContent.includes("go test -c ./router")`)
	page.Begin("Benchmarks of b against a", "Which benchmarks does b change?", []results.Configuration{
		{Name: "a", Baseline: true}, {Name: "a again", Again: true}, {Name: "b"}})
	for number, name := range []string{"a", "b", "a"} {
		r := results.Run{Number: number + 1, Repeat: 1, Configuration: name, Outcome: results.Done, Own: []results.Measure{
			{Name: "BenchmarkLookup time/op", Unit: "s", Value: 2e-6 * float64(number+1)},
			{Name: "BenchmarkLookup B/op", Unit: "B", Value: 64}}}
		if name == "b" {
			for i := range 22 {
				r.Own = append(r.Own, results.Measure{Name: fmt.Sprintf("Benchmark%d time/op", i), Unit: "s", Value: 1e-6})
			}
		}
		page.Add(&r)
		if number == 0 {
			b.Await(`document.getElementById("more").textContent === "The report has another measure."`)
		}
	}
	b.Await(`document.querySelectorAll("#runs tbody tr").length === 3`)
	if got := browsertest.Evaluate[string](b, `document.querySelector("#strips svg").getAttribute("aria-label")`); got !=
		"BenchmarkLookup time/op of a: median 4.00 µs, 2 runs" {
		t.Errorf("the first lane is %q", got)
	}
	if n := browsertest.Evaluate[int](b, `document.querySelectorAll("#strips figure").length`); n != 20 {
		t.Errorf("%d measures are shown, want 20", n)
	}
	if more := b.Text("#more"); more != "The report has 4 other measures." {
		t.Errorf("the note is %q", more)
	}
	if title := b.Text("#title"); title != "Benchmarks of b against a" {
		t.Errorf("the title is %q", title)
	}
	t.Run("no faults for axe-core", func(t *testing.T) { b.CheckAccess(peer.AxeCore(t)) })
	b.CheckWidths()
	b.KeepPictures("micro")
	b.CheckQuiet()
}

// TestPageShowsWhyAnExperimentHasFailed ends an experiment without a run.
func TestPageShowsWhyAnExperimentHasFailed(t *testing.T) {
	page, server := newPage(t)
	b := browsertest.Open(t, "http://"+server.Addr.String()+"/")
	page.Fail(errors.New("the build has failed"))
	b.Await(`document.getElementById("state").textContent === "the experiment has failed: the build has failed"`)
	server.Close()
	b.CheckQuiet()
}
