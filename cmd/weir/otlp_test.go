package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/weirhq/weir/internal/peer"
	"github.com/weirhq/weir/internal/testkit"
)

// otlpEvents returns the events that a Collector has, each once, without those in which the log
// counts. An event is its time, its name, its trace id and its path.
func otlpEvents(c *peer.Collector) (events []string) {
	for _, r := range c.UniqueRecords() {
		if r.Name != totals {
			events = append(events, fmt.Sprint(r.Time, r.Name, r.Attributes["weir.trace_id"], r.Attributes["url.path"]))
		}
	}
	slices.Sort(events)
	return events
}

// The log of a front door is in a Collector, each event once, though the Collector was killed.
func TestLogToOTLPHasEachEventOnce(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"loops", "goroutines"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			o := peer.StartCollector(t)
			headers := filepath.Join(t.TempDir(), "headers")
			if err := os.WriteFile(headers, []byte("X-Token: hunter2\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			p := door(t, fmt.Sprintf("engine: %s\nlog: {to: ['otlp+http://weir:hunter2%%40@%s?headers=%s', stdout]}\n", engine,
				o.Address, headers)+allTo(start(t, "backend", "--listen", "127.0.0.1:0").url()))
			c := client(t)
			var traces []string // of the upstream's requests
			for i := range 100 {
				switch i {
				case 30:
					o.Stop()
				case 31:
					p.says("the log waits.*connection refused")
					o.Start()
				}
				got := get(t, c, fmt.Sprint(p.url(), "/", i))
				parent := regexp.MustCompile(`(?i)\ntraceparent: 00-(\w{32})-`).FindStringSubmatch(got.body)
				if got.StatusCode != http.StatusOK || parent == nil {
					t.Fatalf("status %d, want 200 and a traceparent at the upstream:\n%s", got.StatusCode, got.body)
				}
				traces = append(traces, parent[1])
			}
			page := get(t, c, p.admin()+"/log").body + get(t, c, p.admin()+"/metrics").body
			if !strings.Contains(page, "otlp+http://"+o.Address) || strings.Contains(page, "hunter2") {
				t.Errorf("the destination is not named, or its password is:\n%s", page)
			}
			p.signal(syscall.SIGTERM)
			p.wait(0)
			var want []string
			for _, e := range p.events(300) {
				want = append(want, fmt.Sprint(e.CreatedAt.UnixNano(), e.Event, e.TraceID, e.HTTP.Path))
			}
			slices.Sort(want)
			for _, r := range o.UniqueRecords() {
				var i int
				if _, err := fmt.Sscanf(fmt.Sprint(r.Attributes["url.path"]), "/%d", &i); err == nil && r.Trace != traces[i] {
					t.Errorf("the record of request %d belongs to the trace %q, want %s", i, r.Trace, traces[i])
				}
			}
			if got := otlpEvents(o); !slices.Equal(got, want) {
				t.Errorf("the Collector has %d events and stdout %d, or they differ", len(got), len(want))
			}
		})
	}
}

// Events on the disk survive SIGKILL of the front door, and the next process delivers them.
func TestSpillToOTLPSurvivesSIGKILL(t *testing.T) {
	t.Parallel()
	o := peer.StartCollector(t)
	o.Stop()
	to := "otlp+http://" + o.Address
	config := configFile(t, fmt.Sprintf("log: {to: ['%s', stdout], heartbeat: off, spill: {folder: spill}}\n", to)+
		allTo(start(t, "backend", "--listen", "127.0.0.1:0").url()))
	p := start(t, "serve", "--config", config)
	c := client(t)
	for i := range 50 {
		get(t, c, fmt.Sprint(p.url(), "/", i))
	}
	p.events(150)
	testkit.Await(t, "events on the disk", func() bool {
		return strings.Contains(get(t, c, p.admin()+"/metrics").body,
			fmt.Sprintf("weir_log_destination_disk_events{to=%q} 150\n", to))
	})
	p.signal(syscall.SIGKILL)
	p.wait(-1)
	o.Start()
	next := start(t, "serve", "--config", config)
	next.says("listening on")
	testkit.Await(t, "delivery", func() bool { return len(otlpEvents(o)) >= 150 })
	next.signal(syscall.SIGTERM)
	next.wait(0)
	if got := otlpEvents(o); len(got) != 150 {
		t.Errorf("the Collector has %d events, want 150", len(got))
	}
}

// Mistakes in the URL end the start with a hint.
func TestLogToOTLPMistakesGetHints(t *testing.T) {
	t.Parallel()
	p := door(t, "log: {to: 'otlp+https://u:hunter2@127.0.0.1?ca=/dev/null'}\n"+allTo("http://127.0.0.1:9"))
	stderr := p.says(`otlp\+https://127.0.0.1: .*/dev/null contains no certificate(?s).*hint: docs/otlp.md`)
	p.wait(1)
	if strings.Contains(stderr, "hunter2") {
		t.Errorf("stderr has the password: %s", stderr)
	}
}
