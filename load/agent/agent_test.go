package agent_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"go.uber.org/goleak"

	"github.com/weirhq/weir/internal/peer"
	"github.com/weirhq/weir/internal/testkit"
	"github.com/weirhq/weir/load"
	"github.com/weirhq/weir/load/agent"
	"github.com/weirhq/weir/load/settings"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// lines are the lines of a log.
type lines struct {
	mu  sync.Mutex
	all []string
}

func (l *lines) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, line)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.all, "\n")
}

// await waits until the lines contain a text so many times.
func (l *lines) await(t *testing.T, text string, times int) {
	t.Helper()
	testkit.AwaitNil(t, text, func() error {
		if all := l.String(); strings.Count(all, text) < times {
			return fmt.Errorf("not logged %d times:\n%s", times, all)
		}
		return nil
	})
}

func connection(n *peer.NATS) nats.Options {
	o := nats.GetDefaultOptions()
	o.Servers = []string{n.URL}
	return o
}

// serve starts an agent, which the end of the test ends.
func serve(t *testing.T, n *peer.NATS, name, version string, labels map[string]string) *lines {
	t.Helper()
	return serveOver(t, connection(n), name, version, labels)
}

// serveOver starts an agent with the options of a connection.
func serveOver(t *testing.T, o nats.Options, name, version string, labels map[string]string) *lines {
	t.Helper()
	log := new(lines)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- agent.Serve(ctx, agent.Options{Connection: o, Subject: "test.load", Name: name,
			Labels: labels, Version: version, Log: log.add})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("agent %s: %v", name, err)
		}
		if t.Failed() {
			t.Logf("agent %s:\n%s", name, log)
		}
	})
	log.await(t, "connected to NATS", 1)
	return log
}

// coordinator returns the options of a run. The plan was made, so that the files are known.
func coordinator(t *testing.T, n *peer.NATS, agents int, s settings.Settings, stdin io.Reader) (agent.Coordinator, *lines) {
	t.Helper()
	files := agent.NewFiles(stdin)
	t.Cleanup(func() {
		if err := files.Close(); err != nil {
			t.Error(err)
		}
	})
	s.Find, s.Seed = files.Find, 7
	p, err := s.Plan()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
	warnings := new(lines)
	return agent.Coordinator{Connection: connection(n), Subject: "test.load", Version: "1", Agents: agents, Settings: s,
		Files: files, Points: 500, Progress: func(load.Progress) {}, Warn: warnings.add}, warnings
}

// TestRunMergesSharesOfAgents executes a plan with files that are larger than a message may be. The server gets
// each request once, with the same body, and the merged result has all of them.
func TestRunMergesSharesOfAgents(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	const agents, requests = 3, 90
	n := peer.StartNATS(t, peer.NATSOptions{Config: "max_payload: 16KB\n"})
	var mu sync.Mutex
	seen := make(map[string]int)
	s := testkit.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := sha256.New()
		io.Copy(body, r.Body)
		mu.Lock()
		defer mu.Unlock()
		seen[r.URL.Path]++
		seen[r.URL.RawQuery]++
		seen[hex.EncodeToString(body.Sum(nil))]++
	}))
	content := strings.Repeat("0123456789", 20_000)
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte(content)))
	users := filepath.Join(t.TempDir(), "users \"of\" 日本.txt")
	if err := os.WriteFile(users, []byte("a\nb\nc\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var logs []*lines
	for i := range agents {
		logs = append(logs, serve(t, n, fmt.Sprint("agent-", i), "1", map[string]string{"zone": "a", "disk": "x"}))
	}
	serve(t, n, "a-other", "1", map[string]string{"zone": "b"})
	c, warnings := coordinator(t, n, agents, settings.Settings{
		URL: fmt.Sprintf("%s/{{seq}}?{{line %q}}", s.URL, users), Body: "@-", Requests: requests, Rate: 100, Connections: 6,
		Headers: []string{"X-One: 1"}, Timeout: 5 * time.Second,
	}, strings.NewReader(content))
	c.Labels = map[string]string{"zone": "a"}
	var last load.Progress
	c.Progress = func(p load.Progress) { last = p }
	r, err := agent.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if r.Requests != requests || r.Status["2xx"] != requests || r.Latency.Count != requests || len(r.Points) < 50 ||
		r.Share != nil || len(r.Generators) != agents || warnings.String() != "" {
		t.Errorf("%+v\nwarnings: %s", r, warnings)
	}
	for i, g := range r.Generators {
		if g.Agent != fmt.Sprint("agent-", i) || g.Requests != requests/agents || g.ClockError <= 0 ||
			max(g.ClockOffset, -g.ClockOffset) > g.ClockError+100 {
			t.Errorf("generator %d: %+v", i, g)
		}
	}
	if !last.Done || last.Requests != requests || last.Agents != agents || last.Reporting != agents || last.Quiet != nil ||
		last.Latency.Count != requests {
		t.Errorf("the last progress is %+v", last)
	}
	mu.Lock()
	defer mu.Unlock()
	for i := range requests {
		if got := seen[fmt.Sprint("/", i)]; got != 1 {
			t.Errorf("request %d arrived %d times", i, got)
		}
	}
	if seen["a"] != 30 || seen["b"] != 30 || seen["c"] != 30 || seen[sum] != requests {
		t.Errorf("lines and bodies that arrived: a %d, b %d, c %d, body %d", seen["a"], seen["b"], seen["c"], seen[sum])
	}
	for _, log := range logs {
		log.await(t, "waits for work", 2)
	}
	c.Files.Close()
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("files are left: %v, %v", left, err)
	}
}

