package lab_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/leaktest"
	"github.com/weirhq/weir/internal/process"
	"github.com/weirhq/weir/internal/testkit"
	"github.com/weirhq/weir/lab"
	"github.com/weirhq/weir/lab/experiment"
	"github.com/weirhq/weir/lab/results"
)

func init() {
	programs["service"] = runService
	programs["lab"] = runLab
}

// atOnce turns off the race detector's wait of a second before the program
// ends.
const atOnce = `GORACE: "atexit_sleep_ms=0"`

// runService is a service that logs a line for each request and has faults on
// request.
func runService() {
	listen := flag.String("listen", "127.0.0.1:0", "")
	lines := flag.Int("lines", 1, "of each request")
	dies := flag.Int64("dies", 0, "after so many requests")
	silent := flag.Bool("silent", false, "closes each connection")
	unready := flag.Bool("unready", false, "responses 503")
	eats := flag.Int("eats", 0, "so many bytes with each request")
	stays := flag.Bool("stays", false, "does not end")
	exit := flag.Int("exit", 0, "the status that it ends with")
	admin := flag.String("admin", "", "listens there before")
	warms := flag.Float64("warms", 0, "so many rounds of work for the first request, half as many 0.2 s later, a third 0.4 s later")
	measures := flag.String("measures", "", "what it has measured")
	flag.Parse()
	fmt.Println("begins")
	var requests, began atomic.Int64
	var eaten struct {
		sync.Mutex
		all [][]byte
	}
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		n := requests.Add(1)
		switch {
		case *silent:
			panic(http.ErrAbortHandler)
		case *unready:
			w.WriteHeader(http.StatusServiceUnavailable)
		case n == *dies:
			fmt.Println("that was too much")
			os.Exit(7)
		}
		began.CompareAndSwap(0, time.Now().UnixNano())
		for range int(*warms / (1 + float64(time.Now().UnixNano()-began.Load())/2e8)) {
		}
		if *eats > 0 {
			eaten.Lock()
			eaten.all = append(eaten.all, bytes.Repeat([]byte{1}, *eats))
			eaten.Unlock()
		}
		for range *lines {
			fmt.Println(r.Method, r.URL)
		}
		fmt.Fprintln(w, "hello")
	})
	if *admin != "" {
		if _, err := net.Listen("tcp", *admin); err != nil {
			fmt.Println(err)
		}
	}
	ends := make(chan os.Signal, 1)
	signal.Notify(ends, syscall.SIGTERM) // before a request can be served: the lab may then end the service
	if *stays {
		signal.Ignore(syscall.SIGTERM)
	}
	l, err := net.Listen("tcp", *listen)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	go http.Serve(l, nil)
	<-ends
	if *measures != "" {
		os.WriteFile(os.Getenv("WEIR_LAB_MEASURES"), []byte(*measures), 0o666)
	}
	os.Exit(*exit)
}

// runLab runs the experiment in a file.
func runLab() {
	text, err := os.ReadFile(os.Args[1])
	if err == nil {
		var e *experiment.Experiment
		if e, err = experiment.Parse(os.Args[1], text); err == nil {
			_, err = lab.Run(context.Background(), e, lab.Options{Dir: os.Args[2], Weir: os.Args[0]})
		}
	}
	fmt.Println(err)
}

// parse returns an experiment from the rest of a file. The service is the test
// binary, unless the file names another one.
func parse(t *testing.T, rest string) *experiment.Experiment {
	t.Helper()
	text := document(rest)
	e, err := experiment.Parse(filepath.Join(t.TempDir(), "test.yaml"), []byte(text))
	if err != nil {
		t.Fatalf("%v\nin:\n%s", err, text)
	}
	return e
}

func document(rest string) string {
	text := "name: test\ntitle: A test\nseed: 5\nsample: 20ms\n" + rest
	if !strings.Contains(rest, "command:") {
		text = strings.Replace(text, "service:\n", `service:
  command: ["${weir}", --listen, "127.0.0.1:${port}"]
  env: {`+asProgram+`: service, `+atOnce+`}
`, 1)
	}
	if !strings.Contains(rest, "load:") {
		text += "load: {connections: 2, threads: 1, requests: 100, timeout: 5s}\n"
	}
	return text
}

func options(t *testing.T) lab.Options {
	return lab.Options{Dir: filepath.Join(t.TempDir(), "out"), Weir: os.Args[0], Version: "v1"}
}

