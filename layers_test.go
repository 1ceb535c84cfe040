package weir_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const modulePath = "github.com/weirhq/weir"

// layers says, package by package, which packages of this module may be
// imported and which code from outside the standard library. A package that
// is missing here fails the test: its place has to be decided first.
var layers = map[string]struct {
	own     []string // packages of this module, without the module's path
	foreign []string // prefixes of import paths outside the standard library
	why     string
}{
	"": {why: "the root holds tests alone"},
	"log": {
		own: []string{"log/internal/text", "log/internal/jsonscan", "log/internal/ltsv", "log/internal/unwrap", "log/record"},
		why: "a logger is chosen for itself alone: the standard library and nothing else",
	},
	"log/internal/text":     {why: "notations need nobody"},
	"log/internal/unwrap":   {why: "a writer's layers need no other package"},
	"log/internal/jsonscan": {why: "who walks through JSON needs nobody"},
	"log/internal/ltsv":     {own: []string{"log/internal/text", "log/internal/jsonscan"}, why: "a notation"},
	"log/record": {
		own: []string{"log/internal/text", "log/internal/jsonscan", "log/internal/ltsv"},
		why: "who reads events does not write them",
	},
	"log/errs":                 {own: []string{"log"}, why: "errors that log can write"},
	"log/httplog":              {own: []string{"log", "log/traceid"}, why: "net/http lives here, not in log"},
	"log/logtest":              {own: []string{"log", "log/record"}, why: "what was logged, read back"},
	"log/onslog/v1":            {own: []string{"log/internal/text", "log/onslog/internal/wire"}, why: "what it stands in for knows nobody either"},
	"log/onslog/v2":            {own: []string{"log/internal/text", "log/onslog/internal/wire"}, why: "what it stands in for knows nobody either"},
	"log/onslog/internal/wire": {own: []string{"log/internal/text"}, why: "what v1 and v2 share"},
	"log/sink": {
		own: []string{"log", "log/internal/unwrap"},
		why: "a sink takes lines from log and knows no one else",
	},
	"router": {
		own: []string{"router/internal/nearest"},
		why: "a router is chosen for itself alone: the standard library and nothing else",
	},
	"limit": {why: "limits know neither routes nor logs; they are told the time and who asks"},
	"proxy": {
		own: []string{"internal/httpsyntax", "internal/lazydeadline"},
		why: "a proxy tells a hook what happened; it knows neither routes nor logs",
	},
	"front": {
		own: []string{"log", "log/sink", "router", "proxy", "limit", "front/config", "front/internal/redirect", "front/internal/target", "internal/filebudget", "internal/httpsyntax", "internal/lazydeadline", "internal/machine", "log/traceid"},
		foreign: []string{
			"github.com/prometheus/client_golang/prometheus",
			"golang.org/x/sys/unix",
		},
		why: "the front door wires router, proxy and log, and asks sockets how much they take; the laboratory is not its business",
	},
	"front/config": {
		own: []string{"router", "proxy", "front/internal/redirect", "internal/httpsyntax", "internal/nearest", "internal/yamlfile"},
		why: "a configuration is data; package front acts on it",
	},
	"front/internal/redirect": {
		own: []string{"front/internal/target", "internal/httpsyntax", "internal/yamlfile"},
		why: "the configuration and the front door read redirects alike",
	},
	"front/internal/target": {own: []string{"internal/httpsyntax"}, why: "the grammar of request targets and hosts"},
	"load": {
		own:     []string{"load/internal/answer", "load/internal/program", "load/internal/random", "load/target", "internal/machine", "internal/nearest", "internal/process"},
		foreign: []string{"github.com/HdrHistogram/hdrhistogram-go", "golang.org/x/sys/unix"},
		why:     "a load generator knows HTTP and clocks, and nothing of what it sends to",
	},
	"load/internal/answer": {why: "a parser of responses needs no other package"},
	"load/internal/program": {
		own: []string{"load/target", "load/internal/random", "load/internal/request"},
		why: "compiles targets for the engine",
	},
	"load/internal/random": {why: "random numbers need no other package"},
	"load/internal/request": {
		own:     []string{"load/internal/random", "internal/httpsyntax"},
		foreign: []string{"golang.org/x/net/idna"},
		why:     "the grammar of requests as people write them",
	},
	"load/target": {
		own: []string{"load/internal/random", "load/internal/request", "internal/httpsyntax"},
		why: "the requests of a load test; it does not send them",
	},
	"load/gen": {own: []string{"load/internal/random"}, why: "generates data; it sends nothing"},
	"load/report": {
		own:     []string{"load", "internal/chart", "internal/page", "internal/readable"},
		foreign: []string{"github.com/HdrHistogram/hdrhistogram-go"},
		why:     "pictures of a result; who makes one does not show it",
	},
	"load/compare": {
		own:     []string{"load", "internal/readable"},
		foreign: []string{"golang.org/x/perf/benchmath"},
		why:     "two results side by side",
	},
	"load/settings": {
		own: []string{"load", "load/target", "internal/nearest"},
		why: "how people write a plan; the engine takes it made",
	},
	"lab": {
		own:     []string{"load", "load/settings", "lab/internal/service", "internal/machine", "internal/nearest", "internal/process", "internal/readable", "internal/yamlfile"},
		foreign: []string{"github.com/google/pprof/profile", "github.com/prometheus/common/expfmt", "github.com/prometheus/client_model/go", "golang.org/x/sys/unix"},
		why:     "what it measures is handed to it as a command; what it found is for others to judge and to show",
	},
	"lab/internal/service": {
		own:     []string{"internal/machine", "internal/process"},
		foreign: []string{"golang.org/x/sys/unix", "github.com/creack/pty"},
		why:     "a process with its outputs and limits; what is measured of it is not its business",
	},
	"lab/analysis": {
		own:     []string{"lab", "internal/readable"},
		foreign: []string{"golang.org/x/perf/benchmath"},
		why:     "what to make of results; who makes them does not judge them",
	},
	"lab/flame": {foreign: []string{"github.com/google/pprof/profile"}, why: "pictures of a profile"},
	"lab/report": {
		own:     []string{"lab", "lab/analysis", "lab/flame", "load", "internal/chart", "internal/page", "internal/readable", "internal/vector"},
		foreign: []string{"github.com/google/pprof/profile"},
		why:     "pictures and words of what was found",
	},
	"lab/micro": {
		own:     []string{"lab", "internal/machine", "load"},
		foreign: []string{"golang.org/x/perf/benchfmt", "golang.org/x/perf/benchunit"},
		why:     "Go benchmarks as runs of configurations",
	},
	"experiments":             {own: []string{"lab"}, why: "files that come with the program"},
	"examples/logging":        {own: []string{"log", "log/httplog", "log/sink"}, why: "the program at the beginning of docs/logging.md"},
	"internal/yamlfile":       {own: []string{"internal/nearest"}, foreign: []string{"github.com/goccy/go-yaml"}, why: "a file of settings, read with every mistake in it"},
	"internal/chart":          {own: []string{"internal/readable"}, why: "axes have values of any kind"},
	"internal/page":           {own: []string{"internal/chart", "internal/readable", "internal/vector"}, why: "the parts of pages, for reports of any subject"},
	"internal/vector":         {why: "lines and texts as SVG and PDF"},
	"internal/readable":       {why: "numbers and texts as people read them need nobody"},
	"internal/process":        {foreign: []string{"golang.org/x/sys/unix"}, why: "what a process uses is read from /proc alone"},
	"internal/httpsyntax":     {why: "the grammar of HTTP needs nobody"},
	"internal/machine":        {foreign: []string{"golang.org/x/sys/unix"}, why: "what a machine allows is read from it alone"},
	"log/traceid":             {why: "a rule about text needs no other package"},
	"internal/follow":         {why: "a reader of files is made of the standard library alone"},
	"internal/filebudget":     {own: []string{"internal/machine"}, why: "the open files that the system allows, divided"},
	"internal/lazydeadline":   {why: "a rule about times"},
	"internal/nearest":        {why: "a guess at a word needs nobody"},
	"router/internal/nearest": {why: "the copy for router, which does not require the module of internal/nearest"},
	"internal/backend":        {own: []string{"internal/machine", "internal/readable"}, why: "a service to measure with needs a clock of CPU time, and sizes"},
	"cmd/weir/internal/cli": {
		own:     []string{"internal/nearest"},
		foreign: []string{"github.com/alecthomas/kong", "golang.org/x/term"},
		why:     "the parts that all verbs share import no library that a verb drives",
	},
	"cmd/weir/internal/serve": {
		own:     []string{"cmd/weir/internal/cli", "front", "front/config", "internal/backend", "internal/filebudget", "internal/machine", "internal/readable", "log", "log/sink"},
		foreign: []string{"github.com/KimMachineGun/automemlimit"},
		why:     "the verbs of the front door do not measure",
	},
	"cmd/weir/internal/loadcmd": {
		own:     []string{"cmd/weir/internal/cli", "internal/readable", "load", "load/compare", "load/gen", "load/report", "load/settings", "load/target"},
		foreign: []string{"github.com/alecthomas/kong"},
		why:     "weir load sends requests to any server",
	},
	"cmd/weir/internal/labcmd": {
		own: []string{"cmd/weir/internal/cli", "experiments", "internal/readable", "lab", "lab/analysis", "lab/micro", "lab/report"},
		why: "weir lab measures any service",
	},
	"cmd/weir/internal/where": {
		own: []string{"cmd/weir/internal/cli", "log", "log/record"},
		why: "conditions on events are parsed without a library",
	},
	"cmd/weir/internal/tail": {
		own: []string{"cmd/weir/internal/cli", "cmd/weir/internal/where", "internal/follow", "log", "log/record"},
		why: "weir tail reads the events of any program",
	},
	"cmd/weir": {
		own: []string{
			"cmd/weir/internal/cli", "cmd/weir/internal/serve", "cmd/weir/internal/loadcmd", "cmd/weir/internal/labcmd",
			"cmd/weir/internal/tail",
		},
		foreign: []string{"github.com/alecthomas/kong"},
		why:     "only the command imports all verbs",
	},
}

