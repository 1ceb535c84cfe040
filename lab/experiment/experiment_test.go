package experiment_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"github.com/weirhq/weir/internal/mistaketest"
	"github.com/weirhq/weir/internal/yamlfile"
	"github.com/weirhq/weir/lab/experiment"
	"github.com/weirhq/weir/lab/results"
	"github.com/weirhq/weir/load/settings"
)

// whole has every key of an experiment.
const whole = `# what a comment says
name: gc
title: Does a collector that runs less often help?
question: >
  What does GOGC cost,
  and whom?
build: ["go build -C ${repo}/bench -o '${build}/the door' ./cmd/labdoor", [npm, install]]
service:
  command: ["${build}/door", --listen, "127.0.0.1:${port}"]
  args: --logger weir
  env: {GOGC: 100, PRICE: $$5}
  dir: "${repo}"
  url: http://127.0.0.1:${port}/
  ready: /healthz
  ready_within: 20s
  stop_within: 5s
  limits: {files: 1024, memory: 512MiB, cpus: 1}
  output: pipe 256KiB/s stops 10s after 5s
  stderr: null
  lines_per_request: 3
  go: /debug
load:
  url: /hello
  headers: ["Accept: text/html"]
  connections: 8
  rate: 1000
  duration: 3s
  poisson: true
warm_up: 2s
matrix:
  service.output: [null, file]
  service.env.GOGC: ["10", 100]
  service.args:
    the old: {value: [--logger, ons], about: as it was}
    the new: --logger weir
exclude: [{service.output: file, service.args: the old}]
include: [{name: logging off, about: writes nothing, set: {service.args: [--logger, none], load.rate: 500}}]
baseline: {service.env.GOGC: 100}
contrasts: [service.env.GOGC]
repeats: 4
sample: 100ms
seed: 7
profiles: [cpu, alloc_space]
quick:
  repeats: 2
  load.duration: 1s
  matrix.service.output: [file, terminal]
`

func fromText(t *testing.T, src string) *experiment.Experiment {
	t.Helper()
	e, err := experiment.Parse("folder/e.yaml", []byte(src))
	if err != nil {
		t.Fatalf("Parse:\n%v\nof\n%s", err, src)
	}
	return e
}