// run runs an experiment that must not fail.
func run(t *testing.T, e *experiment.Experiment, o lab.Options) *results.Results {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	r, err := lab.Run(ctx, e, o)
	if err != nil {
		t.Fatal(err)
	}
	if r.Interrupted {
		t.Fatalf("the experiment was interrupted after %v", patience)
	}
	return r
}

func TestRunMeasuresEachConfiguration(t *testing.T) {
	t.Parallel()
	e := parse(t, `
warm_up: 300ms
repeats: 2
load: {connections: 2, threads: 1, requests: 200, timeout: 10s}
service:
  ready: /
  lines_per_request: 1
matrix:
  service.output: [null, file, pipe, terminal]
`)
	o := options(t)
	var steps []lab.Step
	var told []lab.Progress
	o.Progress = func(p lab.Progress) {
		if told = append(told, p); len(steps) == 0 || steps[len(steps)-1] != p.Step {
			steps = append(steps, p.Step)
		}
	}
	r := run(t, e, o)
	if len(r.Configurations) != 5 || len(r.Runs) != 10 || r.Version != "v1" || r.Seed != 5 || r.Machine.CPUs == 0 {
		t.Fatalf("%d configurations, %d runs, version %q, seed %d, machine %v", len(r.Configurations), len(r.Runs),
			r.Version, r.Seed, r.Machine)
	}
	for i, one := range r.Runs {
		if one.Number != i+1 || one.Repeat != i/5+1 {
			t.Errorf("run %d has number %d, repeat %d", i+1, one.Number, one.Repeat)
		}
		checkRun(t, one)
	}
	checkFolder(t, o.Dir, 10)
	read, err := lab.Read(o.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := asJSON(t, read), asJSON(t, r); got != want {
		t.Errorf("what is read differs from what was returned:\n%.2000s\nwant\n%.2000s", got, want)
	}
	want := []lab.Step{lab.Looking, lab.Starting, lab.Warming, lab.Loading, lab.Stopping, lab.Ended}
	if first := steps[:min(len(want), len(steps))]; !slices.Equal(first, want) {
		t.Errorf("the first steps are %v, want %v", first, want)
	}
	last := told[len(told)-1]
	if last.Run != 10 || last.Of != 10 || last.Last == nil || last.Last.Number != 10 {
		t.Errorf("the last that was told is %+v", last)
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// checkRun checks a run of TestRunMeasuresEachConfiguration.
func checkRun(t *testing.T, r results.Run) {
	t.Helper()
	if r.Outcome != results.Done || r.Error != "" || r.Exit != "exit status 0" || r.LastOutput != "" {
		t.Errorf("run %d of %q: %s, %q, exit %q, output %q", r.Number, r.Configuration, r.Outcome, r.Error, r.Exit,
			r.LastOutput)
		return
	}
	if r.Load.Requests == 0 || len(r.Load.Points) == 0 || r.Usage.CPUSeconds == 0 || r.Usage.PeakRSS == 0 ||
		len(r.Samples) < 3 || r.ReadyAfter <= 0 || r.Seconds <= 0 {
		t.Errorf("run %d: %d requests, %d points, usage %+v, %d samples, ready after %v", r.Number, r.Load.Requests,
			len(r.Load.Points), r.Usage, len(r.Samples), r.ReadyAfter)
	}
	if r.Samples[0].At >= 0 || r.Samples[len(r.Samples)-1].At < 0.9*r.Load.DurationSeconds {
		t.Errorf("run %d: samples from %v to %v, want from the warm-up to the load's end", r.Number, r.Samples[0].At,
			r.Samples[len(r.Samples)-1].At)
	}
	out := r.Output
	if strings.HasPrefix(r.Configuration, "output=null") {
		if out != (results.Output{}) {
			t.Errorf("run %d of %q: output %+v", r.Number, r.Configuration, out)
		}
		return
	}
	least := r.Load.Requests
	if out.Lines <= least || out.Bytes < out.Lines*int64(len("GET /\n")) || out.BytesPerSecond <= 0 ||
		out.Expected <= least || out.Lost != 0 {
		t.Errorf("run %d of %q: %d responses, output %+v", r.Number, r.Configuration, r.Load.Requests, out)
	}
}

// checkFolder checks that there is that number of runs, and no temporary file.
func checkFolder(t *testing.T, dir string, runs int) {
	t.Helper()
	var want []string
	for i := range runs {
		want = append(want, fmt.Sprintf("runs/%03d.json", i+1))
	}
	want = append([]string{"results.json"}, want...)
	var got []string
	filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if rel, e := filepath.Rel(dir, name); e == nil && !d.IsDir() {
			got = append(got, rel)
		}
		return err
	})
	if !slices.Equal(got, want) {
		t.Errorf("the folder has %v, want %v", got, want)
	}
}

// TestFaultsDecideTheOutcome runs services with faults, each twice because of the baseline's
// twin.
func TestFaultsDecideTheOutcome(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rest    string
		outcome results.Outcome
		err     string
		output  string
		exit    string
	}{
		"dies under load": {"service:\n  args: [--dies, '2']\n  output: pipe\n", results.Died,
			"the service has ended while it was loaded", "that was too much\n", "exit status 7"},
		"dies while warmed": {"warm_up: 1m\nservice:\n  args: [--dies, '50']\n  output: pipe\n", results.Died,
			"while it was warmed up", "that was too much\n", "exit status 7"},
		"dies at once": {"service:\n  args: [--nonsense]\n  stderr: pipe\n", results.Died, "before it was ready",
			"flag provided but not defined", "exit status 2"},
		"never ready": {"service:\n  args: [--unready]\n  ready: /up\n  ready_within: 2s\n  output: file\n",
			results.NeverReady, "not ready within 2s: GET http://127.0.0.1:", "begins\n", "exit status 0"},
		"never listens": {"service:\n  command: sleep 60\n  ready_within: 100ms\n", results.NeverReady,
			"it listens on no port", "", "signal: terminated"},
		"goes to the background": {"service:\n  command: [sh, -c, 'sleep 60 & exit 0']\n", results.Died,
			"must stay in the foreground", "", "exit status 0"},
		"is somewhere else": {"service:\n  url: http://127.0.0.1:1/\n  ready_within: 2s\n", results.NeverReady,
			"it listens at 127.0.0.1:", "", "exit status 0"},
		"no response": {"service:\n  args: [--silent]\n  output: pipe\n", results.NoAnswer,
			"was answered while it was loaded", "begins\n", "exit status 0"},
		"stays": {"service:\n  args: [--stays]\n  stop_within: 100ms\n  output: pipe\n", results.Leaked,
			"had to be killed", "begins\nGET /\n", "signal: killed"},
		"ends badly": {"service:\n  args: [--exit, '3']\n  output: pipe\n", results.Done, "", "begins\nGET /\n",
			"exit status 3"},
		"leaves a child": {"service:\n  command: [sh, -c, 'setsid sleep 60 & exec \"$0\" \"$@\"', \"${weir}\", " +
			"--listen, \"127.0.0.1:${port}\"]\n  env: {" + asProgram + ": service, " + atOnce + "}\n",
			results.Leaked, "(sleep)", "", "exit status 0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := run(t, parse(t, "repeats: 1\n"+c.rest), options(t))
			for _, one := range r.Runs {
				if w := one.WarmUp; w != nil && w.Seconds > one.Seconds {
					t.Errorf("%v s of warm-up in a run of %v s", w.Seconds, one.Seconds)
				}
				if one.Outcome != c.outcome || !strings.Contains(one.Error, c.err) ||
					!strings.Contains(one.LastOutput, c.output) || one.Exit != c.exit {
					t.Errorf("%s, error %q, exit %q, last output %.200q, load %v; want %s, %q, %q, %q",
						one.Outcome, one.Error, one.Exit, one.LastOutput, one.Load != nil, c.outcome, c.err, c.exit,
						c.output)
				}
			}
		})
	}
}

