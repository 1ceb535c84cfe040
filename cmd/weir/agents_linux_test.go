package main

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/internal/certtest"
	"github.com/weirhq/weir/internal/peer"
	"github.com/weirhq/weir/internal/testkit"
	"github.com/weirhq/weir/load"
)

// startAgents starts agents and waits until they are connected.
func startAgents(t *testing.T, via string, n int) []*process {
	t.Helper()
	var all []*process
	for i := range n {
		all = append(all, start(t, "agent", "--via", via, "--name", fmt.Sprintf("load-%d", i+1), "--label", "test=yes"))
	}
	for _, p := range all {
		p.says("connected to NATS at ")
	}
	return all
}

// loadOn starts a run on agents. Its result is in the file.
func loadOn(t *testing.T, via string, n int, args ...string) (p *process, file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "result.json")
	return start(t, append([]string{"load", "--agents", strconv.Itoa(n), "--via", via, "--json=" + file}, args...)...), file
}

func readLoad(t *testing.T, file string) *load.Result {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var r load.Result
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	if r.Asked != r.Sent+r.Unsent || r.Sent != r.Requests+r.Failed+r.Unanswered || r.Latency.Count != r.Sent {
		t.Errorf("%d asked, %d sent, %d unsent, %d answered, %d failed, %d unanswered, %d latencies do not add up", r.Asked,
			r.Sent, r.Unsent, r.Requests, r.Failed, r.Unanswered, r.Latency.Count)
	}
	return &r
}

// A slowServer responds after times between shortest and longest, and measures them.
type slowServer struct {
	*httptest.Server
	shortest, longest time.Duration

	mu       sync.Mutex
	requests int
	took     []time.Duration
}

