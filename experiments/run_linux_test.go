package experiments_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirhq/weir/lab"
	"github.com/weirhq/weir/lab/results"
	"github.com/weirhq/weir/load/gen"
)

// weir and door are built once, for the experiments that run them.
var (
	weir = built("weir", "..", "./cmd/weir")
	door = built("door", "../bench", "./cmd/labdoor")
)

func built(name, folder, source string) func() (string, error) {
	return sync.OnceValues(func() (string, error) {
		file := filepath.Join(tools, name)
		out, err := exec.Command("go", "build", "-C", folder, "-o", file, source).CombinedOutput()
		if err != nil {
			return "", fmt.Errorf("go build %s: %w\n%s", source, err, out)
		}
		return file, nil
	})
}

// install copies the Node service to a folder, runs npm install there, and copies the package weir-log. An error with a
// folder is npm's, and then there are no packages.
var install = sync.OnceValues(func() (folder string, err error) {
	folder = filepath.Join(tools, "node")
	if err := os.CopyFS(folder, os.DirFS("../bench/node")); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	if out, err := exec.CommandContext(ctx, "node", filepath.Join(folder, "install.js")).CombinedOutput(); err != nil {
		return folder, errors.Join(fmt.Errorf("node install.js: %w\n%s", err, out),
			os.RemoveAll(filepath.Join(folder, "node_modules")))
	}
	source := filepath.Join(folder, "node_modules", "weir-log")
	if err := os.CopyFS(filepath.Join(source, "src"), os.DirFS("../node/src")); err != nil {
		return "", err
	}
	about, err := os.ReadFile("../node/package.json")
	if err != nil {
		return "", err
	}
	return folder, os.WriteFile(filepath.Join(source, "package.json"), about, 0o644)
})

// withDoor returns the build of an experiment whose service is the door. It is
// the experiment's own except for the compiler, which [TestThreeEventsWritesThreeLines] runs.
func withDoor(t *testing.T) setting {
	t.Helper()
	file, err := door()
	if err != nil {
		t.Fatal(err)
	}
	return setting{"build", fmt.Sprintf(`[[mkdir, -p, "${build}"], [cp, %s, "${build}/door"]]`, file)}
}

// A setting is an argument of --set.
type setting struct{ path, value string }

// run runs an experiment and checks that every run was made, and that its
// service answered and ended when it was told to. It returns the runs by
// configuration.
func run(t *testing.T, name string, set ...setting) map[string]results.Run {
	t.Helper()
	r := unchecked(t, name, set...)
	runs := map[string]results.Run{}
	for _, run := range r.Runs {
		if run.Outcome != results.Done || run.Exit != "exit status 0" {
			t.Errorf("%s: got %s (%s), ended with %q, want %s; it said:\n%s",
				run.Configuration, run.Outcome, run.Error, run.Exit, results.Done, run.LastOutput[max(0,
					len(run.LastOutput)-500):])
		}
		if run.Load == nil || run.Load.Status["2xx"] == 0 {
			t.Fatalf("%s: no request was answered", run.Configuration)
		}
		runs[run.Configuration] = run
	}
	if len(runs) != len(r.Configurations) || r.Interrupted {
		t.Errorf("got %d runs of %d configurations", len(runs), len(r.Configurations))
	}
	return runs
}