// TestMemoryLimitEndsTheService runs a service that allocates more memory than its limit.
func TestMemoryLimitEndsTheService(t *testing.T) {
	t.Parallel()
	e := parse(t, "repeats: 1\nload: {connections: 2, duration: 20s}\nservice:\n  args: [--eats, '10000000']\n  "+
		"limits: {memory: 64MiB}\n  output: pipe\n")
	r, err := lab.Run(t.Context(), e, options(t))
	if err != nil && strings.Contains(err.Error(), "a control group of its own") {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range r.Runs {
		const why = "it needed more memory than its limit allows"
		if one.Outcome != results.Died || !strings.Contains(one.Error, why) || one.LastOutput == "" ||
			one.Exit != "signal: killed" {
			t.Errorf("%s, error %q, exit %q, last output %.200q; want %s, %q, %q", one.Outcome, one.Error, one.Exit,
				one.LastOutput, results.Died, why, "signal: killed")
		}
	}
}

func TestInvalidExperimentsAreRejected(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ rest, want string }{
		"no command": {"service:\n  command: null\n", "--"},
		"no program": {"service:\n  command: weir-no-such --port 1\n", `"weir-no-such": executable file not found`},
		"no file":    {"service:\n  command: ./no-such\n", "no such file"},
		"no CPUs": {"service:\n  limits: {cpus: 1000}\n",
			"limit the service to 1000 CPUs: this process itself may use"},
		"no sources": {"build: [\"ls ${repo}\"]\nservice:\n", "run it in a clone of Weir"},
		"fails": {"build: [[sh, -c, 'echo one; echo two >&2; exit 3']]\nservice:\n",
			"exit status 3; it says:\n  one\n  two"},
		"no such tool": {"build: [weir-no-such]\nservice:\n", "executable file not found"},
	} {
		t.Run(name, func(t *testing.T) {
			text := document(c.rest)
			if name == "no command" {
				text = strings.Replace(text, "  command: null\n", "  ready: /\n", 1)
			}
			e, err := experiment.Parse("test.yaml", []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			r, err := lab.Run(t.Context(), e, options(t))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Run = %v, %v; want an error with %q", r, err, c.want)
			}
		})
	}
}