// checkBuckets checks that the last second of all agents has its requests in the buckets of their latency.
func checkBuckets(t *testing.T, p *load.Progress) {
	t.Helper()
	bounds, sum, above := load.LatencyBounds(), int64(0), -1
	for i, n := range p.Buckets {
		if sum += n; n > 0 {
			above = i
		}
	}
	if len(p.Buckets) != len(bounds)+1 || sum != p.Last.Requests+p.Last.Errors {
		t.Errorf("%d buckets with %d requests of %+v", len(p.Buckets), sum, p.Last)
	}
	most := time.Duration(p.Last.Max * 1000)
	if above > 0 && most < bounds[above-1] || above >= 0 && above < len(bounds) && most > bounds[above]*102/100 {
		t.Errorf("the slowest request took %v, and the last bucket with requests is %d: %v", most, above, p.Buckets)
	}
}

// TestAgentsWarmUp executes a plan with a warm-up on two agents. Together they send all of it.
func TestAgentsWarmUp(t *testing.T) {
	t.Parallel()
	n := peer.StartNATS(t, peer.NATSOptions{})
	var got atomic.Int64
	s := testkit.Serve(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { got.Add(1) }))
	for i := range 2 {
		serve(t, n, fmt.Sprint("agent-", i), "1", nil)
	}
	c, warnings := coordinator(t, n, 2, settings.Settings{URL: s.URL, Rate: 100, WarmUp: 500 * time.Millisecond, Requests: 30}, nil)
	var early, late bool
	c.Progress = func(p load.Progress) {
		early, late = early || p.Elapsed < 0 && p.Requests == 0, late || p.Elapsed > 0
	}
	r, err := agent.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if r.Requests != 30 || r.WarmUp == nil || r.WarmUp.Requests != 50 || got.Load() != 80 || warnings.String() != "" {
		t.Errorf("%d answered, the warm-up is %+v, the server got %d; warnings: %s", r.Requests, r.WarmUp, got.Load(), warnings)
	}
	if !early || !late {
		t.Errorf("the progress was shown before the start: %v, and after it: %v", early, late)
	}
}