func casesOf(t *testing.T, e *experiment.Experiment) []experiment.Case {
	t.Helper()
	all, err := e.Configurations()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestParseReadsEveryKey(t *testing.T) {
	want := &experiment.Experiment{
		Name:     "gc",
		Title:    "Does a collector that runs less often help?",
		Question: "What does GOGC cost, and whom?",
		Folder:   "folder",
		Build: []experiment.Command{{"go", "build", "-C", "${repo}/bench", "-o", "${build}/the door", "./cmd/labdoor"},
			{"npm", "install"}},
		Service: experiment.Service{
			Command:     experiment.Command{"${build}/door", "--listen", "127.0.0.1:${port}"},
			Args:        []string{"--logger", "weir"},
			Env:         map[string]string{"GOGC": "100", "PRICE": "$$5"},
			Dir:         "${repo}",
			URL:         "http://127.0.0.1:${port}/",
			Ready:       "/healthz",
			ReadyWithin: 20 * time.Second,
			StopWithin:  5 * time.Second,
			Limits:      experiment.Limits{Files: 1024, Memory: 512 << 20, CPUs: 1},
			Output: experiment.Sink{Kind: experiment.Pipe, PerSecond: 256 << 10, StopFor: 10 * time.Second,
				StopAt: 5 * time.Second},
			Stderr:          experiment.Sink{Kind: experiment.Null},
			LinesPerRequest: 3,
			Go:              "/debug",
		},
		Load: settings.Settings{URL: "/hello", Headers: []string{"Accept: text/html"}, Connections: 8, Rate: 1000,
			Duration: 3 * time.Second, Poisson: true},
		WarmUp: 2 * time.Second,
		Matrix: []experiment.Dimension{
			{Setting: "service.output", Values: []experiment.Choice{{Label: "null"}, {Label: "file", Value: "file"}}},
			{Setting: "service.env.GOGC", Values: []experiment.Choice{{Label: "10", Value: "10"},
				{Label: "100", Value: "100"}}},
			{Setting: "service.args", Values: []experiment.Choice{
				{Label: "the old", Value: []any{"--logger", "ons"}, About: "as it was"},
				{Label: "the new", Value: "--logger weir"},
			}},
		},
		Exclude: []map[string]string{{"service.output": "file", "service.args": "the old"}},
		Include: []experiment.Addition{{Name: "logging off", About: "writes nothing", Settings: []experiment.Setting{
			{Path: "service.args", Value: []any{"--logger", "none"}}, {Path: "load.rate", Value: "500"},
		}}},
		Baseline:  map[string]string{"service.env.GOGC": "100"},
		Contrasts: []string{"service.env.GOGC"},
		Repeats:   4,
		Sample:    100 * time.Millisecond,
		Seed:      7,
		Profiles:  []string{"cpu", "alloc_space"},
		Quick: []experiment.Setting{
			{Path: "repeats", Value: "2"}, {Path: "load.duration", Value: "1s"},
			{Path: "matrix.service.output", Value: []any{"file", "terminal"}},
		},
	}
	if diff := cmp.Diff(want, fromText(t, whole)); diff != "" {
		t.Errorf("Parse (-want +got):\n%s", diff)
	}
}

func TestConfigurationsCoverTheMatrix(t *testing.T) {
	got := casesOf(t, fromText(t, whole))
	want := []string{
		"output=null GOGC=10 the old", "output=null GOGC=10 the new",
		"output=null GOGC=100 the old, the baseline", "output=null GOGC=100 the new",
		"output=file GOGC=10 the new", "output=file GOGC=100 the new",
		"logging off",
		"output=null GOGC=100 the old (again), its twin",
	}
	if diff := cmp.Diff(want, namesOf(got)); diff != "" {
		t.Fatalf("configurations (-want +got):\n%s", diff)
	}
	first := got[0]
	if want := []string{"--logger", "ons"}; !cmp.Equal(first.Service.Args, want) || first.Service.Env["GOGC"] != "10" ||
		first.Service.Env["PRICE"] != "$$5" || first.Service.Output.Kind != experiment.Null {
		t.Errorf("the first one's service is %+v", first.Service)
	}
	if first.About != "as it was" || first.Load.Rate != 1000 || first.Load.Folder != "folder" {
		t.Errorf("the first one is %+v", first)
	}
	if want := []results.Label{{Setting: "service.output", Value: "null"}, {Setting: "service.env.GOGC", Value: "10"},
		{Setting: "service.args", Value: "the old"}}; !cmp.Equal(first.Labels, want) {
		t.Errorf("the first one's labels are %v", first.Labels)
	}
	if off := got[6]; off.Load.Rate != 500 || off.Service.Output.Kind != experiment.Pipe ||
		off.About != "writes nothing" {
		t.Errorf("what is included is %+v", off)
	}
	base, twin := got[2], got[7]
	twin.Configuration = base.Configuration
	if diff := cmp.Diff(base, twin); diff != "" {
		t.Errorf("the baseline's twin is another (-want +got):\n%s", diff)
	}
}

// namesOf returns the names of cases, with their roles.
func namesOf(all []experiment.Case) []string {
	var list []string
	for _, c := range all {
		name := c.Name
		if c.Baseline {
			name += ", the baseline"
		}
		if c.Again {
			name += ", its twin"
		}
		list = append(list, name)
	}
	return list
}

func TestNamesShowWhichSettingsVary(t *testing.T) {
	for _, c := range []struct {
		name, src string
		want      []string // without the twin
	}{
		{"nothing varies", "{}", []string{"unchanged, the baseline"}},
		{"one value", "{load.connections: [8]}", []string{"unchanged, the baseline"}},
		{"a single value without a list", "{load.connections: 8}", []string{"unchanged, the baseline"}},
		{"two settings of one name", "{service.env.rate: [1, 2], load.rate: [3]}",
			[]string{"service.env.rate=1, the baseline", "service.env.rate=2"}},
		{"a variable with a dot", "{service.env.a.b: [1, 2]}", []string{"a.b=1, the baseline", "a.b=2"}},
		{"lists", "{service.args: [[], [-x], [-x, --y=z]]}", []string{"none, the baseline", "-x", "-x --y=z"}},
		{"variables together", "{service.env: [{B: 1, A: 2}, {B: 3}]}",
			[]string{"env=B=1 A=2, the baseline", "env=B=3"}},
		{"no rate, and one", "{load.rate: [null, 100]}", []string{"rate=null, the baseline", "rate=100"}},
		{"no limit, and one", "{service.limits.files: [none, 64]}", []string{"files=none, the baseline", "files=64"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := namesOf(casesOf(t, fromText(t, "name: e\nmatrix: "+c.src+"\n")))
			if diff := cmp.Diff(c.want, got[:len(got)-1]); diff != "" {
				t.Errorf("configurations (-want +got):\n%s", diff)
			}
		})
	}
}

func TestIncludeNeedsNoMatrix(t *testing.T) {
	e := fromText(t, "name: e\ninclude: [{name: a}, {name: b, set: {service.output: file}}]\nbaseline: b\n")
	if diff := cmp.Diff([]string{"a", "b, the baseline", "b (again), its twin"}, namesOf(casesOf(t, e))); diff != "" {
		t.Errorf("configurations (-want +got):\n%s", diff)
	}
}

// Each case is a file and a mistake in it: its position, and parts of the
// message.
func TestParseReportsMistakes(t *testing.T) {
	for _, c := range []struct {
		name, src string
		want      []string
	}{
		{"empty", "", []string{"1:1 empty"}},
		{"no name", "title: x\n", []string{`1:1 no "name"|name: gc`}},
		{"a bad name", "name: a/b\n", []string{`1:7 "a/b" is no name`}},
		{"a misspelt key", "name: e\nservise: {}\n", []string{`2:1 unknown key "servise"|did you mean "service"?`}},
		{"a misspelt key within", "name: e\nservice: {otput: file}\n", []string{`2:11 "otput"|did you mean "output"?`}},
		{"a load's key", "name: e\nload: {conections: 1}\n", []string{`2:8 "conections"|did you mean "connections"?`}},
		{"a load's flag", "name: e\nload: {max-connections: 1}\n",
			[]string{`2:8 "max-connections"|did you mean "max_connections"?`}},
		{"a warm-up of the load", "name: e\nload: {warm_up: 1s}\n", []string{`2:8 "warm_up"`}},
		{"a load's value", "name: e\nload: {duration: 10}\n", []string{`2:18 duration|not a time|10s`}},
		{"a load that cannot be", "name: e\nload:\n  rate: 5\n  stages: [1s:5]\n", []string{`3:9 rate|stages`}},
		{"an open setting of a closed loop", "name: e\nload: {poisson: true}\n", []string{`2:17 poisson|open loop`}},
		{"every mistake at once",
			"name: 'e e'\nrepeats: 0\nload: {rate: x}\nservice: {output: pip}\nmatrix: {load.rate: [y]}\n",
			[]string{`1:7 "e e"`, `2:10 "0"|1 to 1000`, `3:14 rate: "x"`, `4:19 "pip"|did you mean "pipe"?`, `5:22 rate: "y"`}},

		{"a quote that is open", "name: e\nservice: {command: \"a 'b\"}\n", []string{`2:23 quote`}},
		{"what a shell would do", "name: e\nservice:\n  command: a > b\n", []string{`3:14 ">"|sh, -c`}},
		{"an unknown name", "name: e\nservice: {url: 'http://127.0.0.1:${prot}/'}\n",
			[]string{`2:34 "${prot}"|did you mean "port"?`}},
		{"an unknown name in a list", "name: e\nservice: {args: [a, 'b${x}']}\n", []string{`2:23 "${x}"|$$`}},
		{"an unknown name in the load", "name: e\nload: {headers: ['a: ${x}']}\n", []string{`2:22 "${x}"`}},
		{"a name that a build does not have", "name: e\nbuild: ['make ${port}']\n", []string{`2:15 "${port}"`}},
		{"a build without a command", "name: e\nbuild: ['']\n", []string{`2:9 no command`}},
		{"a name that is open", "name: e\nservice: {dir: 'a${dir'}\n", []string{`2:18 without its "}"`}},
		{"a control character", "name: e\nservice: {args: [\"\\e\"]}\n", []string{`2:18 control`}},
		{"a variable's name", "name: e\nservice: {env: {A=B: 1}}\n", []string{`2:17 "A=B"`}},
		{"a variable without a value", "name: e\nservice: {env: {A: }}\n", []string{`2:19 "A" has no value`}},
		{"an output", "name: e\nservice: {output: fill}\n", []string{`2:19 "fill"|did you mean "file"?`}},
		{"an output like no other", "name: e\nservice: {output: somewhere}\n",
			[]string{`2:19 "somewhere"|pipe 256KiB/s`}},
		{"a slow file", "name: e\nservice: {output: file 1KiB/s}\n", []string{`2:19 "file 1KiB/s"|pipe`}},
		{"a speed without a unit", "name: e\nservice: {output: pipe 100}\n", []string{`2:19 "100"|20KiB/s`}},
		{"a stop without an end", "name: e\nservice: {output: pipe stops 5s}\n", []string{`2:19 stops 10s after 5s`}},
		{"a path", "name: e\nservice: {ready: healthz}\n", []string{`2:18 "healthz"|/healthz`}},
		{"a limit", "name: e\nservice: {limits: {memory: 512}}\n", []string{`2:28 "512"|512MiB`}},
		{"little memory", "name: e\nservice: {limits: {memory: 1KiB}}\n", []string{`2:28 "1KiB"|1MiB`}},
		{"a profile", "name: e\nprofiles: [cpus]\n", []string{`2:12 "cpus"|did you mean "cpu"?`}},
		{"profiles of what is not Go", "name: e\nprofiles: [cpu]\n", []string{`2:1 service.go|go: /debug`}},
		{"a period", "name: e\nsample: 1us\n", []string{`2:9 "1us"|1ms`}},

		{"a setting that there is not", "name: e\nmatrix: {service.ouput: [file]}\n",
			[]string{`2:10 "service.ouput"|did you mean "service.output"?`}},
		{"a setting without its place", "name: e\nmatrix: {connections: [1]}\n",
			[]string{`2:10 "connections"|did you mean "load.connections"?`}},
		{"a setting that cannot vary", "name: e\nmatrix: {repeats: [1]}\n",
			[]string{`2:10 "repeats" cannot differ|below service and load`}},
		{"no setting at all", "name: e\nmatrix: {load: [1]}\n",
			[]string{`2:10 "load" holds settings|load.connections`}},
		{"a value of the matrix", "name: e\nmatrix:\n  service.output:\n  - file\n  - pipe 1\n",
			[]string{`5:5 "1"|20KiB/s`}},
		{"a value with a name", "name: e\nmatrix:\n  service.args: {a: ['${prot}']}\n",
			[]string{`3:22 "${prot}"|did you mean "port"?`}},
		{"no values", "name: e\nmatrix: {service.output: []}\n", []string{`2:26 "service.output" is empty`}},
		{"a value twice", "name: e\nmatrix: {service.output: [file, file]}\n", []string{`2:33 "file" is given twice`}},
		{"a long value", "name: e\nmatrix: {service.args: [" + strings.Repeat("x", 61) + "]}\n",
			[]string{`2:25 too long|{short: `}},
		{"about with a comma", "name: e\nmatrix: {service.args: {a: {value: b, about: c, d}}}\n",
			[]string{`2:49 "d" is neither|quotes`}},
		{"a configuration that cannot be", "name: e\nload: {stages: [1s:5]}\nmatrix: {load.rate: [null, 100]}\n",
			[]string{`3:28 rate|stages`}},
		{"too many", "name: e\nmatrix: {load.connections: [1,2,3,4,5,6,7,8,9,10], load.pipeline: " +
			"[1,2,3,4,5,6,7,8,9,10], load.threads: [1,2,3]}\n", []string{`2:1 300 configurations|200`}},
		{"far too many", "name: e\nmatrix: {" + wide() + "}\n", []string{`2:1 too many: more than 20000`}},

		{"an exclude's setting", "name: e\nmatrix: {service.output: [file]}\nexclude: [{service.otput: file}]\n",
			[]string{`3:27 "service.otput"|did you mean "service.output"?`}},
		{"an exclude's label", "name: e\nmatrix: {service.output: [file, pipe]}\nexclude: [{service.output: pip}]\n",
			[]string{`3:28 "pip"|did you mean "pipe"?`}},
		{"an exclude of nothing", "name: e\nexclude: [{}]\n", []string{`2:11 every configuration`}},
		{"an exclude without a matrix", "name: e\nexclude: [{service.output: file}]\n", []string{`2:28 no matrix`}},
		{"all excluded", "name: e\nmatrix: {service.output: [file]}\nexclude: [{service.output: file}]\n",
			[]string{`3:1 every configuration is excluded`}},
		{"an addition without a name", "name: e\ninclude: [{set: {service.output: file}}]\n",
			[]string{`2:11 an addition has no "name"`}},
		{"an addition's value", "name: e\ninclude: [{name: a, set: {service.output: fiel}}]\n",
			[]string{`2:43 "fiel"|did you mean "file"?`}},
		{"an addition that is there", "name: e\nmatrix: {load.connections: [1, 2]}\ninclude: [{name: connections=2}]\n",
			[]string{`3:11 two configurations are called "connections=2"`}},
		{"a baseline that is not there", "name: e\nmatrix: {service.output: [file, pipe]}\nbaseline: " +
			"{service.output: null}\n", []string{`3:28 no label "null"|file, pipe`}},
		{"a baseline's name", "name: e\ninclude: [{name: one}, {name: two}]\nbaseline: tow\n",
			[]string{`3:11 no configuration|did you mean "two"?`}},

		{"a short one's setting", "name: e\nquick: {load.duraton: 1s}\n",
			[]string{`2:9 "load.duraton"|did you mean "load.duration"?`}},
		{"a short one's value", "name: e\nquick: {load.duration: 1}\n", []string{`2:24 duration|1s`}},
		{"a short one's matrix", "name: e\nquick: {matrix.service.output: [flie]}\n",
			[]string{`2:33 "flie"|did you mean "file"?`}},
		{"a short one that cannot be",
			"name: e\nmatrix: {service.output: [file, pipe]}\nbaseline: {service.output: pipe}\nquick: " +
				"{matrix.service.output: [file]}\n", []string{`4:8 the short experiment: baseline|unchanged`}},
		{"a short one with another name", "name: e\nquick: {name: f}\n", []string{`2:9 "name" cannot differ`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, err := experiment.Parse("e.yaml", []byte(c.src))
			if err == nil || e != nil {
				t.Fatalf("Parse = %+v, %v, want mistakes", e, err)
			}
			mistaketest.Want(t, err, c.want)
		})
	}
}

// wide returns a matrix whose product overflows an integer.
func wide() string {
	var all []string
	for i := range 80 {
		all = append(all, fmt.Sprintf("service.env.V%d: [1, 2, 3, 4, 5]", i))
	}
	return strings.Join(all, ", ")
}

// mistakes returns the mistakes in an error of Parse.
func mistakes(t *testing.T, err error) []yamlfile.Mistake {
	t.Helper()
	list, ok := err.(interface{ Unwrap() []error })
	if !ok {
		t.Fatalf("the error is %T %v, want mistakes", err, err)
	}
	var all []yamlfile.Mistake
	for _, e := range list.Unwrap() {
		all = append(all, e.(yamlfile.Mistake))
	}
	return all
}

func TestSetChangesSettings(t *testing.T) {
	e := fromText(t, whole)
	for _, s := range [][2]string{
		{"load.duration", "5s"},
		{"repeats", "1"},
		{"service.env.NEW", "x y"},
		{"service.command", "python3 -m 'http server' ${port}"},
		{"matrix.service.output", "[null, terminal]"},
		{"matrix.load.connections", "[1, 64]"},
		{"exclude", "[]"},
		{"baseline", "{service.output: terminal}"},
		{"service.output", "null"},
	} {
		if err := e.Set(s[0], s[1]); err != nil {
			t.Errorf("Set(%q, %q): %v", s[0], s[1], err)
		}
	}
	if want := (experiment.Command{"python3", "-m", "http server", "${port}"}); !cmp.Equal(e.Service.Command, want) {
		t.Errorf("the command is %q, want %q", e.Service.Command, want)
	}
	if want := map[string]string{"GOGC": "100", "PRICE": "$$5", "NEW": "x y"}; !cmp.Equal(e.Service.Env, want) {
		t.Errorf("the environment is %v, want %v", e.Service.Env, want)
	}
	if e.Load.Duration != 5*time.Second || e.Repeats != 1 || e.Service.Output.Kind != experiment.Null {
		t.Errorf("duration %v, repeats %d, output %v", e.Load.Duration, e.Repeats, e.Service.Output)
	}
	if got := len(casesOf(t, e)); got != 2*2*2*2+1+1 {
		t.Errorf("%d configurations, want 18", got)
	}
	if diff := cmp.Diff(casesOf(t, e), casesOf(t, fromText(t, string(e.Source())))); diff != "" {
		t.Errorf("by Source (-want +got):\n%s\n%s", diff, e.Source())
	}
}

func TestSetReportsMistakes(t *testing.T) {
	for _, c := range []struct{ path, value, want string }{
		{"load.duraton", "5s", `load.duraton=5s: there is no setting "load.duraton"; did you mean "load.duration"?`},
		{"duration", "5s", `did you mean "load.duration"?`},
		{"load.duration", "5", `load.duration=5: duration: "5" is not a time`},
		{"load.duration", "", "there is no value; write load.duration=VALUE"},
		{"load.body", `{"a": 1}`, "body"},
		{"service.output", "[null", "not YAML"},
		{"load", "5s", `"load" holds settings, and is none; name one of the settings in it, as in load.connections`},
		{"matrix", "{}", `"matrix" holds settings`},
		{"matrix.service.output", "[nul]", `did you mean "null"?`},
		{"matrix.service.outpt", "[null]", `did you mean "service.output"?`},
		{"load.rate", "10k", "10000"},
	} {
		e := fromText(t, whole)
		err := e.Set(c.path, c.value)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Set(%q, %q) = %v, want %s", c.path, c.value, err, c.want)
		}
		if diff := cmp.Diff(fromText(t, whole), e); diff != "" {
			t.Errorf("Set(%q, %q) failed, and has changed the experiment (-want +got):\n%s", c.path, c.value, diff)
		}
	}
}