// TestFailingConfigurationIsGivenUp checks that a configuration is given up.
func TestFailingConfigurationIsGivenUp(t *testing.T) {
	t.Parallel()
	r := run(t, parse(t, `
repeats: 4
load: {connections: 1, threads: 1, requests: 1}
service:
  output: pipe
matrix:
  service.args: {good: [], bad: [--nonsense]}
`), options(t))
	var made, not, good int
	for _, one := range r.Runs {
		switch {
		case !strings.Contains(one.Configuration, "bad"):
			good++
			if one.Outcome != results.Done {
				t.Errorf("run %d of %q: %s, %s", one.Number, one.Configuration, one.Outcome, one.Error)
			}
		case one.Outcome == results.Died:
			made++
		case one.Outcome == results.Failed && strings.Contains(one.Error, "not made"):
			not++
		}
	}
	if made != 3 || not != 1 || good != 8 {
		t.Errorf("%d runs of the bad one were made, %d not, %d of the good ones; want 3, 1, 8", made, not, good)
	}
}

// TestUntilEndsTheExperiment ends an experiment after its second block of four.
func TestUntilEndsTheExperiment(t *testing.T) {
	t.Parallel()
	o, blocks := options(t), 0
	o.Until = func(block []results.Run) bool {
		blocks++
		if len(block) != 2 || block[0].Repeat != blocks || block[1].Repeat != blocks ||
			block[0].Configuration == block[1].Configuration {
			t.Errorf("block %d: %s", blocks, asJSON(t, block))
		}
		return blocks == 2
	}
	r := run(t, parse(t, `
repeats: 4
load: {connections: 1, threads: 1, requests: 1}
service:
  output: pipe
matrix:
  service.args: {one: [], two: [--lines, "2"]}
`), o)
	if len(r.Runs) != 4 || len(r.Configurations) != 2 {
		t.Errorf("got %d runs of %d configurations, want 4 of 2: the baseline has no twin", len(r.Runs), len(r.Configurations))
	}
}

func TestBuildAndMeasuresAreKept(t *testing.T) {
	t.Parallel()
	o := options(t)
	var lines []string
	o.Progress = func(p lab.Progress) {
		if p.Step == lab.Building {
			lines = append(lines, p.Line)
		}
	}
	measures := `[{"name": "log lines emitted", "value": 1000000}, {"name": "own", "unit": "us", "value": 12.5, "better": "higher"}]`
	r := run(t, parse(t, `
build:
  - [sh, -c, "echo building; cp \"$0\" \"$1\"", "${weir}", "${build}/service"]
repeats: 1
service:
  command: ["${build}/service", --listen, "127.0.0.1:${port}", --measures, '`+measures+`']
  env: {`+asProgram+`: service, `+atOnce+`}
  output: file
`), o)
	if len(lines) != 2 || lines[1] != "building" {
		t.Errorf("the build says %q", lines)
	}
	for _, one := range r.Runs {
		own := one.Own
		if len(own) != 2 || own[1] != (results.Measure{Name: "own", Unit: "us", Value: 12.5, Better: results.Higher}) {
			t.Errorf("it has measured %+v", own)
		}
		if one.Output.Expected != 1000000 || one.Output.Lost != 1000000-one.Output.Lines {
			t.Errorf("output %+v", one.Output)
		}
	}
	checkFolder(t, o.Dir, 2)
}

