package main

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/certtest"
	"github.com/weirhq/weir/internal/peer"
	"github.com/weirhq/weir/internal/testkit"
)

// scaledRules returns the rules of deploy/prometheus with shorter windows, waits and intervals. With a scale of 60 minutes
// are seconds.
func scaledRules(t *testing.T, scale time.Duration) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(prometheusFolder, "weir-rules.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	units := map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour}
	times := regexp.MustCompile(`(\[|for: |interval: )(\d+)([smhd])\b`)
	return times.ReplaceAllStringFunc(string(text), func(found string) string {
		part := times.FindStringSubmatch(found)
		n, err := strconv.Atoi(part[2])
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%s%dms", part[1], (time.Duration(n) * units[part[3]] / scale).Milliseconds())
	})
}

// A playedFault is a fault of a front door that Prometheus scrapes as a job of its own.
type playedFault struct {
	job    string
	admin  string                       // address
	play   func(*peer.PrometheusServer) // begins the fault, after the first scrape
	alerts []string
}

// TestAlertsFireOnce plays faults with front doors that Prometheus scrapes. Each of their alerts fires once, and each panel of
// the dashboard has data. A machine that is too busy for scrapes twice a second gets more time.
func TestAlertsFireOnce(t *testing.T) {
	t.Parallel()
	undetectedTests.Store(t.Name(), true) // with it, eight front doors and their scrapes take a processor for minutes
	var missing string
	for _, scale := range []time.Duration{60, 20} {
		t.Run(fmt.Sprintf("%d times as fast", scale), func(t *testing.T) { missing = playFaults(t, scale) })
		if missing == "" {
			return
		}
		t.Logf("alerts and panels that are missing at %d times the speed: %s", scale, missing)
	}
	t.Errorf("missing alerts or panels: %s", missing)
}