func newSlowServer(t *testing.T, shortest, longest time.Duration) *slowServer {
	t.Helper()
	s := &slowServer{shortest: shortest, longest: longest}
	s.Server = httptest.NewServer(s)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

func (s *slowServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	s.mu.Lock()
	s.requests++
	// The golden ratio makes the times of any part of the requests evenly distributed.
	_, part := math.Modf(float64(s.requests) * math.Phi)
	s.mu.Unlock()
	time.Sleep(s.shortest + time.Duration(part*float64(s.longest-s.shortest)))
	w.Write([]byte("hello"))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.took = append(s.took, time.Since(began))
}

// awaitReports returns a function that waits until the coordinator has received a report of each of n agents: the second
// one of an agent comes after the response to the first.
func awaitReports(t *testing.T, url string, n int) func() {
	t.Helper()
	conn, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	var mu sync.Mutex
	agents := make(map[string]bool)
	if _, err := conn.Subscribe("weir.load.run.*", func(m *nats.Msg) {
		mu.Lock()
		defer mu.Unlock()
		if m.Header.Get("Weir-Op") == "report" && m.Header.Get("Weir-Part") > "1" {
			agents[m.Header.Get("Weir-Agent")] = true
		}
	}); err != nil {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		testkit.Await(t, "reports of the agents", func() bool {
			mu.Lock()
			defer mu.Unlock()
			return len(agents) == n
		})
	}
}

// TestKilledAgentLosesOnlyItsShare executes a plan on four agents, of which one is killed midway. The merged
// result has the requests of the others and those of its reports, in soak with the quantiles
// that the server measured, within 2%. On a machine that other tests use, the generators' own
// delays are longer. docs/load-agents.md has the figures of the long form.
func TestKilledAgentLosesOnlyItsShare(t *testing.T) {
	parallel(t)
	perAgent, length := inSoak(40, 2000), inSoak(6*time.Second, 20*time.Second)
	n := peer.StartNATS(t, peer.NATSOptions{})
	s := newSlowServer(t, inSoak(500*time.Millisecond, 100*time.Millisecond), inSoak(1500*time.Millisecond,
		400*time.Millisecond))
	agents := startAgents(t, n.URL, 4)
	reported := awaitReports(t, n.URL, 4)
	p, file := loadOn(t, n.URL, 4, "-r", strconv.Itoa(4*perAgent), "-d", length.String(), "-c", strconv.Itoa(2*perAgent),
		s.URL)
	s.await(t, 1)
	time.Sleep(length / 2)
	reported()
	agents[2].signal(syscall.SIGKILL)
	p.wait(cli.ExitOK)
	r := readLoad(t, file)
	lost := r.Generators[2]
	whole := int64(float64(perAgent) * length.Seconds())
	for i, g := range r.Generators {
		if g.Agent != fmt.Sprintf("load-%d", i+1) || i != 2 && (g.Lost != "" || g.Asked != whole) {
			t.Errorf("generator %d: %+v; want %d requests", i+1, g, whole)
		}
	}
	if lost.Lost == "" || lost.Requests >= whole || soaking && (lost.Requests == 0 || lost.Requests > whole*5/8) {
		t.Errorf("the killed agent: %+v; want a part, in soak about half, of %d", lost, whole)
	}
	warnings := strings.Join(r.Warnings, "\n")
	if !strings.Contains(warnings, "agent load-3 (share 3/4) was lost after ") ||
		!strings.Contains(warnings, fmt.Sprintf(" requests per second were sent, of %d that the pace asked for", 4*perAgent)) {
		t.Errorf("warnings:\n%s", warnings)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if all := int64(s.requests); r.Requests > all || r.Requests < all*3/4 {
		t.Errorf("%d answered, the server got %d", r.Requests, all)
	}
	t.Logf("%d answered, the server got %d; %.0f per second sent; lost after %.1f s", r.Requests, s.requests,
		r.Pacing.SentPerSecond, lost.DurationSeconds)
	slices.Sort(s.took)
	for name, got := range map[float64]load.Micros{50: r.Latency.P50, 90: r.Latency.P90, 97.5: r.Latency.P97_5,
		99: r.Latency.P99} {
		want := s.took[min(int(name/100*float64(len(s.took))), len(s.took)-1)].Seconds() * 1e6
		off := float64(got)/want - 1
		t.Logf("p%v: %.1f ms, server %.1f ms, %+.2f%%", name, float64(got)/1e3, want/1e3, 100*off)
		if soaking && math.Abs(off) > 0.02 {
			t.Errorf("p%v is %v us, the server measured %v us", name, got, want)
		}
	}
}

// documentedPermissions returns the configuration of the users in the docs, with passwords.
func documentedPermissions(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/load-agents.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range fenced(string(text), "text") {
		if strings.HasPrefix(block, "authorization") {
			return strings.NewReplacer("COORDINATOR_PASSWORD", `"hunter2@"`, "AGENT_PASSWORD", "hunter1").Replace(block)
		}
	}
	t.Fatal("docs/load-agents.md has no authorization")
	return ""
}

// TestAgentsStopWithTheirCoordinator interrupts a run on agents, then kills the coordinator of another one. The
// agents stop each time and wait for work again.
func TestAgentsStopWithTheirCoordinator(t *testing.T) {
	t.Parallel()
	root := certtest.Root(t, "nats")
	folder := t.TempDir()
	cert, key := root.Issue(t, certtest.Options{}).Write(t, folder, "nats")
	ca, _ := root.Write(t, folder, "ca")
	n := peer.StartNATS(t, peer.NATSOptions{Config: documentedPermissions(t) + fmt.Sprintf(
		"tls { cert_file: %q, key_file: %q }\n", cert, key)})
	as := func(user string) string { return fmt.Sprintf("tls://%s@%s?ca=%s", user, n.Address, ca) }
	via := as("coordinator:hunter2%40")
	s := newSlowServer(t, 0, 0)
	agents := startAgents(t, as("agent:hunter1"), 2)

	p, file := loadOn(t, via, 2, "-r", "50", "-d", "10m", "--label", "test=yes", s.URL)
	s.await(t, 20)
	p.signal(syscall.SIGINT)
	p.wait(cli.ExitOK)
	if r := readLoad(t, file); !r.Interrupted || r.Requests < 20 || len(r.Generators) != 2 {
		t.Errorf("%d answered, interrupted %v, generators %+v", r.Requests, r.Interrupted, r.Generators)
	}

	p, _ = loadOn(t, via, 2, "-r", "50", "-d", "10m", s.URL)
	s.await(t, 50)
	p.signal(syscall.SIGKILL)
	for _, a := range agents {
		a.says("the coordinator was silent for 10s(?s).*waits for work")
	}

	p, file = loadOn(t, via, 2, "-n", "10", "-c", "2", s.URL)
	p.wait(cli.ExitOK)
	if r := readLoad(t, file); r.Requests != 10 || r.Interrupted {
		t.Errorf("%d answered after the others, interrupted %v", r.Requests, r.Interrupted)
	}
	for _, a := range agents {
		a.signal(syscall.SIGTERM)
		a.wait(cli.ExitOK)
		if text := a.stderr.String(); strings.Contains(text, "hunter1") || strings.Contains(text, "ermission") {
			t.Errorf("the password is on stderr, or a permission was missing:\n%s", text)
		}
	}
	p, _ = loadOn(t, as("coordinator:wrong"), 2, s.URL)
	p.says("weir: error: .*(?i)authorization violation(?s).*weir: hint: --via ")
	p.wait(cli.ExitProblem)
}

// await waits until the server has had so many more requests.
func (s *slowServer) await(t *testing.T, more int) {
	t.Helper()
	s.mu.Lock()
	want := s.requests + more
	s.mu.Unlock()
	testkit.Await(t, "requests", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.requests >= want
	})
}

// TestAgentsEndTheirRunWithoutNATS takes the NATS server away during a run, which is complete
// nevertheless.
func TestAgentsEndTheirRunWithoutNATS(t *testing.T) {
	t.Parallel()
	n := peer.StartNATS(t, peer.NATSOptions{})
	s := newSlowServer(t, 0, 0)
	agents := startAgents(t, n.URL, 2)
	p, file := loadOn(t, n.URL, 2, "-r", "50", "-d", "4s", s.URL)
	s.await(t, 50)
	n.Stop()
	time.Sleep(2 * time.Second) // the outage
	n.Start()
	p.wait(cli.ExitOK)
	r := readLoad(t, file)
	if r.Asked != 200 || r.Requests != 200 || r.Generators[0].Lost+r.Generators[1].Lost != "" {
		t.Errorf("%d asked, %d answered, generators %+v", r.Asked, r.Requests, r.Generators)
	}
	for _, a := range agents {
		a.says("(?s)(?:waits for work.*){2}")
	}
}

// TestStoppedAgentWorksAgain stops the process of an agent for good during a run. When it continues, it
// waits for work again.
func TestStoppedAgentWorksAgain(t *testing.T) {
	parallel(t)
	if !soaking {
		t.Skip("an agent that stops is like one that is cut off, which load/agent tests; this is for make soak")
	}
	n := peer.StartNATS(t, peer.NATSOptions{})
	s := newSlowServer(t, 0, 0)
	agents := startAgents(t, n.URL, 2)
	p, file := loadOn(t, n.URL, 2, "-r", "50", "-d", "4s", s.URL)
	s.await(t, 100)
	agents[0].signal(syscall.SIGSTOP)
	p.wait(cli.ExitOK)
	r := readLoad(t, file)
	if r.Generators[0].Lost == "" || r.Generators[1].Asked != 100 || r.Asked >= 200 {
		t.Errorf("%d asked, generators %+v", r.Asked, r.Generators)
	}
	agents[0].signal(syscall.SIGCONT)
	agents[0].says("(?s)(?:waits for work.*){2}")

	p, file = loadOn(t, n.URL, 2, "-n", "10", "-c", "2", s.URL)
	p.wait(cli.ExitOK)
	if r := readLoad(t, file); r.Requests != 10 {
		t.Errorf("%d answered after the others", r.Requests)
	}
}