// TestPortOfServiceIsFound runs a program that is not made for the lab and chooses its
// port itself.
func TestPortOfServiceIsFound(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip(err)
	}
	r := run(t, parse(t, `
repeats: 1
service:
  command: [`+python+`, -c, "import http.server as h; h.ThreadingHTTPServer(('', 0), h.SimpleHTTPRequestHandler).serve_forever()"]
  output: pipe
  lines_per_request: 1
`), options(t))
	for _, one := range r.Runs {
		if one.Outcome != results.Done || one.Load.Requests == 0 || one.Output.Lines == 0 {
			t.Errorf("%s, %s, output %+v, %q", one.Outcome, one.Error, one.Output, one.LastOutput)
		}
	}
}

// TestAddressOfServiceIsFound looks for a service whose address is not given.
func TestAddressOfServiceIsFound(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ args, url, warning string }{
		"of IPv6": {"--listen, '[::1]:0'", "http://[::1]:", ""},
		"admin first": {"--admin, '127.0.0.1:0'", "http://127.0.0.1:",
			"the first of them was loaded: name the right one by service.url"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if l, err := net.Listen("tcp", "[::1]:0"); err != nil {
				t.Skip(err)
			} else {
				l.Close()
			}
			e := parse(t,
				few+"service:\n  command: ['${weir}', "+c.args+"]\n  env: {"+asProgram+": service, "+atOnce+"}\n")
			for _, one := range run(t, e, options(t)).Runs {
				if one.Load == nil || !strings.HasPrefix(one.Load.URL, c.url) {
					t.Errorf("%s, %s, load %v; want one of %s", one.Outcome, one.Error, one.Load, c.url)
				}
				if warnings := strings.Join(one.Warnings, "; "); !strings.Contains(warnings, c.warning) ||
					c.warning == "" && warnings != "" {
					t.Errorf("the warnings are %q, want %q", warnings, c.warning)
				}
			}
		})
	}
}

// few is an experiment of two runs with some requests each.
const few = "repeats: 1\nload: {connections: 1, threads: 1, requests: 5, timeout: 2s}\n"

// TestResponsesOfOtherProcessFailTheRun runs a service whose requests are answered by a
// process that is no longer its child.
func TestResponsesOfOtherProcessFailTheRun(t *testing.T) {
	t.Parallel()
	e := parse(t, few+`
service:
  command: [sh, -c, '("$0" "$@" &); exec sleep 60', "${weir}", --listen, "127.0.0.1:${port}"]
  env: {`+asProgram+`: service, `+atOnce+`}
`)
	for _, one := range run(t, e, options(t)).Runs {
		if one.Outcome != results.Failed || !strings.Contains(one.Error,
			"which is neither the service nor a child of it") || one.Load != nil {
			t.Errorf("%s, %s, load %v; want the run to fail before the load", one.Outcome, one.Error, one.Load)
		}
	}
}

// TestChildMayRespond runs a service whose child responds.
func TestChildMayRespond(t *testing.T) {
	t.Parallel()
	e := parse(t, few+`
service:
  command: [sh, -c, '"$0" "$@" & trap "kill $!" TERM; wait; wait', "${weir}", --listen, "127.0.0.1:${port}"]
  env: {`+asProgram+`: service, `+atOnce+`}
`)
	for _, one := range run(t, e, options(t)).Runs {
		if one.Outcome != results.Done || len(one.Warnings) > 0 {
			t.Errorf("%s, %s, warnings %q", one.Outcome, one.Error, one.Warnings)
		}
	}
}

// TestOddMeasuresGiveWarnings checks that invalid measures have warnings, and are neither
// dropped silently nor judged in a wrong direction.
func TestOddMeasuresGiveWarnings(t *testing.T) {
	t.Parallel()
	for measures, c := range map[string]struct {
		want    []results.Measure
		warning string
	}{
		`[{"name": "a", "better": "lower"}]`: {[]results.Measure{{Name: "a"}}, ""},
		`[{"name": "b", "better": "bigger"}]`: {[]results.Measure{{Name: "b", Better: results.Neither}},
			`"bigger"`},
		`[{"name": "c", "value": 1}, {"name": "c", "value": 2}]`: {[]results.Measure{{Name: "c", Value: 1}},
			"more than once"},
		`[{"value": 1}]`: {nil, "no name"},
		`[{"name": "latency p99", "unit": "us"}]`: {[]results.Measure{{Name: "own latency p99",
			Unit: "us"}}, "one of the lab's"},
		`[{"name": "d", "value": 1}, {"name": "e", "value": "two"}]`: {nil, "WEIR_LAB_MEASURES"},
	} {
		t.Run(measures, func(t *testing.T) {
			t.Parallel()
			e := parse(t, few+`
service:
  command: ["${weir}", --listen, "127.0.0.1:${port}", --measures, '`+measures+`']
  env: {`+asProgram+`: service, `+atOnce+`}
`)
			for _, one := range run(t, e, options(t)).Runs {
				warnings := strings.Join(one.Warnings, "; ")
				if !slices.Equal(one.Own, c.want) || !strings.Contains(warnings, c.warning) || c.warning == "" &&
					strings.Contains(warnings, "measure") {
					t.Errorf("%s, %s: measured %+v, warnings %q; want %+v and %q", one.Outcome, one.Error, one.Own, warnings, c.want, c.warning)
				}
			}
		})
	}
}

