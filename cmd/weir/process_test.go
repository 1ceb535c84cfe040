package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/testkit"
)

// patience is the time that a test waits for an event. Nothing takes that long,
// except on a busy machine.
const patience = 3 * time.Minute

// soaking makes the tests of faults run longer, as make soak needs them, and check
// times.
var soaking = os.Getenv("WEIR_SOAK") != ""

// inSoak returns long in soak, and otherwise short.
func inSoak[T any](short, long T) T {
	if soaking {
		return long
	}
	return short
}

// parallel runs a test beside others, except in soak, where it checks times.
func parallel(t *testing.T) {
	t.Helper()
	if !soaking {
		t.Parallel()
	}
}

// A process is a running weir. Its stdout goes to a file, so that it never waits
// for a reader.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdout string // the file
	stderr text
	exited chan struct{} // closed when cmd has ended
}

// start starts weir with args. The process is killed at the end of the test if it
// still runs.
func start(t *testing.T, args ...string) *process {
	t.Helper()
	p := prepare(t, args...)
	if err := p.start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// prepare returns a process that p.start starts. The caller may change p.cmd before. Only the front door has the race
// detector, unless its test is one of undetectedTests: the other commands have tests with it in their own packages.
func prepare(t *testing.T, args ...string) *process {
	t.Helper()
	program := "weir"
	root, _, _ := strings.Cut(t.Name(), "/")
	if _, without := undetectedTests.Load(root); without || len(args) > 0 && args[0] != "serve" {
		program = undetected(t)
	}
	p := &process{t: t, cmd: exec.Command(program, args...), exited: make(chan struct{})}
	stdout, err := os.Create(filepath.Join(t.TempDir(), "stdout"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stdout.Close() })
	p.stdout = stdout.Name()
	p.cmd.Stdout, p.cmd.Stderr = stdout, &p.stderr
	p.cmd.Env = append(os.Environ(), raceOptions)
	return p
}

// startInto starts a prepared process whose stdout is w, and closes w here: the process is its only writer.
func (p *process) startInto(w *os.File) {
	p.t.Helper()
	p.cmd.Stdout = w
	err := p.start()
	w.Close()
	if err != nil {
		p.t.Fatal(err)
	}
}

// A shell that starts the tests in the background, and nohup, let them ignore signals, and so their processes.
var receiveSignals = sync.OnceFunc(func() {
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGHUP} {
		if signal.Ignored(sig) {
			signal.Notify(make(chan os.Signal, 1), sig) // a new process has the default action for a caught signal
		}
	}
})

func (p *process) start() error {
	receiveSignals()
	if err := p.cmd.Start(); err != nil {
		return err
	}
	go func() {
		p.cmd.Wait() // its state is in cmd.ProcessState
		close(p.exited)
	}()
	p.t.Cleanup(func() {
		p.cmd.Process.Kill()
		<-p.exited
		if p.t.Failed() {
			p.t.Logf("stderr of %v:\n%s", p.cmd.Args, p.stderr.String())
		}
	})
	return nil
}

// signal sends a signal.
func (p *process) signal(sig syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(sig); err != nil {
		p.t.Fatalf("%v: %v", sig, err)
	}
}

// wait waits for the end of the process and checks its exit code.
func (p *process) wait(code int) {
	p.t.Helper()
	select {
	case <-p.exited:
	case <-time.After(patience):
		p.t.Fatalf("%v has not ended", p.cmd.Args)
	}
	if got := p.cmd.ProcessState.ExitCode(); got != code {
		p.t.Fatalf("%v: %v, want exit code %d", p.cmd.Args, p.cmd.ProcessState, code)
	}
}

// alive fails the test if the process has ended.
func (p *process) alive() {
	p.t.Helper()
	select {
	case <-p.exited:
		p.t.Fatalf("%v has ended: %v", p.cmd.Args, p.cmd.ProcessState)
	default:
	}
}