// playFaults plays the faults of TestAlertsFireOnce and returns which alerts and panels are missing after three hours of
// scaled time.
func playFaults(t *testing.T, scale time.Duration) (missing string) {
	t.Helper()
	faults := []playedFault{
		deadServers(t), reachedLimits(t), lateResponses(t), fewFiles(t), stalledReader(t), brokenDestinations(t),
		badCertificates(t),
		restarts(t), // the last, because it waits
	}
	received := &receivedAlerts{fired: map[string]map[string]firedAlert{}}
	manager := testkit.Serve(t, received)
	rules := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(rules, []byte(scaledRules(t, scale)), 0o600); err != nil {
		t.Fatal(err)
	}
	interval := (30 * time.Second / scale).Milliseconds()
	config := fmt.Sprintf("global: {scrape_interval: %[1]dms, scrape_timeout: %[1]dms, evaluation_interval: %[1]dms}\n"+
		"rule_files: [%[2]s]\nalerting: {alertmanagers: [{static_configs: [{targets: [%[3]q]}]}]}\nscrape_configs:\n",
		interval, rules, strings.TrimPrefix(manager.URL, "http://"))
	for _, f := range faults {
		config += fmt.Sprintf("- {job_name: %s, static_configs: [{targets: [%q]}]}\n", f.job, f.admin)
	}
	prometheus := peer.StartPrometheus(t, config)
	testkit.AwaitEqual(t, "front doors that Prometheus has scraped", func() int {
		return len(prometheus.Query("max_over_time(up[5m]) == 1"))
	}, len(faults))
	for _, f := range faults {
		f.play(prometheus)
	}
	d := readDashboard(t)
	queries := d.queries()
	for deadline := time.Now().Add(3 * time.Hour / scale); ; {
		maps.DeleteFunc(queries, func(_, query string) bool { return len(prometheus.Query(query)) > 0 })
		missing = strings.Join(append(received.missing(faults), slices.Sorted(maps.Keys(queries))...), ", ")
		if missing == "" {
			received.check(t, faults)
			return ""
		}
		if time.Now().After(deadline) {
			return missing
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// A firedAlert is an alert as Prometheus sends it to an Alertmanager.
type firedAlert struct{ Labels, Annotations map[string]string }

// receivedAlerts is an Alertmanager that stores the alerts it has received.
type receivedAlerts struct {
	mu    sync.Mutex
	fired map[string]map[string]firedAlert // by job and name, and by all labels; guarded by mu
}

func (a *receivedAlerts) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var alerts []firedAlert
	if err := json.NewDecoder(r.Body).Decode(&alerts); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, alert := range alerts {
		key := alert.Labels["job"] + " " + alert.Labels["alertname"]
		if a.fired[key] == nil {
			a.fired[key] = map[string]firedAlert{}
		}
		a.fired[key][fmt.Sprint(alert.Labels)] = alert
	}
}

// missing returns the alerts of faults that have not fired.
func (a *receivedAlerts) missing(faults []playedFault) (names []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, f := range faults {
		for _, alert := range f.alerts {
			if key := f.job + " " + alert; a.fired[key] == nil {
				names = append(names, key)
			}
		}
	}
	return names
}

// check checks that each alert of a fault is one alert whose texts have all their values, and that all alerts belong to a
// fault, with two exceptions.
func (a *receivedAlerts) check(t *testing.T, faults []playedFault) {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	played := []string{"WeirProcessorsBusy", "WeirNameNotResolved"} // disturbs other tests; pauses are those of the program
	for _, f := range faults {
		played = append(played, f.alerts...)
		for _, name := range f.alerts {
			alerts := a.fired[f.job+" "+name]
			if len(alerts) != 1 {
				t.Errorf("%s of %s are %d alerts, want one: %v", name, f.job, len(alerts), alerts)
			}
			for _, alert := range alerts {
				for key, text := range alert.Annotations {
					if text == "" || strings.Contains(text, "<") {
						t.Errorf("%s of %s: %s is %q", name, f.job, key, text)
					}
				}
			}
		}
	}
	for _, name := range alertNames(t) {
		if !slices.Contains(played, name) {
			t.Errorf("no fault has the alert %s", name)
		}
	}
}

// adminAddress returns the address of the admin listener.
func (p *process) adminAddress() string { return strings.TrimPrefix(p.admin(), "http://") }

// keepAsking sends GET requests until the test ends, whatever the responses.
func keepAsking(t *testing.T, clients int, url string) {
	t.Helper()
	t.Cleanup(repeatedly(t, clients, func(c *http.Client) bool {
		req, err := http.NewRequestWithContext(t.Context(), "GET", url, nil)
		if err != nil {
			t.Error(err)
			return false
		}
		try(c, req)
		pause(t.Context(), 100*time.Millisecond)
		return true
	}))
}

// deadServers kills the only server of an upstream, breaks the list of another, and has one that aborts a request, which is
// sent again. The store of shared limits does not exist.
func deadServers(t *testing.T) playedFault {
	t.Helper()
	back := start(t, "backend", "--listen", "127.0.0.1:0")
	other := start(t, "backend", "--listen", "127.0.0.1:0")
	aborts := testkit.Serve(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	list := filepath.Join(t.TempDir(), "servers.yaml")
	writeList := func(text string) {
		if err := os.WriteFile(list, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	writeList("- " + other.url() + "\n")
	p := door(t, fmt.Sprintf(`namespace: alerts
log: {events: completed}
limits: {rate: {limit: 10000/s, burst: 10000, shared: 'redis://%s'}}
upstreams:
  site: {servers: [%q], connect_wait: 1ms}
  listed: {servers: {file: %q}}
  aborts: {servers: [%q]}
routes: [{match: '/{path...}', to: site}, {match: /listed, to: listed}, {match: /aborts, to: aborts}]
`, testkit.ClosedAddress(t), back.url(), list, aborts.URL))
	url := p.url()
	return playedFault{"servers", p.adminAddress(), func(*peer.PrometheusServer) {
		back.signal(syscall.SIGKILL)
		writeList("no list\n")
		get(t, client(t), url+"/aborts") // is sent again
		keepAsking(t, 2, url+"/")
	}, []string{"WeirFailureBudgetBurnsFast", "WeirFailureBudgetBurns", "WeirNoServer", "WeirServerNotUsed",
		"WeirServerListFails", "WeirSharedLimitsFail"}}
}

// reachedLimits sends more requests than two limits allow, and one that is denied.
func reachedLimits(t *testing.T) playedFault {
	t.Helper()
	p := door(t, fmt.Sprintf(`log: {events: completed}
upstreams: {site: {servers: [%q]}}
routes:
- {match: /full, to: site, limits: {in_flight: 1}}
- {match: /limited, to: site, limits: {rate: 1/s}}
- {match: /denied, to: site, access: {deny: 127.0.0.1}}
`, start(t, "backend", "--listen", "127.0.0.1:0").url()))
	url := p.url()
	return playedFault{"limits", p.adminAddress(), func(*peer.PrometheusServer) {
		get(t, client(t), url+"/denied")
		keepAsking(t, 2, url+"/full?latency=1m")
		keepAsking(t, 2, url+"/limited")
	}, []string{"WeirLimitNearlyReached", "WeirCapacityRefusals", "WeirRateRefusals"}}
}

// lateResponses has responses that take longer than a second.
func lateResponses(t *testing.T) playedFault {
	t.Helper()
	p := door(t, "log: {events: completed}\n"+allTo(start(t, "backend", "--listen", "127.0.0.1:0").url()))
	url := p.url()
	return playedFault{"slow", p.adminAddress(), func(*peer.PrometheusServer) {
		keepAsking(t, 20, url+"/?latency=1100ms")
	}, []string{"WeirLatencyBudgetBurnsFast", "WeirLatencyBudgetBurns"}}
}

// fewFiles has as many requests in flight as the open files of a front door allow.
func fewFiles(t *testing.T) playedFault {
	t.Helper()
	g := newGate(t)
	p := limitedDoor(t, 300, "log: {events: completed}\n"+allTo(g.URL))
	url := p.url()
	return playedFault{"files", p.adminAddress(), func(*peer.PrometheusServer) {
		keepAsking(t, int(metric(t, p.admin(), "weir_limit_value", `limit="max_connections"`)), url+"/")
	}, []string{"WeirOpenFilesNearLimit"}}
}

// stalledReader has a log whose reader does not read, until its queue is full.
func stalledReader(t *testing.T) playedFault {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	testkit.FillPipe(t, w)
	b := start(t, "backend", "--listen", "127.0.0.1:0")
	p := prepare(t, "serve", "--config", configFile(t, "log: {queue: {size: 32KiB}}\n"+allTo(b.url())))
	p.startInto(w)
	url := p.url()
	return playedFault{"reader", p.adminAddress(), func(*peer.PrometheusServer) { keepAsking(t, 2, url+"/") },
		[]string{"WeirLogEventsDropped", "WeirLogStalled", "WeirLogQueueFills"}}
}

// brokenDestinations has a log server that does not exist, a log file whose folder disappears, and a reader of stdout
// that ends.
func brokenDestinations(t *testing.T) playedFault {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	logs := filepath.Join(folder, "logs")
	if err := os.Mkdir(logs, 0o700); err != nil {
		t.Fatal(err)
	}
	b := start(t, "backend", "--listen", "127.0.0.1:0")
	p := prepare(t, "serve", "--config", configFile(t, fmt.Sprintf(
		"log: {events: completed, to: [stdout, %s/weir.log, 'otlp+http://%s'], spill: {folder: %s/spill}}\n",
		logs, testkit.ClosedAddress(t), folder)+allTo(b.url())))
	p.startInto(w)
	url := p.url()
	return playedFault{"destinations", p.adminAddress(), func(*peer.PrometheusServer) {
		r.Close()
		if err := os.Rename(logs, logs+".old"); err != nil {
			t.Fatal(err)
		}
		p.signal(syscall.SIGUSR1)
		keepAsking(t, 2, url+"/")
	}, []string{"WeirLogFileErrors", "WeirLogDiverted", "WeirLogDiskGrows"}}
}

// badCertificates has a certificate that has expired, one that will, and clients that accept neither. Its configuration
// gets a mistake.
func badCertificates(t *testing.T) playedFault {
	t.Helper()
	folder, now := t.TempDir(), time.Now()
	root := certtest.Root(t, "root")
	expired, expiredKey := root.Issue(t, certtest.Options{
		Hosts: []string{"expired.example"}, From: now.Add(-48 * time.Hour), To: now.Add(-time.Hour),
	}).Write(t, folder, "expired")
	soon, soonKey := root.Issue(t, certtest.Options{
		Hosts: []string{"soon.example"}, From: now.Add(-48 * time.Hour), To: now.Add(72 * time.Hour),
	}).Write(t, folder, "soon")
	config := filepath.Join(folder, "weir.yaml")
	writeConfig(t, config, fmt.Sprintf("tls: {listen: 127.0.0.1:0, certificates: [{cert: %s, key: %s}, {cert: %s, key: %s}]}\n",
		expired, expiredKey, soon, soonKey)+allTo(start(t, "backend", "--listen", "127.0.0.1:0").url()))
	p := start(t, "serve", "--config", config)
	url := p.says(`listening on (https://\S+)\n`)
	return playedFault{"certificates", p.adminAddress(), func(*peer.PrometheusServer) {
		writeConfig(t, config, "a mistake\n")
		p.signal(syscall.SIGHUP)
		careless := client(t)
		careless.Transport.(*http.Transport).TLSClientConfig = &tls.Config{InsecureSkipVerify: true}
		get(t, careless, url)
		keepAsking(t, 2, url)
	}, []string{"WeirCertificateExpired", "WeirCertificateExpiresSoon", "WeirCertificateRejected", "WeirReloadFailed"}}
}

// restarts kills a front door and starts it again, three times, and kills it.
func restarts(t *testing.T) playedFault {
	t.Helper()
	config := filepath.Join(t.TempDir(), "weir.yaml")
	admin := peer.FreeAddress(t)
	text := fmt.Sprintf("listen: 127.0.0.1:0\nadmin: %s\n", admin) + allTo("http://"+testkit.ClosedAddress(t))
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, "serve", "--config", config)
	p.url()
	return playedFault{"restarts", admin, func(prometheus *peer.PrometheusServer) {
		for n := range 3 {
			p.signal(syscall.SIGKILL)
			<-p.exited
			p = start(t, "serve", "--config", config)
			seen := fmt.Sprintf(`changes(process_start_time_seconds{job="restarts"}[10m]) == %d`, n+1)
			testkit.Await(t, seen, func() bool { return len(prometheus.Query(seen)) == 1 })
		}
		p.signal(syscall.SIGKILL)
	}, []string{"WeirRestarts", "WeirDown"}}
}