// TestWarmUpIsExtended loads a service that becomes faster. On a busy machine a run may look as if it did not: longer
// rounds have more requests, and there are more runs.
func TestWarmUpIsExtended(t *testing.T) {
	t.Parallel()
	for _, round := range []float64{1, 4, 4, 4} {
		e := parse(t, fmt.Sprintf("repeats: 2\nwarm_up: %vs\nload: {rate: 100, threads: 1, duration: %vs}\n"+
			"service:\n  args: [--warms, '2e6', --lines, '0']\n", round, 2*round))
		for _, one := range run(t, e, options(t)).Runs {
			if one.Outcome != results.Done || one.WarmUp == nil || one.WarmUp.Seconds < round || one.WarmUp.Seconds > 3*round {
				t.Fatalf("%s, %s: warm-up %+v, want one to three rounds of %v s", one.Outcome, one.Error, one.WarmUp, round)
			}
			if one.WarmUp.Seconds > round {
				return
			}
		}
	}
	t.Error("no run of a service that becomes faster has a longer warm-up")
}

// No request is due during the warm-up.
func TestWarmUpMayHaveNoRequest(t *testing.T) {
	t.Parallel()
	e := parse(t, "repeats: 1\nwarm_up: 10ms\nload: {rate: 4, duration: 600ms, threads: 1}\nservice:\n")
	for _, one := range run(t, e, options(t)).Runs {
		if one.Outcome != results.Done {
			t.Errorf("%s, %s", one.Outcome, one.Error)
		}
	}
}