// says waits until the process has written text that matches expr to stderr, and
// returns the first group of the match, or all of it.
func (p *process) says(expr string) string {
	p.t.Helper()
	re := regexp.MustCompile(expr)
	var match []string
	testkit.Await(p.t, fmt.Sprintf("%q on stderr", expr), func() bool {
		match = re.FindStringSubmatch(p.stderr.String())
		select {
		case <-p.exited:
			return true
		default:
			return match != nil
		}
	})
	if match == nil {
		p.t.Fatalf("%v has ended without %q on stderr", p.cmd.Args, expr)
	}
	return match[len(match)-1]
}

// url waits until the process listens and returns its first URL.
func (p *process) url() string { return p.says(`(?:listening|backend) on (https?://\S+)\n`) }

// admin returns the URL of the admin listener.
func (p *process) admin() string { return p.says(`admin on (http://\S+) `) }

// door starts weir serve with config and the addresses that it lacks.
func door(t *testing.T, config string) *process {
	t.Helper()
	return start(t, "serve", "--config", configFile(t, config))
}

// configFile writes config with free ports to a file.
func configFile(t *testing.T, config string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "weir.yaml")
	writeConfig(t, file, config)
	return file
}

func writeConfig(t *testing.T, file, config string) {
	t.Helper()
	config = "listen: 127.0.0.1:0\nadmin: 127.0.0.1:0\n" + config
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
}

// allTo returns the configuration of a route that sends all requests to one
// server.
func allTo(server string) string {
	return fmt.Sprintf("upstreams: {site: {servers: [%q]}}\nroutes: [{match: '/{path...}', to: site}]\n", server)
}

// client returns a client for this test. Its connections close with the test.
func client(t *testing.T) *http.Client {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: 2 * patience}
}

// repeatedly runs clients that call ask repeatedly until it returns false. stop
// ends them and waits for them.
func repeatedly(t *testing.T, clients int, ask func(c *http.Client) bool) (stop func()) {
	t.Helper()
	ended := make(chan struct{})
	var asking sync.WaitGroup
	for range clients {
		c := client(t)
		asking.Go(func() {
			for ask(c) {
				select {
				case <-ended:
					return
				default:
				}
			}
		})
	}
	return func() {
		close(ended)
		asking.Wait()
	}
}

// A response is a response whose body has been read.
type answer struct {
	*http.Response
	body string
}

// get sends a GET request and fails the test if the response is not complete.
func get(t *testing.T, c *http.Client, url string) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return do(t, c, req)
}

func do(t *testing.T, c *http.Client, req *http.Request) answer {
	t.Helper()
	a, err := try(c, req)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// try sends a request and reads its response.
func try(c *http.Client, req *http.Request) (answer, error) {
	resp, err := c.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return answer{resp, string(body)}, err
}

// pause sleeps for d or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// text is a buffer that may be read while it is written.
type text struct {
	mu  sync.Mutex
	buf bytes.Buffer // guarded by mu
}

func (x *text) Write(p []byte) (int, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.buf.Write(p)
}

func (x *text) String() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.buf.String()
}

// metric returns the sum of a metric's samples whose labels contain the parts.
func metric(t *testing.T, admin, name string, parts ...string) float64 {
	t.Helper()
	c := client(t)
	defer c.CloseIdleConnections()
	var sum float64
	for line := range strings.Lines(get(t, c, admin+"/metrics").body) {
		rest, ok := strings.CutPrefix(line, name)
		if !ok || rest[0] != ' ' && rest[0] != '{' {
			continue
		}
		labels, value, _ := strings.Cut(rest, " ")
		if holdsAll(labels, parts) {
			var v float64
			if _, err := fmt.Sscan(value, &v); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			sum += v
		}
	}
	return sum
}

func holdsAll(s string, parts []string) bool {
	for _, part := range parts {
		if !strings.Contains(s, part) {
			return false
		}
	}
	return true
}

// within returns a context that ends with the test or after patience.
func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}
