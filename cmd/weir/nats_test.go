package main

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirhq/weir/internal/peer"
	"github.com/weirhq/weir/internal/testkit"
	"github.com/weirhq/weir/log/natssink"
)

// The log of a front door is in a stream, each event once, and its password nowhere else.
func TestLogToNATSHasEachEventOnce(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"loops", "goroutines"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			n := peer.StartNATS(t, peer.NATSOptions{JetStream: true,
				Config: "authorization { user: weir, password: \"hunter2@\" }\n"})
			js := natsClient(t, n, nats.UserInfo("weir", "hunter2@"))
			to := "nats://weir:hunter2%40@" + n.Address + "/logs.front-door"
			p := door(t, fmt.Sprintf("engine: %s\nlog: {to: ['%s', stdout]}\n", engine, to)+
				allTo(start(t, "backend", "--listen", "127.0.0.1:0").url()))
			c := client(t)
			for i := range 100 {
				if i == 1 {
					p.says("the log waits.*nats stream add LOGS")
					natsStream(t, js, jetstream.StreamConfig{})
				}
				if got := get(t, c, fmt.Sprint(p.url(), "/", i)); got.StatusCode != http.StatusOK {
					t.Fatalf("status %d, want 200", got.StatusCode)
				}
			}
			page := get(t, c, p.admin()+"/log").body + get(t, c, p.admin()+"/metrics").body
			if !strings.Contains(page, "nats://"+n.Address+"/logs.front-door") || strings.Contains(page, "hunter2") {
				t.Errorf("the destination is not named, or its password is:\n%s", page)
			}
			p.signal(syscall.SIGTERM)
			p.wait(0)
			p.events(300)
			log, err := os.ReadFile(p.stdout)
			if err != nil {
				t.Fatal(err)
			}
			got, want := withoutTotals(natsLines(t, js)), withoutTotals(slices.Collect(strings.Lines(string(log))))
			if !slices.Equal(got, want) {
				t.Errorf("the stream has %d events and stdout %d, or they differ", len(got), len(want))
			}
			if strings.Contains(string(log)+p.stderr.String(), "hunter2") {
				t.Error("the password is in the log or on stderr")
			}
		})
	}
}

// withoutTotals returns the lines without those in which destinations count their own events.
func withoutTotals(lines []string) []string {
	return slices.DeleteFunc(lines, func(line string) bool { return strings.Contains(line, totals) })
}

// Mistakes in the URL end the start with a hint.
func TestLogToNATSMistakesGetHints(t *testing.T) {
	t.Parallel()
	p := door(t, "log: {to: 'nats://127.0.0.1/logs?creds=/dev/null'}\n"+allTo("http://127.0.0.1:9"))
	p.says(`nats://127.0.0.1/logs: /dev/null has no credentials: (?s).*hint: docs/nats.md`)
	p.wait(1)
}