// TestAgentsExecuteFlows executes flows on two agents, which get the page as a file. Each executes the setup, and the
// numbers of their flows are those of one run.
func TestAgentsExecuteFlows(t *testing.T) {
	t.Parallel()
	n := peer.StartNATS(t, peer.NATSOptions{})
	var mu sync.Mutex
	seen := make(map[string]int) // guarded by mu
	s := testkit.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		seen[r.URL.Path]++
		w.Header().Set("X-Id", "7")
	}))
	for i := range 2 {
		serve(t, n, fmt.Sprint("agent-", i), "1", nil)
	}
	page := testkit.TempFile(t, "flows.yaml", `
setup: [{name: s, request: GET /setup}]
flows:
  - name: f
    steps:
      - {name: a, request: 'GET /{{from "s" "header X-Id"}}/{{seq}}'}
      - {name: b, request: GET /b}
`)
	c, warnings := coordinator(t, n, 2, settings.Settings{URL: s.URL, Flows: page, Connections: 2, Requests: 40}, nil)
	r, err := agent.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if r.Requests != 40 || len(r.Targets) != 2 || r.Targets[1].Step != "f/b" || r.Targets[1].Requests != 20 || warnings.String() != "" {
		t.Errorf("%d answered in the steps %+v; warnings: %s", r.Requests, r.Targets, warnings)
	}
	mu.Lock()
	defer mu.Unlock()
	for i := range 20 {
		if got := seen[fmt.Sprint("/7/", i)]; got != 1 {
			t.Errorf("the first step of flow %d was sent %d times", i, got)
		}
	}
	if seen["/setup"] != 2 || seen["/b"] != 20 {
		t.Errorf("the server got %v", seen)
	}
}

// A run needs one agent that can be used. The shares of the others are missing.
func TestRunLeavesOutUnusableAgents(t *testing.T) {
	t.Parallel()
	n := peer.StartNATS(t, peer.NATSOptions{})
	s := testkit.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {}))
	plan := settings.Settings{URL: s.URL, Rate: 40, Duration: 500 * time.Millisecond}
	refused := func(c agent.Coordinator, want string) {
		t.Helper()
		_, err := agent.Run(t.Context(), c)
		if !errors.As(err, new(*agent.NoAgentError)) || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v\nwant %s", err, want)
		}
	}
	c, _ := coordinator(t, n, 2, plan, nil)
	refused(c, "no agent responded at nats://")
	serve(t, n, "old", "0", nil)
	refused(c, "agent old was left out: it is weir 0, and this is weir 1")
	log := serve(t, n, "young", "1", nil)
	c.Labels = map[string]string{"zone": "a"}
	refused(c, "agent young was left out: it has no label zone=a")

	c, warnings := coordinator(t, n, 2, plan, nil)
	r, err := agent.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(r.Warnings, "\n")
	if r.Asked != 10 || !strings.Contains(all, "agent old was left out: it is weir 0, and this is weir 1") ||
		!strings.Contains(all, "1 of 2 agents take part") || !strings.Contains(all, "missing: 2/2") ||
		!strings.Contains(all, "requests per second were sent, of 40 ") || !strings.Contains(warnings.String(), "agent old") {
		t.Errorf("%d asked, warnings:\n%s", r.Asked, all)
	}

	gone := httptest.NewServer(nil)
	gone.Close()
	c, _ = coordinator(t, n, 1, settings.Settings{URL: gone.URL}, nil)
	refused(c, "agent young did not run: load: no connection to 127.0.0.1:")
	log.await(t, "waits for work", 3)
}

// TestAgentServesOneRunAtATime gives an agent to one of two runs. It is free when the first one is interrupted.
func TestAgentServesOneRunAtATime(t *testing.T) {
	t.Parallel()
	n := peer.StartNATS(t, peer.NATSOptions{})
	asked := make(chan struct{}, 1)
	s := testkit.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case asked <- struct{}{}:
		default:
		}
	}))
	log := serve(t, n, "only", "1", nil)
	c, _ := coordinator(t, n, 1, settings.Settings{URL: s.URL, Rate: 10, Duration: time.Hour}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan *load.Result, 1)
	go func() {
		r, err := agent.Run(ctx, c)
		if err != nil {
			t.Error(err)
		}
		ended <- r
	}()
	<-asked
	other, _ := coordinator(t, n, 1, settings.Settings{URL: s.URL}, nil)
	if _, err := agent.Run(t.Context(), other); err == nil || !strings.Contains(err.Error(), "it is busy with another run") {
		t.Errorf("the second run: %v", err)
	}
	cancel()
	if r := <-ended; r == nil || !r.Interrupted {
		t.Errorf("the first run: %+v", r)
	}
	log.await(t, "waits for work", 2)
}

// A relay passes the connections of an agent on to a server. While the network is cut, nothing
// arrives, and the connections stay open.
type relay struct {
	url string
	cut sync.RWMutex // is locked while the network is cut
}