// TestRequestsOfALogAreRepeated sends the first requests of a log as a warm-up, and then the log from its beginning.
func TestRequestsOfALogAreRepeated(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "access.log")
	var lines strings.Builder
	for i := range 40 {
		fmt.Fprintf(&lines, `127.0.0.1 - - [28/Nov/2026:10:00:%02d +0000] "GET /?i=%d HTTP/1.1" 200 3 "-" "-"`+"\n", i/20, i)
	}
	if err := os.WriteFile(file, []byte(lines.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	e := parse(t, "repeats: 1\nwarm_up: 200ms\nload: {from_log: '"+file+"', speed: 2, threads: 1}\nservice:\n")
	for _, one := range run(t, e, options(t)).Runs {
		if one.Outcome != results.Done || one.Load.Requests != 40 || one.Load.Status["2xx"] != 40 {
			t.Errorf("%s, %s: %+v, want a response to each of the 40 requests", one.Outcome, one.Error, one.Load)
		}
	}
}

// Earlier runs are complete, and the experiment can be resumed.
func TestUnwritableRunLosesNoOther(t *testing.T) {
	t.Parallel()
	o := options(t)
	o.Progress = func(p lab.Progress) {
		if p.Run == 2 && p.Step == lab.Starting {
			os.Mkdir(filepath.Join(o.Dir, "runs/002.json.part"), 0o777)
		}
	}
	e := parse(t, few+"service:\n")
	if r, err := lab.Run(t.Context(), e, o); err == nil || !strings.Contains(err.Error(), "002.json") {
		t.Fatalf("Run = %v, %v; want an error that names the file", r, err)
	}
	if read, err := lab.Read(o.Dir); err != nil || len(read.Runs) != 1 || !read.Interrupted {
		t.Errorf("Read = %s, %v; want one run, interrupted", asJSON(t, read), err)
	}
	o.Progress, o.Resume = nil, true
	if r := run(t, e, o); len(r.Runs) != 2 {
		t.Errorf("%d runs, want 2", len(r.Runs))
	}
	checkFolder(t, o.Dir, 2)
}

func TestFileLimitIsSetAndReported(t *testing.T) {
	t.Parallel()
	r := run(t, parse(t, "repeats: 1\nservice:\n  limits: {files: 123}\n"), options(t))
	for _, one := range r.Runs {
		if one.Outcome != results.Done || one.Usage.FileLimit != 123 {
			t.Errorf("%s, %s: the limit is %d, want 123", one.Outcome, one.Error, one.Usage.FileLimit)
		}
	}
}

// TestTakenPortIsNotMeasured checks that another service on the same port is not measured.
func TestTakenPortIsNotMeasured(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	r := run(t, parse(t, "repeats: 1\nservice:\n  url: http://"+l.Addr().String()+"/\n"), options(t))
	if one := r.Runs[0]; one.Outcome != results.Failed ||
		!strings.Contains(one.Error, "something else takes connections") {
		t.Errorf("%s, %q", one.Outcome, one.Error)
	}
}

// TestStoppedReaderDelaysTheOutput stops the reader of the log during the load. The output of
// the service waits.
func TestStoppedReaderDelaysTheOutput(t *testing.T) {
	t.Parallel()
	r := run(t, parse(t, `
repeats: 1
service:
  output: pipe stops 1s after 50ms
  args: [--lines, "1000"]
load: {connections: 4, threads: 1, duration: 1200ms, timeout: 5s}
`), options(t))
	for _, one := range r.Runs {
		if one.Outcome != results.Done || one.Output.MostBehind < 32<<10 {
			t.Errorf("%s, %s: %d bytes have waited", one.Outcome, one.Error, one.Output.MostBehind)
		}
	}
}

func TestProfilesAreKept(t *testing.T) {
	t.Parallel()
	o := options(t)
	r := run(t, parse(t, `
repeats: 1
profiles: [cpu, alloc_space]
service:
  go: /debug
load: {connections: 2, threads: 1, requests: 200}
`), o)
	if len(r.Profiled) != 1 || len(r.Profiled[0].Profiles) != 2 || r.Profiled[0].Load == nil {
		t.Fatalf("profiled %s", asJSON(t, r.Profiled))
	}
	for _, p := range r.Profiled[0].Profiles {
		if info, err := os.Stat(filepath.Join(o.Dir, p.File)); err != nil || info.Size() == 0 {
			t.Errorf("profile %s: %v", p.File, err)
		}
	}
	if r.Runs[0].Go == nil {
		t.Errorf("a Go service was not asked; warnings %v", r.Runs[0].Warnings)
	}
	read, err := lab.Read(o.Dir)
	if err != nil || asJSON(t, read.Profiled) != asJSON(t, r.Profiled) {
		t.Errorf("read, the profiled runs are %v, %s", err, asJSON(t, read.Profiled))
	}
}

// TestInterruptedSessionCanBeResumed interrupts the lab in its second run.
func TestInterruptedSessionCanBeResumed(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	o := options(t)
	o.Progress = func(p lab.Progress) {
		if p.Run == 2 && p.Step == lab.Loading {
			interrupt()
		}
	}
	e := parse(t, "repeats: 2\nservice:\n  output: pipe\n")
	r, err := lab.Run(ctx, e, o)
	if err != nil || !r.Interrupted || len(r.Runs) != 1 {
		t.Fatalf("Run = %s, %v; want one run, interrupted", asJSON(t, r), err)
	}
	checkFolder(t, o.Dir, 1)
	if _, err := lab.Run(t.Context(), e, o); err == nil || !strings.Contains(err.Error(), "--resume") {
		t.Errorf("once more without Resume: %v", err)
	}
	o.Progress = nil
	o.Resume = true
	if r = run(t, e, o); len(r.Runs) != 4 {
		t.Errorf("%d runs, want 4", len(r.Runs))
	}
	other := parse(t, "repeats: 3\nservice:\n  output: pipe\n")
	if _, err := lab.Run(t.Context(), other, o); err == nil || !strings.Contains(err.Error(), "another experiment") {
		t.Errorf("another experiment with Resume: %v", err)
	}
}

func TestInterruptBeforeTheRunsIsAnError(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	o := options(t)
	o.Progress = func(lab.Progress) { interrupt() }
	for name, rest := range map[string]string{"build": "build: [sleep 60]\nservice:\n", "run": "service:\n"} {
		o.Dir = filepath.Join(t.TempDir(), name)
		if r, err := lab.Run(ctx, parse(t, rest), o); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: Run = %v, %v; want %v", name, r, err, context.Canceled)
		}
	}
}