// Contrasts are those of a file, or else each configuration against the baseline, or the levels of a square.
func TestQuestionsAreContrasts(t *testing.T) {
	const square = "matrix: {load.connections: [1, 2], service.output: [file, pipe]}\n"
	const wide = "matrix: {service.output: [file, pipe, terminal], load.connections: [1, 2]}\n" +
		"exclude: [{service.output: terminal, load.connections: \"2\"}]\n"
	for _, c := range []struct {
		text string
		want []string
	}{
		{"", nil},
		{"include: [{name: a}, {name: b}, {name: c}]\nbaseline: b\n", []string{"a against b", "c against b"}},
		{"include: [{name: a}, {name: b}, {name: c}]\ncontrasts: [c against b]\n", []string{"c against b"}},
		{square, []string{
			"connections=2 output=file against connections=1 output=file",
			"connections=2 output=pipe against connections=1 output=pipe",
			"connections=1 output=pipe against connections=1 output=file",
			"connections=2 output=pipe against connections=2 output=file",
			"connections=2 output=pipe against connections=1 output=pipe than connections=2 output=file against connections=1 output=file",
		}},
		{square + "contrasts: [service.output]\nbaseline: {service.output: pipe}\n", []string{
			"connections=1 output=file against connections=1 output=pipe",
			"connections=2 output=file against connections=2 output=pipe",
		}},
		{wide + "contrasts: [service.output]\n", []string{
			"output=pipe connections=1 against output=file connections=1",
			"output=pipe connections=2 against output=file connections=2",
			"output=terminal connections=1 against output=file connections=1",
		}},
		{wide, []string{
			"output=file connections=2 against output=file connections=1", "output=pipe connections=1 against output=file connections=1",
			"output=pipe connections=2 against output=file connections=1", "output=terminal connections=1 against output=file connections=1",
		}},
	} {
		e, err := experiment.Parse("folder/e.yaml", []byte("name: e\n"+c.text))
		if err != nil {
			t.Fatal(err)
		}
		checkSource(t, e)
		questions, err := e.Questions()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, q := range questions {
			text := q.String()
			if q.Than != nil {
				text += " than " + q.Than.String()
			}
			got = append(got, text)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: contrasts (-want +got):\n%s", c.text, diff)
		}
	}
}