func newRelay(t *testing.T, server string) *relay {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{url: "nats://" + listener.Addr().String()}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			upstream, err := net.Dial("tcp", server)
			if err != nil {
				client.Close()
				continue
			}
			running.Go(func() { r.pass(upstream, client) })
			running.Go(func() { r.pass(client, upstream) })
		}
	})
	t.Cleanup(func() { // after the agent and before the server have ended
		listener.Close()
		running.Wait()
	})
	return r
}

// pass copies bytes until one side closes its connection.
func (r *relay) pass(to, from net.Conn) {
	defer to.Close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		r.cut.RLock()
		_, err = to.Write(buffer[:n])
		r.cut.RUnlock()
		if err != nil {
			return
		}
	}
}

// TestStoppedAgentKeepsItsResults ends an agent in the middle of a run, as SIGTERM does. The coordinator does not wait
// for it, and has all that it has sent.
func TestStoppedAgentKeepsItsResults(t *testing.T) {
	var asked atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer s.Close()
	n := peer.StartNATS(t, peer.NATSOptions{})
	serve(t, n, "stays", "1", nil)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	log := new(lines)
	go func() {
		ended <- agent.Serve(ctx, agent.Options{Connection: connection(n), Subject: "test.load", Name: "stopped",
			Version: "1", Log: log.add})
	}()
	log.await(t, "connected to NATS", 1)
	c, _ := coordinator(t, n, 2, settings.Settings{URL: s.URL, Rate: 100, Duration: 6 * time.Second,
		Connections: 10}, nil)
	c.Progress = func(p load.Progress) {
		if p.Last.Seconds > 0 && asked.Load() > 20 && ctx.Err() == nil { // Last is a second that both agents have reported
			checkBuckets(t, &p)
			stop()
		}
	}
	r, err := agent.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if len(r.Generators) != 2 {
		t.Fatalf("generators %+v, want two", r.Generators)
	}
	if g := r.Generators[1]; g.Agent != "stopped" || g.Lost != "" || g.Requests == 0 || g.Requests >= 300 {
		t.Errorf("the share of the agent that was stopped is %+v", g)
	}
	if r.Sent != asked.Load() {
		t.Errorf("%d requests were sent, the server got %d", r.Sent, asked.Load())
	}
}

// TestAgentIsLostWhileItsNetworkIsCut cuts the network of an agent in the middle of a run: the agent is lost, and
// stops. When the network is back, it waits for work again.
func TestAgentIsLostWhileItsNetworkIsCut(t *testing.T) {
	t.Parallel()
	n := peer.StartNATS(t, peer.NATSOptions{})
	var asked atomic.Int64
	s := testkit.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { asked.Add(1) }))
	serve(t, n, "near", "1", nil)
	network := newRelay(t, n.Address)
	o := nats.GetDefaultOptions()
	o.Servers = []string{network.url}
	far := serveOver(t, o, "far", "1", nil)

	c, _ := coordinator(t, n, 2, settings.Settings{URL: s.URL, Rate: 40, Duration: 13 * time.Second}, nil)
	var reported atomic.Bool // both agents have, since Last is a second that all have reported
	c.Progress = func(p load.Progress) { reported.Store(reported.Load() || p.Last.Seconds > 0) }
	ended := make(chan *load.Result, 1)
	go func() {
		r, err := agent.Run(t.Context(), c)
		if err != nil {
			t.Error(err)
		}
		ended <- r
	}()
	testkit.Await(t, "reports of 80 requests", func() bool { return reported.Load() && asked.Load() >= 80 })
	network.cut.Lock()
	repair := sync.OnceFunc(network.cut.Unlock)
	defer repair()
	far.await(t, "the coordinator was silent", 1)
	repair()
	r := <-ended
	if r == nil {
		t.FailNow()
	}
	if lost := r.Generators[0]; lost.Agent != "far" || lost.Lost == "" || lost.Requests == 0 || lost.Requests > 200 ||
		r.Generators[1].Requests != 260 {
		t.Errorf("generators %+v", r.Generators)
	}
	far.await(t, "waits for work", 2)
	far.await(t, "connected to NATS", 2)

	c, _ = coordinator(t, n, 2, settings.Settings{URL: s.URL, Requests: 10, Connections: 2}, nil)
	if r, err := agent.Run(t.Context(), c); err != nil || r.Requests != 10 || len(r.Warnings) > 0 && !r.Saturated {
		t.Errorf("the next run: %+v, %v", r, err)
	}
}