// TestResumeContinuesAfterKill kills a running lab. All that it has kept remains, the
// processes that it left running are ended, and an incomplete file is made
// again.
// It is not parallel: killed processes would become children of this one, which runs others
func TestResumeContinuesAfterKill(t *testing.T) {
	dir := t.TempDir()
	file, out := filepath.Join(dir, "test.yaml"), filepath.Join(dir, "out")
	text := document("repeats: 2\nservice:\n  command: [sh, -c, 'sleep 60 & exec \"$0\" \"$@\"', \"${weir}\", " +
		"--listen, \"127.0.0.1:${port}\"]\n  env: {" + asProgram + ": service, " + atOnce + "}\n")
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	killed := exec.Command(os.Args[0], file, out)
	killed.Env = append(os.Environ(), asProgram+"=lab")
	if err := killed.Start(); err != nil {
		t.Fatal(err)
	}
	testkit.Await(t, "two runs were kept", func() bool {
		_, err := os.Stat(filepath.Join(out, "runs/002.json"))
		return err == nil
	})
	testkit.AwaitEqual(t, "the third one runs", func() int { return len(leaktest.Children(killed.Process.Pid)) }, 1)
	service, _ := strconv.Atoi(leaktest.Children(killed.Process.Pid)[0])
	testkit.AwaitEqual(t, "it has a child", func() int { return len(leaktest.Children(service)) }, 1)
	left, _ := strconv.Atoi(leaktest.Children(service)[0])
	killed.Process.Kill()
	killed.Wait()
	if err := os.WriteFile(filepath.Join(out, "runs/002.json"), []byte(`{"number": 2, "conf`), 0o666); err != nil {
		t.Fatal(err)
	}
	e, err := experiment.Parse(file, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	r := run(t, e, lab.Options{Dir: out, Weir: os.Args[0], Resume: true})
	if len(r.Runs) != 4 {
		t.Errorf("%d runs, want 4", len(r.Runs))
	}
	for _, one := range r.Runs {
		if one.Outcome != results.Done {
			t.Errorf("run %d: %s, %s", one.Number, one.Outcome, one.Error)
		}
	}
	if syscall.Kill(left, 0) == nil && !zombie(left) {
		t.Errorf("process %d, which the killed lab had left, runs", left)
	}
	if warnings := fmt.Sprint(r.Runs[len(r.Runs)-1].Warnings, r.Runs[1].Warnings); !strings.Contains(warnings,
		"a lab that was killed had left") {
		t.Errorf("the warnings are %s", warnings)
	}
	checkFolder(t, out, 4)
}

func zombie(pid int) bool {
	stat, err := process.ReadStat(pid)
	return err != nil || stat.Ended()
}

// TestFolderBelongsToOneLab lets two labs write to one folder.
func TestFolderBelongsToOneLab(t *testing.T) {
	t.Parallel()
	o := options(t)
	e := parse(t, "repeats: 1\nservice:\n")
	second := o
	second.Resume = true
	var err error
	o.Progress = func(p lab.Progress) {
		if p.Step == lab.Loading && err == nil {
			_, err = lab.Run(t.Context(), e, second)
		}
	}
	run(t, e, o)
	if err == nil || !strings.Contains(err.Error(), "is in use") {
		t.Errorf("a second lab in the same folder: %v", err)
	}
}

// TestReadToleratesMissingRun removes the file of a run.
func TestReadToleratesMissingRun(t *testing.T) {
	t.Parallel()
	o := options(t)
	run(t, parse(t, "repeats: 1\nservice:\n"), o)
	if r, err := lab.Read(o.Dir); err != nil || r.Interrupted || len(r.Runs) != 2 {
		t.Errorf("Read = %s, %v; want two runs, not interrupted", asJSON(t, r), err)
	}
	if err := os.Remove(filepath.Join(o.Dir, "runs/002.json")); err != nil {
		t.Fatal(err)
	}
	if r, err := lab.Read(o.Dir); err != nil || !r.Interrupted || len(r.Runs) != 1 {
		t.Errorf("Read = %s, %v; want one run, interrupted", asJSON(t, r), err)
	}
}

func TestReadReportsEmptyFolder(t *testing.T) {
	t.Parallel()
	if r, err := lab.Read(t.TempDir()); !errors.Is(err, fs.ErrNotExist) ||
		!strings.Contains(err.Error(), "weir lab run") {
		t.Errorf("Read = %v, %v", r, err)
	}
}