// natsClient connects a client to a server.
func natsClient(t *testing.T, n *peer.NATS, options ...nats.Option) jetstream.JetStream {
	t.Helper()
	conn, err := nats.Connect(n.URL, append(options, nats.MaxReconnects(-1))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	return js
}

// natsStream creates the stream LOGS.
func natsStream(t *testing.T, js jetstream.JetStream, c jetstream.StreamConfig) {
	t.Helper()
	c.Name, c.Subjects = "LOGS", []string{"logs.>"}
	if _, err := js.CreateStream(t.Context(), c); err != nil {
		t.Fatal(err)
	}
}

// natsLines returns the lines of the stream LOGS, each with its newline, without those that
// were delivered again. It checks that no line of a source is missing before its last one.
func natsLines(t *testing.T, js jetstream.JetStream) []string {
	t.Helper()
	s, err := js.Stream(t.Context(), "LOGS")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	var seen natssink.Seen
	next := map[string]int{} // the number of the next line of each source
	state := s.CachedInfo().State
	for number := max(1, state.FirstSeq); number <= state.LastSeq; number++ { // an empty stream has 0 and 0
		m, err := s.GetMsg(t.Context(), number)
		if err != nil {
			t.Fatal(err)
		}
		id := m.Header.Get(nats.MsgIdHdr)
		for line := range strings.Lines(string(seen.New(id, m.Data))) {
			all = append(all, line)
		}
		var first, count int
		source, numbers, _ := strings.Cut(id, "-")
		if _, err := fmt.Sscanf(numbers, "%d-%d", &first, &count); err != nil {
			t.Fatalf("id %q: %v", id, err)
		}
		if first > next[source] {
			t.Errorf("lines %d to %d of source %s are missing", next[source], first-1, source)
		}
		next[source] = max(next[source], first+count)
	}
	return all
}

// TestServersFollowAKeyOfNATS follows a list of servers in a key. Stderr shows that NATS is away, and a password is
// nowhere.
func TestServersFollowAKeyOfNATS(t *testing.T) {
	t.Parallel()
	n := peer.StartNATS(t, peer.NATSOptions{JetStream: true,
		Config: "authorization { user: weir, password: \"hunter2@\" }\n"})
	js := natsClient(t, n, nats.UserInfo("weir", "hunter2@"))
	bucket, err := js.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "upstreams"})
	if err != nil {
		t.Fatal(err)
	}
	list := "- " + start(t, "backend", "--listen", "127.0.0.1:0").url() + "\n"
	if _, err := bucket.PutString(t.Context(), "site", list); err != nil {
		t.Fatal(err)
	}
	config := "upstreams: {site: {servers: {nats: 'nats://weir:hunter2%40@" + n.Address + "/upstreams/site'}}}\n" +
		"routes: [{match: '/{path...}', to: site}]\n"
	p := door(t, config)
	if a := get(t, client(t), p.url()+"/"); a.StatusCode != 200 { // waits for the list
		t.Errorf("status %d", a.StatusCode)
	}
	n.Stop()
	p.says("error: upstream site: the last servers stay: NATS: ")
	if a := get(t, client(t), p.url()+"/"); a.StatusCode != 200 {
		t.Errorf("status %d without NATS", a.StatusCode)
	}
	n.Start()
	p.says("upstream site: the servers are from nats://" + n.Address + "/upstreams/site again")
	log, err := os.ReadFile(p.stdout)
	if err != nil || strings.Contains(string(log)+p.stderr.String(), "hunter2") {
		t.Errorf("the password is in the log or on stderr, or there is no log: %v", err)
	}
	out, err := exec.Command("weir", "check", configFile(t, config), "--explain", "GET http://a/").CombinedOutput()
	if want := "the upstream site of nats://" + n.Address + "/upstreams/site"; err != nil || !strings.Contains(string(out), want) {
		t.Errorf("weir check --explain: %v\n%s", err, out)
	}
}

// A front door with a spill is killed under load, and again while the server is away. All
// events that were on its disk are in the stream, and a consumer with Seen gets each once.
func TestKilledDoorDeliversItsSpillToNATS(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"loops", "goroutines"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			n := peer.StartNATS(t, peer.NATSOptions{JetStream: true})
			js := natsClient(t, n)
			natsStream(t, js, jetstream.StreamConfig{})
			file := configFile(t, fmt.Sprintf("engine: %s\nlog: {to: '%s/logs.front-door', spill: {folder: %q}}\n", engine, n.URL,
				filepath.Join(t.TempDir(), "spill"))+allTo(start(t, "backend", "--listen", "127.0.0.1:0").url()))
			serve := func() *process { return start(t, "serve", "--config", file) }
			kill := func(p *process) {
				p.signal(syscall.SIGKILL)
				<-p.exited
			}

			p := serve()
			url := p.url()
			stop := repeatedly(t, 4, func(c *http.Client) bool {
				if resp, err := c.Get(url + "/loaded"); err == nil {
					resp.Body.Close()
				}
				return true
			})
			testkit.Await(t, "events in the stream", func() bool { return metric(t, p.admin(), "weir_log_events_written_total") > 300 })
			kill(p)
			stop()

			p = serve()
			testkit.AwaitEqual(t, "the events of the killed process", func() float64 { return waiting(t, p) }, 0)
			n.Stop()
			c := client(t)
			for i := range 100 {
				get(t, c, fmt.Sprint(p.url(), "/", i))
			}
			testkit.Await(t, "300 events on the disk", func() bool {
				return metric(t, p.admin(), "weir_log_destination_disk_events") >= 300
			})
			kill(p)

			n.Start()
			p = serve()
			testkit.Await(t, "delivery", func() bool {
				return metric(t, p.admin(), "weir_log_events_recovered_total") >= 300 && waiting(t, p) == 0
			})
			p.signal(syscall.SIGTERM)
			p.wait(0)
			lines := natsLines(t, js)
			if all := slices.Compact(slices.Sorted(slices.Values(lines))); len(all) < len(lines) {
				t.Errorf("%d events are twice in the stream", len(lines)-len(all))
			}
			for i := range 100 {
				path := fmt.Sprintf(`"path":"/%d"`, i)
				if got := len(slices.DeleteFunc(slices.Clone(lines), func(line string) bool {
					return !strings.Contains(line, path)
				})); got != 3 {
					t.Errorf("%d events with %s, want 3", got, path)
				}
			}
		})
	}
}

// waiting returns the number of events that are not delivered.
func waiting(t *testing.T, p *process) float64 {
	t.Helper()
	return metric(t, p.admin(), "weir_log_queue_events") + metric(t, p.admin(), "weir_log_destination_disk_events")
}