func TestQuestionsReportMistakes(t *testing.T) {
	for contrast, want := range map[string]string{
		"service.outputs":     `the matrix does not have "service.outputs"; did you mean "service.output"?`,
		"load.connections":    `no two configurations differ only in "load.connections"; remove it`,
		"pipe against null":   `no configuration is called "pipe"; it is one of output=file, output=pipe`,
		"the service's speed": `the matrix does not have "the service's speed"; write a setting of the matrix, or two configurations: small against large`,
	} {
		_, err := experiment.Parse("e.yaml", []byte("name: e\ncontrasts: [\""+contrast+
			"\"]\nmatrix: {service.output: [file, pipe], load.connections: [1]}\n"))
		if err == nil || !strings.Contains(err.Error(), "e.yaml:2:1: "+want) {
			t.Errorf("%s: got %v, want %q", contrast, err, want)
		}
	}
}

func TestShortenAppliesQuick(t *testing.T) {
	e := fromText(t, whole)
	before := string(e.Source())
	short := *e
	if err := short.Shorten(); err != nil {
		t.Fatal(err)
	}
	if short.Repeats != 2 || short.Load.Duration != time.Second || short.Quick != nil {
		t.Errorf("short: repeats %d, duration %v, quick %v", short.Repeats, short.Load.Duration, short.Quick)
	}
	if got := len(casesOf(t, &short)); got != 6+1+1 {
		t.Errorf("short: %d configurations, want 8: %q", got, namesOf(casesOf(t, &short)))
	}
	if got := string(e.Source()); got != before {
		t.Errorf("the experiment that it is a copy of has changed to\n%s", got)
	}
}