// unchecked runs an experiment once for each configuration, as short as
// possible, with other settings.
func unchecked(t *testing.T, name string, set ...setting) *results.Results {
	t.Helper()
	e := parse(t, name)
	short := []setting{{"repeats", "1"}, {"warm_up", "100ms"}, {"load.duration", "300ms"}, {"profiles", "[]"}}
	for _, s := range append(short, set...) {
		if err := e.Set(s.path, s.value); err != nil {
			t.Fatal(err)
		}
	}
	o := lab.Options{Dir: filepath.Join(t.TempDir(), "results")}
	var err error
	if o.Repo, err = filepath.Abs(".."); err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(e.Source(), []byte("${weir}")) {
		if o.Weir, err = weir(); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	r, err := lab.Run(ctx, e, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// runOf returns the run whose configuration's name contains all these words.
func runOf(t *testing.T, runs map[string]results.Run, words ...string) results.Run {
	t.Helper()
next:
	for name, r := range runs {
		for _, word := range words {
			if !strings.Contains(name, word) || strings.HasSuffix(name, "(again)") {
				continue next
			}
		}
		return r
	}
	t.Fatalf("no run is of %q: there are %q", words, slices.Sorted(maps.Keys(runs)))
	return results.Run{}
}

// own returns one of the run's own measures.
func own(t *testing.T, r results.Run, name string) float64 {
	t.Helper()
	for _, m := range r.Own {
		if m.Name == name {
			return m.Value
		}
	}
	t.Errorf("%s: the service has not left %q: %v", r.Configuration, name, r.Own)
	return 0
}

// checkLines checks that the count of lines is exact, and that so many of them
// are missing.
func checkLines(t *testing.T, r results.Run, lost float64) {
	t.Helper()
	emitted := own(t, r, results.LinesEmitted)
	if got := r.Output; float64(got.Expected) != emitted || float64(got.Lost) != lost ||
		float64(got.Lines) != emitted-lost {
		t.Errorf("%s: got %d lines of %d, %d lost; want %v of %v", r.Configuration, got.Lines, got.Expected, got.Lost,
			emitted-lost, emitted)
	}
}

const someDoors = `{log.go v1: [--logger, ons-v1], zerolog: [--logger, zerolog], weir: [--logger, weir], weir queued: [--logger, weir-queued]}`

func TestLogCostCountsEveryLine(t *testing.T) {
	t.Parallel()
	runs := run(t, "log-cost", withDoor(t), setting{"service.command",
		`["${build}/door", --listen, "127.0.0.1:${port}"]`})
	for name, r := range runs {
		if strings.Contains(name, "null") {
			if r.Output.Bytes != 0 || r.Output.Lines != 0 {
				t.Errorf("%s: got %d bytes, want none", name, r.Output.Bytes)
			}
			continue
		}
		checkLines(t, r, 0)
		if got, least := r.Output.Lines, 3*r.Load.Requests; got < least {
			t.Errorf("%s: got %d lines, want %d at least", name, got, least)
		}
	}
	// Warm-up and load take 0.4 s. The pipe holds 64 KiB more than is read.
	slow := runOf(t, runs, "256KiB/s")
	if most := int64((slow.Seconds+1)*256*1024) + 128*1024; slow.Output.Bytes > most {
		t.Errorf("the slow pipe took %d bytes in %.1f s, want %d at most", slow.Output.Bytes, slow.Seconds, most)
	}
}

// The command is not made for the lab, and chooses its port itself.
func TestLogCostAcceptsAnyCommand(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not installed")
	}
	r := unchecked(t, "log-cost", setting{"service.command", "python3 -m http.server --bind 127.0.0.1 0"},
		setting{"matrix.service.output", "[null, file, terminal]"}, setting{"load.connections", "2"})
	for _, run := range r.Runs { // it has no handler for SIGTERM
		if run.Outcome != results.Done || run.Load.Status["2xx"] == 0 {
			t.Errorf("%s: got %s (%s) and %v", run.Configuration, run.Outcome, run.Error, run.Load)
		}
		if got, null := run.Output.Lines, strings.Contains(run.Configuration, "null"); null != (got == 0) || !null &&
			got < run.Load.Requests {
			t.Errorf("%s: got %d lines of %d requests", run.Configuration, got, run.Load.Requests)
		}
	}
}

func TestThreeEventsWritesThreeLines(t *testing.T) {
	t.Parallel()
	for name, r := range run(t, "three-events") {
		want := 3 * r.Load.Requests
		if strings.Contains(name, "none") {
			want = 0
		}
		checkLines(t, r, 0)
		if r.Output.Lines < want || want == 0 && r.Output.Lines > 0 {
			t.Errorf("%s: got %d lines of %d requests", name, r.Output.Lines, r.Load.Requests)
		}
		if r.Go == nil || r.Go.PeakHeap == 0 || r.Usage.CPUSeconds == 0 || r.Usage.PeakRSS == 0 {
			t.Errorf("%s: got %+v and %+v, want what the service and its runtime used", name, r.Usage, r.Go)
		}
	}
}

func TestGCShowsCostsOfTheCollector(t *testing.T) {
	t.Parallel()
	runs := run(t, "gc", withDoor(t))
	per := func(of func(*results.GoUsage) int64, words ...string) float64 {
		t.Helper()
		r := runOf(t, runs, words...)
		if r.Go == nil {
			t.Fatalf("%s: its runtime has told nothing: %v", r.Configuration, r.Warnings)
		}
		return float64(of(r.Go)) / float64(r.Load.Requests)
	}
	collections := func(g *results.GoUsage) int64 { return g.GCs }
	allocated := func(g *results.GoUsage) int64 { return g.Allocated }
	if often, seldom := per(collections, "GOGC=10 ", "old"), per(collections, "GOGC=100", "old"); often <= seldom {
		t.Errorf("GOGC=10 collects %v times for a request, GOGC=100 %v times; want more", often, seldom)
	}
	if old, new := per(allocated, "GOGC=100", "old"), per(allocated, "GOGC=100", "new"); old <= new {
		t.Errorf("the old logger allocates %v bytes for a request, the new one %v; want more", old, new)
	}
}

// TestSlowConsumerFailsWithoutQueue tries again if a service with a queue answers no more than the others: on a busy machine
// it may have less of the processors than they have.
func TestSlowConsumerFailsWithoutQueue(t *testing.T) {
	t.Parallel()
	for mistake, tries := slowConsumerMistake(t), 1; mistake != ""; mistake, tries = slowConsumerMistake(t), tries+1 {
		if tries == 3 {
			t.Fatal(mistake)
		}
	}
}

// slowConsumerMistake runs the experiment. It returns which service without a queue answers as many requests as that with
// a queue, or "".
func slowConsumerMistake(t *testing.T) (mistake string) {
	t.Helper()
	runs := run(t, "slow-consumer", withDoor(t), setting{"matrix.service.args", someDoors},
		setting{"service.output", "pipe stops 3s after 500ms"}, setting{"warm_up", "0s"},
		setting{"load.timeout", "1s"}, setting{"load.duration", "5s"}, setting{"load.rate", "200"})
	queued := runOf(t, runs, "weir queued")
	for name, r := range runs {
		checkLines(t, r, own(t, r, "log lines dropped by the logger"))
		if r.Output.MostBehind == 0 {
			t.Errorf("%s: nothing waited for the reader that stood still", name)
		}
		failed := r.Load.Sent - r.Load.Status["2xx"]
		if name != queued.Configuration && (failed == 0 || r.Load.Status["2xx"] >= queued.Load.Status["2xx"]) {
			mistake = fmt.Sprintf("%s: %d requests failed and %d were answered; want some failures, and fewer answers than the %d "+
				"with a queue", name, failed, r.Load.Status["2xx"], queued.Load.Status["2xx"])
		}
	}
	return mistake
}

func TestFDLimitRefusesOnlyWithoutFiles(t *testing.T) {
	t.Parallel()
	runs := run(t, "fd-limit", setting{"matrix.service.limits.files", "[256, 4096]"},
		setting{"matrix.load.connections", "[16, 512]"},
		setting{"load.duration", "2s"}, // in less time a busy machine does not open 512 connections
		setting{"baseline", "{service.limits.files: 4096, load.connections: 16}"})
	for name, r := range runs {
		refused := r.Load.Sent - r.Load.Status["2xx"]
		few, many := strings.Contains(name, "files=256"), strings.Contains(name, "connections=512")
		if (refused > 0) != (few && many) {
			t.Errorf("%s: %d of %d requests were refused; want some where files run out, and only there", name, refused,
				r.Load.Sent)
		}
		if limit := r.Usage.FileLimit; limit != 256 && few || int64(r.Usage.PeakFiles) > limit {
			t.Errorf("%s: the limit is %d, and %d files were open", name, limit, r.Usage.PeakFiles)
		}
	}
}

func TestPathGrowthIsServedByEachRouter(t *testing.T) {
	t.Parallel()
	routers := `{weir: [--router, weir Router], net/http: [--router, net/http ServeMux], chi: [--router, chi]}`
	for name, r := range run(t, "path-growth", setting{"matrix.service.args", routers}) {
		for _, length := range []string{"1", "10", "100", "1000", "10000"} {
			if took := own(t, r, "routing, path of "+length); took <= 0 {
				t.Errorf("%s: routing a path of %s took %v us", name, length, took)
			}
		}
		if r.Load.Status["2xx"] != r.Load.Requests {
			t.Errorf("%s: got %v, want no other answer than 2xx", name, r.Load.Status)
		}
	}
}

func TestDoorsHaveACostOfTheirOwn(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"nginx", "haproxy"} {
		if _, err := exec.LookPath(command); err != nil {
			t.Skip(command + " is not installed")
		}
	}
	doors := `{nginx: nginx, haproxy: haproxy, weir: weir, one: ["weir, one event"]}`
	for name, r := range run(t, "doors", setting{"matrix.service.args", doors}) {
		whole := 1e6 * r.Usage.CPUSeconds / float64(r.Load.Requests)
		if cost := own(t, r, "CPU per request of the door"); cost <= 0 || cost > 3*whole {
			t.Errorf("%s: a request costs the door %v us, and all processes %v us", name, cost, whole)
		}
		if lost := own(t, r, "lines that the log lacks"); lost < 0 || strings.Contains(name, "nginx") && lost > 0 {
			t.Errorf("%s: the log lacks %v lines", name, lost)
		}
	}
}

func TestRouterIsMeasuredWithGitHubsRoutes(t *testing.T) {
	t.Parallel()
	routers := `{weir: [--router, weir Router], net/http: [--router, net/http ServeMux]}`
	for name, r := range run(t, "router", setting{"matrix.service.args", routers}) {
		if took := own(t, r, "routing, GitHub's API"); took <= 0 || r.Load.Status["2xx"] != r.Load.Requests {
			t.Errorf("%s: routing took %v us, with %v", name, took, r.Load.Status)
		}
	}
}

func TestLoggingCallMeasuresTimes(t *testing.T) {
	t.Parallel()
	runs := run(t, "logging-call", withDoor(t), setting{"matrix.service.args", someDoors},
		setting{"matrix.service.output", "[file, pipe]"},
		setting{"service.command", `["${build}/door", --listen, "127.0.0.1:${port}", --measure-calls, --after, 100ms]`},
		setting{"load.rate", "1000"})
	for name, r := range runs {
		checkLines(t, r, 0)
		p50, p99, max := own(t, r, "log call p50"), own(t, r, "log call p99"), own(t, r, "log call max")
		if p50 <= 0 || p50 > p99 || p99 > max {
			t.Errorf("%s: got p50 %v, p99 %v, max %v us; want times that grow", name, p50, p99, max)
		}
	}
}

// hasNode skips a test if Node is not installed.
func hasNode(t *testing.T) {
	t.Helper()
	for _, command := range []string{"node", "npm"} {
		if _, err := exec.LookPath(command); err != nil {
			t.Skip(command + " is not installed")
		}
	}
}

// The service's own tests. Those of loggers that npm cannot install are
// skipped.
func TestCSVNodePassesItsOwnTests(t *testing.T) {
	hasNode(t)
	t.Parallel()
	folder, err := install()
	if folder == "" {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, "node", "--test")
	command.Dir = folder
	if out, err := command.CombinedOutput(); err != nil {
		t.Errorf("node --test in %s: %v\n%s", command.Dir, err, out)
	}
}

func TestCSVNodeLosesNoLine(t *testing.T) {
	hasNode(t)
	t.Parallel()
	folder, err := install()
	switch {
	case err != nil && strings.Contains(err.Error(), "it needs its registry"):
		t.Skip("npm's registry cannot be reached, and install.js said so")
	case err != nil:
		t.Fatal(err)
	}
	const rows = 2000
	build := fmt.Sprintf(`[[cp, -r, "%s/.", "${build}"], [sh, -c, '"$0" load gen csv --rows %d > "$1"', "${weir}", "${build}/table.csv"]]`, folder, rows)
	// Each way to log writes to a file, and pino also to a terminal.
	const exclude = `[{service.args: none, service.output: terminal}, {service.args: format, service.output: terminal},
		{service.args: console, service.output: terminal}, {service.args: proxy, service.output: terminal},
		{service.args: winston-console, service.output: terminal}, {service.args: winston-file, service.output: terminal},
		{service.args: weir, service.output: terminal}]`
	runs := run(t, "csv-node", setting{"build", build}, setting{"load.connections", "1"},
		setting{"matrix.service.output", "[file, terminal]"},
		setting{"exclude", exclude})
	if len(runs) != 8+1+1 {
		t.Errorf("got %d runs, want those of eight ways, a terminal and the baseline's twin", len(runs))
	}
	calls := callsPerUpload(t, rows)
	for name, r := range runs {
		checkLines(t, r, 0)
		if got := int64(own(t, r, "log calls")); got == 0 || got%calls != 0 {
			t.Errorf("%s: got %d calls, want %d for each upload", name, got, calls)
		}
		silent := strings.Contains(name, "none") || strings.Contains(name, "format") ||
			strings.Contains(name, "winston-file")
		if silent != (r.Output.Lines == 0) {
			t.Errorf("%s: got %d lines", name, r.Output.Lines)
		}
		if strings.Contains(name, "winston-file") && own(t, r, "log lines missing in its file") != 0 {
			t.Errorf("%s: lines are missing in its file", name)
		}
	}
}

// callsPerUpload returns the logging calls of an upload of that many rows: one
// per row, and one per 64 KiB, including the last part.
func callsPerUpload(t *testing.T, rows int) int64 {
	t.Helper()
	var table bytes.Buffer
	if err := gen.CSV(&table, gen.CSVOptions{Rows: rows, Width: 40}); err != nil {
		t.Fatal(err)
	}
	return int64(rows) + int64(table.Len()+65535)/65536
}
