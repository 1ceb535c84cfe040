package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/weirhq/weir/internal/peer"
)

// long runs the commands of the docs with all configurations and packages.
var long = os.Getenv("WEIR_LONG") != ""

// TestDocsCommandsRun runs the commands of the README, the docs and the examples in
// order, with free ports instead of those in the text. It runs every block of
// "```sh". A block of "```sh yours" needs a program of the reader.
func TestDocsCommandsRun(t *testing.T) {
	t.Parallel()
	var measured sync.Map
	for _, pattern := range []string{"README.md", "docs/*.md", "docs/configuration/*.md", "docs/decisions/*.md", "examples/*/README.md"} {
		pages, err := filepath.Glob("../../" + pattern)
		if err != nil || len(pages) == 0 {
			t.Fatalf("%s: found %d pages, error %v", pattern, len(pages), err)
		}
		for _, file := range pages {
			t.Run(filepath.Base(file), func(t *testing.T) {
				t.Parallel()
				r := runPage(t, file, &measured)
				if pattern == "README.md" && (r.requests == 0 || r.doors < 2) {
					t.Errorf("README.md starts %d front doors and sends %d requests, want 2 and 1", r.doors, r.requests)
				}
			})
		}
	}
}

// runPage runs the commands of one page, except the measurements of another page.
func runPage(t *testing.T, file string, measured *sync.Map) *page {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	r := &page{t: t, dir: t.TempDir(), measured: measured}
	r.config = filepath.Join(r.dir, "weir.yaml")
	for _, block := range fenced(string(text), "yaml") {
		if strings.HasPrefix(block, "# weir.yaml\n") {
			r.writeConfig(block)
		}
	}
	for _, block := range fenced(string(text), "sh") {
		for line := range strings.Lines(block) {
			r.run(line)
		}
	}
	for _, block := range fenced(string(text), "") {
		if command := regexp.MustCompile(`(?m)^(\./weir|weir|go|make|curl|git|npm) .*`).FindString(
			block); command != "" {
			t.Errorf("%q is in a block without a language: give it sh, or sh yours", command)
		}
	}
	return r
}

// A page runs the commands of one page of the docs.
type page struct {
	t               *testing.T
	dir             string // working directory of commands that write files
	config          string // the page's weir.yaml
	log             string // the page's weir.log
	door, backend   *process
	nats            *peer.NATS
	doors, requests int
	measured        *sync.Map // the commands of weir lab that a page has run
}

// fenced returns the code blocks of a language.
func fenced(markdown, language string) []string {
	var blocks []string
	var block strings.Builder
	in, wanted := false, false
	for line := range strings.Lines(markdown) {
		fence, isFence := strings.CutPrefix(line, "```")
		switch {
		case isFence && in && wanted:
			blocks = append(blocks, block.String())
			block.Reset()
			in = false
		case isFence:
			in = !in
			wanted = strings.TrimSpace(fence) == language
		case in && wanted:
			block.WriteString(line)
		}
	}
	return blocks
}