// An experiment without quick can also be shortened.
func TestShortenNeedsNoQuick(t *testing.T) {
	for src, want := range map[string][3]any{
		"": {6, time.Duration(0), 2 * time.Second},
		"repeats: 10\nwarm_up: 5s\nload: {duration: 1m}": {6, 500 * time.Millisecond, 2 * time.Second},
		"repeats: 2\nwarm_up: 1ms\nload: {duration: 1s}": {2, time.Millisecond, time.Second},
	} {
		e := fromText(t, "name: e\n"+src)
		if err := e.Shorten(); err != nil {
			t.Fatal(err)
		}
		if got := [3]any{e.Repeats, e.WarmUp, e.Load.Duration}; got != want {
			t.Errorf("%q: repeats, warm-up and duration %v, want %v", src, got, want)
		}
	}
}

// This experiment was not read from a file.
func TestExperimentMayBeMadeInGo(t *testing.T) {
	e := &experiment.Experiment{
		Name:    "e",
		Service: experiment.Service{Command: experiment.Command{"true"}},
		Matrix: []experiment.Dimension{
			{Setting: "load.connections", Values: []experiment.Choice{{Label: "few", Value: 1},
				{Label: "many", Value: 64}}},
			{Setting: "service.env", Values: []experiment.Choice{
				{Label: "a", Value: yaml.MapSlice{{Key: "A", Value: 1}}},
				{Label: "b", Value: map[string]string{"A": "2"}}}},
			{Setting: "service.args", Values: []experiment.Choice{{Label: "x", Value: []string{"-x"}}}},
		},
	}
	got := casesOf(t, e)
	if diff := cmp.Diff([]string{"connections=few env=a, the baseline", "connections=few env=b",
		"connections=many env=a", "connections=many env=b", "connections=few env=a (again), its twin"},
		namesOf(got)); diff != "" {
		t.Errorf("configurations (-want +got):\n%s", diff)
	}
	if last := got[3]; last.Load.Connections != 64 || last.Service.Env["A"] != "2" ||
		!cmp.Equal(last.Service.Args, []string{"-x"}) {
		t.Errorf("the last one is %+v", last)
	}
	again := fromText(t, string(e.Source()))
	again.Folder = ""
	if diff := cmp.Diff(got, casesOf(t, again)); diff != "" {
		t.Errorf("by Source (-want +got):\n%s\n%s", diff, e.Source())
	}
	e.Matrix[0].Values[0].Value = "one"
	if _, err := e.Configurations(); err == nil || !strings.Contains(err.Error(),
		`matrix.load.connections[0]: connections: "one"`) {
		t.Errorf("with a wrong value: %v", err)
	}
	e.Matrix[0] = experiment.Dimension{Setting: "load.conections", Values: []experiment.Choice{{Label: "1", Value: 1}}}
	if _, err := e.Configurations(); err == nil || !strings.Contains(err.Error(), `did you mean "load.connections"?`) {
		t.Errorf("with a wrong setting: %v", err)
	}
}