func TestLayers(t *testing.T) {
	type pkg struct {
		ImportPath string
		Standard   bool
		Imports    []string
	}
	out, err := exec.Command("go", "list", "-json=ImportPath,Standard,Imports", "./...", "./log/...", "./router/...").Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("go list: %v\n%s", err, exit.Stderr)
		}
		t.Fatal(err)
	}
	seen := 0
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		seen++
		name := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, modulePath), "/")
		layer, ok := layers[name]
		if !ok {
			t.Errorf("package %s has no row in layers: say what it may import, and why", p.ImportPath)
			continue
		}
		for _, imp := range p.Imports {
			if why := forbidden(imp, layer.own, layer.foreign); why != "" {
				t.Errorf("%s imports %s: %s (%s)", p.ImportPath, imp, why, layer.why)
			}
		}
	}
	if seen == 0 {
		t.Fatal("go list named no package")
	}
}

// forbidden returns why imp may not be imported, or "" when it may.
func forbidden(imp string, own, foreign []string) string {
	if rest, ok := strings.CutPrefix(imp, modulePath+"/"); ok {
		if slices.Contains(own, rest) {
			return ""
		}
		return "not a package it may know"
	}
	if first, _, _ := strings.Cut(imp, "/"); !strings.Contains(first, ".") {
		return "" // the standard library
	}
	for _, prefix := range foreign {
		if imp == prefix || strings.HasPrefix(imp, prefix+"/") {
			return ""
		}
	}
	return "not the standard library, and not on its list"
}

func TestForbidden(t *testing.T) {
	for _, c := range []struct {
		imp  string
		want bool
	}{
		{"net/http", false},
		{modulePath + "/log", false},
		{modulePath + "/proxy", true},
		{"example.com/good/sub", false},
		{"example.com/goodness", true},
	} {
		got := forbidden(c.imp, []string{"log"}, []string{"example.com/good"}) != ""
		if got != c.want {
			t.Errorf("forbidden(%q) = %v, want %v", c.imp, got, c.want)
		}
	}
}