func (r *page) writeConfig(text string) {
	if err := os.WriteFile(r.config, []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// run runs one line of a shell block.
func (r *page) run(line string) {
	line, _, _ = strings.Cut(line, " #")
	line, _, _ = strings.Cut(line, " > weir.log")
	args := words(strings.TrimSuffix(strings.TrimSpace(line), "&"))
	switch {
	case len(args) == 0:
	case slices.Equal(args, []string{"make", "test"}), args[0] == "go" && args[1] == "build":
		// The test binary exists because these work.
	case args[0] == "go" && args[1] == "get":
		// modules_test.go in the root gets the modules as a user does.
	case args[0] == "curl":
		r.request(args[len(args)-1])
	case args[0] == "nats-server":
		r.nats = peer.StartNATS(r.t, peer.NATSOptions{})
	case args[0] == "./weir":
		r.weir(args[1:])
	case strings.HasPrefix(line, "go run ./cmd/weir "):
		r.weir(args[3:])
	default:
		r.t.Errorf("this test does not know how to run %q", line)
	}
}

// words splits a line as a shell does. It knows single quotes only.
func words(line string) []string {
	words := regexp.MustCompile(`'[^']*'|\S+`).FindAllString(line, -1)
	for i := range words {
		words[i] = strings.Trim(words[i], "'")
	}
	return words
}

// weir runs a verb.
func (r *page) weir(args []string) {
	r.t.Helper()
	if i := slices.Index(args, "weir.log"); i >= 0 {
		args[i] = r.log
	}
	if i := slices.Index(args, "weir.yaml"); i >= 0 {
		args[i] = r.config
	}
	switch args[0] {
	case "check":
		start(r.t, args...).wait(0)
	case "backend":
		r.backend = start(r.t, append(args, "--listen", "127.0.0.1:0")...)
		r.backend.url()
	case "serve":
		r.serve(args)
	case "tail":
		r.tail(args)
	case "agent":
		r.agent(args)
	case "load":
		r.load(args)
	case "lab":
		r.lab(args)
	default:
		r.t.Errorf("this test does not know how to run weir %v", args)
	}
}

// serve starts a door and sends a request through it.
func (r *page) serve(args []string) {
	r.t.Helper()
	if i := slices.Index(args, "http://127.0.0.1:8080"); i >= 0 {
		args[i] = r.backend.url()
	}
	r.door = prepare(r.t, append(args, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")...)
	if r.backend != nil {
		r.door.cmd.Env = append(r.door.cmd.Env, "BABBAGE_URL="+r.backend.url())
	}
	if err := r.door.start(); err != nil {
		r.t.Fatal(err)
	}
	r.doors++
	if a := get(r.t, client(r.t), r.door.url()+"/hello"); a.StatusCode != 200 ||
		!strings.HasPrefix(a.body, "GET /hello ") {
		r.t.Errorf("through %v: %s %q", args, a.Status, a.body)
	}
	r.door.events(3)
	r.log = r.door.stdout
}

// load loads the page's backend for a shorter time. It replaces a --fail that a
// busy machine could trigger.
func (r *page) load(args []string) {
	r.t.Helper()
	for i, arg := range args {
		switch {
		case strings.HasPrefix(arg, "http://127.0.0.1:8080"):
			args[i] = strings.Replace(arg, "http://127.0.0.1:8080", r.backend.url(), 1)
		case i > 0 && args[i-1] == "-d":
			args[i] = "200ms"
		case i > 0 && args[i-1] == "--via":
			args[i] = r.nats.URL
		case strings.HasPrefix(arg, "p99 > "):
			args[i] = "p99 > 1000s"
		}
	}
	p := prepare(r.t, args...)
	p.cmd.Dir = r.dir
	if err := p.start(); err != nil {
		r.t.Fatal(err)
	}
	p.wait(0)
}

// agent starts an agent of the page's NATS server.
func (r *page) agent(args []string) {
	r.t.Helper()
	for i, arg := range args {
		if arg == "nats://127.0.0.1:4222" {
			args[i] = r.nats.URL
		}
	}
	start(r.t, args...).says("connected to NATS")
}

// lab runs each configuration of an experiment as often as one leading metric needs, and each benchmark once. By default
// experiments have two configurations, and the benchmarks are those of a package that compiles faster than the router.
func (r *page) lab(args []string) {
	r.t.Helper()
	if _, ran := r.measured.LoadOrStore(strings.Join(args, " "), true); ran {
		return
	}
	switch args[1] {
	case "micro":
		bench := "IsClean"
		if i := slices.Index(args, "./router"); i > 0 && !long {
			args[i], bench = "./load/gen", "Bytes"
		}
		args = append(args, "--count", "1", "--time", "1x", "--bench", bench, "--out", r.t.TempDir())
		if i := slices.Index(args, "main"); i > 0 {
			args[i] = "HEAD" // a clone may have another branch
		}
	case "run":
		short := []string{"-d", "100ms", "--set", "warm_up=0s", "--set", "lead=[requests per second]",
			"--out", r.t.TempDir()}
		two := map[string]string{"log-cost": "matrix.service.output=[null, pipe]",
			"three-events": "matrix.service.args={none: [--logger, none], log.go v1: [--logger, ons-v1]}"}
		if set := two[args[2]]; set != "" && !long {
			short = append(short, "--repeats", "4", "--set", set)
		} else {
			short = append(short, "--repeats", "6")
		}
		args = slices.Insert(args, 3, short...)
	}
	if slices.Contains(args, "python3") {
		if _, err := exec.LookPath("python3"); err != nil {
			r.t.Logf("%v is not tested: %v", args, err)
			return
		}
		args = append(args, "0") // a free port instead of the default
	}
	p := prepare(r.t, args...)
	p.cmd.Dir = "../.." // Weir's sources: some experiments build what they measure
	if err := p.start(); err != nil {
		r.t.Fatal(err)
	}
	p.wait(0)
}

// tail reads the log of the last door.
func (r *page) tail(args []string) {
	r.t.Helper()
	p := start(r.t, args...)
	if slices.Contains(args, "-f") || slices.Contains(args, "--follow") {
		p.awaitEvent("http request completed", "/hello")
		p.signal(syscall.SIGINT)
	}
	p.wait(0)
}

// request sends the page's request to the last door instead of port 20000.
func (r *page) request(url string) {
	r.t.Helper()
	target, ok := strings.CutPrefix(url, "http://127.0.0.1:20000")
	if !ok || r.door == nil {
		r.t.Errorf("%s is no door that was started before", url)
		return
	}
	r.requests++
	if a := get(r.t, client(r.t), r.door.url()+target); a.StatusCode != 200 {
		r.t.Errorf("GET %s: %s", url, a.Status)
	}
	r.door.signal(syscall.SIGTERM)
	r.door.wait(0)
	r.door.events(6) // three of them from the request that serve sent
	r.door = nil
}