// FuzzParse checks that no input panics, that a mistake is inside of the file
// and has one printable line, and that an accepted file is the same experiment
// when it is read again from its Source.
func FuzzParse(f *testing.F) {
	f.Add([]byte(whole))
	builtIn, _ := filepath.Glob("../../experiments/*.yaml")
	for _, name := range builtIn {
		src, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(src)
	}
	f.Add([]byte("name: e\nmatrix: {service.args: {a: {value: [b], about: c}, d: [e]}, service.env: [{A: 1}, {B: " +
		"2}]}\nbaseline: a\n"))
	f.Add([]byte("name: e\ninclude: [{name: a, set: {load.stages: [1s:5, 2s:6-7], load.body: \"\\n\"}}]\nquick: " +
		"{exclude: [], baseline: {}, service.limits.files: none}\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		e, err := experiment.Parse("folder/e.yaml", src)
		if err != nil {
			checkMistakes(t, src, err)
			return
		}
		checkSource(t, e)
	})
}

// FuzzTexts is FuzzParse for text in quotes.
func FuzzTexts(f *testing.F) {
	for _, text := range []string{"", "null", "a: b", "x\ny", "${port}$$", "\u2028", "- #", "{[", "\U0001f600 é", "'", `"\`, "<<", "0x1F"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		quoted, err := json.Marshal(text)
		if err != nil || !utf8.ValidString(text) {
			return
		}
		for _, src := range []string{
			"title: Q", "service: {command: Q}", "service: {args: [a, Q]}", "service: {env: {A: Q}}", "service: {env: {Q: a}}", "service: {output: Q}",
			"load: {body: Q}", "load: {headers: [Q]}", "matrix: {service.args: [Q, a]}", "matrix: {service.env.A: {Q: b}}", "matrix: {service.args: {a: {value: [Q], about: Q}}}",
			"matrix: {Q: [a]}", "include: [{name: Q, set: {service.env: {A: Q}}}]", "quick: {service.args: [Q]}",
		} {
			src := "name: e\n" + strings.ReplaceAll(src, "Q", string(quoted)) + "\n"
			e, err := experiment.Parse("folder/e.yaml", []byte(src))
			if err != nil {
				checkMistakes(t, []byte(src), err)
				continue
			}
			checkSource(t, e)
		}
	})
}

// checkSource compares an experiment with the one that is read from its Source.
func checkSource(t *testing.T, e *experiment.Experiment) {
	t.Helper()
	source := e.Source()
	again, err := experiment.Parse("folder/e.yaml", source)
	if err != nil {
		t.Fatalf("%v\nof\n%s", err, source)
	}
	if diff := cmp.Diff(casesOf(t, e), casesOf(t, again)); diff != "" {
		t.Errorf("configurations (-want +got):\n%s\nof\n%s", diff, source)
	}
	if got := again.Source(); string(got) != string(source) {
		t.Errorf("Source:\n%s\nthen\n%s", source, got)
	}
	if e.Shorten() != nil || again.Shorten() != nil {
		t.Error("it cannot be shortened")
	}
	if diff := cmp.Diff(casesOf(t, e), casesOf(t, again)); diff != "" {
		t.Errorf("short configurations (-want +got):\n%s\nof\n%s", diff, source)
	}
}

func checkMistakes(t *testing.T, src []byte, err error) {
	t.Helper()
	lines := strings.Split(string(src), "\n")
	for _, m := range mistakes(t, err) {
		if m.Line < 1 || m.Line > len(lines) || m.Col < 1 || m.Col > 1+utf8.RuneCountInString(lines[m.Line-1]) {
			t.Errorf("%v\nstands outside of the file", m)
		}
		for _, c := range m.Error() {
			if c < ' ' || 0x7f <= c && c < 0xa0 {
				t.Errorf("%q contains a control character", m.Error())
			}
		}
		if m.What == "" {
			t.Errorf("%v says nothing", m)
		}
	}
}
