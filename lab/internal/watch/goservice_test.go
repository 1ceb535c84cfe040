package watch

import (
	"bytes"
	"encoding/json"
	"expvar"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/pprof"
	"runtime"
	runtimepprof "runtime/pprof"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/weirhq/weir/internal/machine"
	"github.com/weirhq/weir/internal/testkit"
)

// runtimePages serves the runtime statistics of the test itself, like a Go
// service.
func runtimePages(t *testing.T, pages ...string) *httptest.Server {
	t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(),
		prometheus.NewCounter(prometheus.CounterOpts{Name: "shop_orders_total"}))
	all := map[string]http.Handler{
		"/debug/vars":   expvar.Handler(),
		"/metrics":      promhttp.HandlerFor(registry, promhttp.HandlerOpts{}),
		"/debug/pprof/": http.HandlerFunc(pprof.Index),
	}
	mux := http.NewServeMux()
	for _, page := range pages {
		mux.Handle(page, all[page])
	}
	s := testkit.Serve(t, mux)
	return s
}

var garbage []byte

// TestGoUsageIsMeasured makes and collects garbage while a goService polls.
func TestGoUsageIsMeasured(t *testing.T) {
	for _, c := range []struct {
		name, at string
		pages    []string
		partial  bool // goroutines and the longest pause need not be known
	}{
		{"expvar and pprof", "", []string{"/debug/vars", "/debug/pprof/"}, false},
		{"expvar and pprof at their folder", "/debug", []string{"/debug/vars", "/debug/pprof/"}, false},
		{"expvar alone", "/debug/vars", []string{"/debug/vars"}, true},
		{"metrics", "/metrics", []string{"/metrics"}, true},
		{"pprof alone", "/debug/pprof/", []string{"/debug/pprof/"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := startGoService(runtimePages(t, c.pages...).URL+c.at, new(machine.Meter))
			send(g.marks, true)
			const size, collections = 1 << 20, 20
			for range collections {
				garbage = make([]byte, size)
				runtime.GC()
			}
			send(g.marks, false)
			g.stop()
			u := g.used()
			if u == nil || len(g.warnings()) > 0 {
				t.Fatalf("usage %+v, warnings %q", u, g.warnings())
			}
			if u.GCs < collections || u.PauseSeconds <= 0 || u.Allocated < collections*size ||
				u.Allocations < collections || u.PeakHeap <= 0 {
				t.Errorf("usage of %d collections of %d bytes: %+v", collections, size, u)
			}
			if !c.partial && (u.PeakGoroutines < 2 || u.PauseMax <= 0 || u.PauseMax > u.PauseSeconds) {
				t.Errorf("goroutines and pauses: %+v", u)
			}
		})
	}
}

// TestStalledServiceDelaysNothing checks that a service that does not respond delays
// nothing.
func TestStalledServiceDelaysNothing(t *testing.T) {
	t.Parallel() // it waits
	stop := make(chan bool)
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-stop }))
	defer s.Close()
	defer close(stop)
	g := startGoService(s.URL, new(machine.Meter))
	send(g.marks, true)
	send(g.marks, false)
	g.stop() // otherwise this waits until the end of the service
	if g.used() != nil {
		t.Errorf("usage of who did not respond: %+v", g.used())
	}
	if w := strings.Join(g.warnings(), " "); !strings.Contains(w, "deadline") || !strings.Contains(w, "service.go") {
		t.Errorf("the warning is %q, want one that says why and what to set", w)
	}
}

// TestOlderResponsesAreNotUsed checks that no older response is used if a service does
// not respond at one end of the load.
func TestOlderResponsesAreNotUsed(t *testing.T) {
	pages := runtimePages(t, "/debug/vars").Config.Handler
	for name, answers := range map[string][]bool{"began": {true, false, true}, "ended": {true, true, false}} {
		t.Run(name, func(t *testing.T) {
			var fine atomic.Bool
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if !fine.Load() {
					w.WriteHeader(http.StatusServiceUnavailable)
					return
				}
				pages.ServeHTTP(w, r)
			}))
			defer s.Close()
			fine.Store(answers[0])
			g := startGoService(s.URL, new(machine.Meter))
			testkit.Await(t, "a response", func() bool { return g.last.Load() != nil })
			fine.Store(answers[1])
			send(g.marks, true)
			fine.Store(answers[2])
			send(g.marks, false)
			g.stop()
			if g.used() != nil {
				t.Errorf("usage of a load whose end is not known: %+v", g.used())
			}
			w := strings.Join(g.warnings(), " ")
			for _, want := range []string{"left 1 of", "did not respond when the load " + name} {
				if !strings.Contains(w, want) {
					t.Errorf("the warning is %q, want one of %q", w, want)
				}
			}
		})
	}
}

func TestOtherServicesGiveAWarning(t *testing.T) {
	for name, page := range map[string]string{
		"HTML":                      "<html>hello",
		"variables of another kind": `{"cmdline": ["node"]}`,
		"metrics of a Node service": "# TYPE nodejs_eventloop_lag_seconds gauge\nnodejs_eventloop_lag_seconds 0.5\n",
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter,
				_ *http.Request) {
				io.WriteString(w, page)
			}))
			defer s.Close()
			g := startGoService(s.URL, new(machine.Meter))
			send(g.marks, true)
			send(g.marks, false)
			g.stop()
			if g.used() != nil || len(g.warnings()) != 1 {
				t.Errorf("usage %+v and warnings %q, want no usage and a warning", g.used(), g.warnings())
			}
		})
	}
}

func TestGoRootFindsTheBase(t *testing.T) {
	for at, want := range map[string]string{
		"http://127.0.0.1:6060":                "http://127.0.0.1:6060",
		"http://127.0.0.1:6060/":               "http://127.0.0.1:6060",
		"http://127.0.0.1:6060/debug":          "http://127.0.0.1:6060",
		"http://127.0.0.1:6060/debug/pprof/":   "http://127.0.0.1:6060",
		"http://127.0.0.1:6060/admin/metrics":  "http://127.0.0.1:6060/admin",
		"http://127.0.0.1:6060/my/debug/vars/": "http://127.0.0.1:6060/my",
	} {
		if got := goRoot(at); got != want {
			t.Errorf("goRoot(%q) = %q, want %q", at, got, want)
		}
	}
}

// TestReadHeapAgreesWithTheRuntime compares readHeap with the runtime's own values.
func TestReadHeapAgreesWithTheRuntime(t *testing.T) {
	runtime.GC()
	var page bytes.Buffer
	if err := runtimepprof.Lookup("heap").WriteTo(&page, 1); err != nil {
		t.Fatal(err)
	}
	var s goState
	if err := readHeap(&page, &s); err != nil {
		t.Fatal(err)
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if s.gcs < int64(m.NumGC)-1 || s.gcs > int64(m.NumGC) || s.allocated <= 0 || s.allocated > int64(m.TotalAlloc) ||
		s.allocations > int64(m.Mallocs) || s.heap <= 0 || s.ring[(s.gcs+255)%256] != m.PauseNs[(s.gcs+255)%256] {
		t.Errorf("readHeap has %+v", s)
	}
}

// TestPausesAreCountedOnce lets collections happen at random between reads of the last 256
// pauses.
func TestPausesAreCountedOnce(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, noTotal := range []bool{false, true} {
		var ring [pausesTold]uint64
		var before *goState
		var count int64
		var total, overlooked time.Duration
		for look := range 200 {
			fresh := random.IntN(100)
			if look%50 == 49 {
				fresh = pausesTold + 1
			}
			var sum, longest time.Duration
			for i := range fresh {
				pause := time.Duration(random.IntN(1000))
				ring[count%pausesTold] = uint64(pause)
				count++
				total += pause
				if i == 0 && fresh > pausesTold { // the next ones overwrite it
					overlooked += pause
					continue
				}
				sum, longest = sum+pause, max(longest, pause)
			}
			shown := ring
			s := &goState{gcs: count, ring: &shown, noTotal: noTotal}
			if !noTotal {
				s.pause = total
			}
			s.follow(before)
			want := total
			if noTotal {
				want -= overlooked
			}
			if s.longest != longest || s.missed != (fresh > pausesTold) || s.pause != want {
				t.Fatalf("look %d at %d new pauses: longest %v, missed %v, in all %v; want %v, %v, %v",
					look, fresh, s.longest, s.missed, s.pause, longest, fresh > pausesTold, want)
			}
			before = s
		}
	}
}

// TestLongestPauseExcludesEarlierOnes only knows the longest of the last 256 pauses, which
// may have been before the load.
func TestLongestPauseExcludesEarlierOnes(t *testing.T) {
	state := func(gcs int64, longest time.Duration) *goState { return &goState{gcs: gcs, longest: longest} }
	for name, c := range map[string]struct {
		before *goState
		then   []*goState
		want   float64
	}{
		"an old one": {state(100, 9*time.Second), []*goState{state(200, 9*time.Second)}, 0},
		"a new one": {state(100, 9*time.Second),
			[]*goState{state(200, 10*time.Second), state(210, 10*time.Second)}, 10},
		"all of them are new": {state(100, 9*time.Second), []*goState{state(356, 5*time.Second)}, 5},
		"none":                {state(100, 9*time.Second), []*goState{state(100, 9*time.Second)}, 0},
		"a new one has been lost": {state(100, 1*time.Second),
			[]*goState{state(101, 2*time.Second), state(600, 1*time.Second)}, 2},
	} {
		var l goLoad
		l.mark(true, c.before)
		for _, s := range c.then {
			l.add(s)
		}
		l.mark(false, c.then[len(c.then)-1])
		if got := l.usage().PauseMax; got != c.want {
			t.Errorf("%s: the longest pause is %v, want %v", name, got, c.want)
		}
	}
}

// FuzzReaders passes invalid pages to the readers. The oracle of the first one
// is Go's own JSON decoder.
func FuzzReaders(f *testing.F) {
	f.Add(`{"memstats": {"HeapInuse": 5, "NumGC": 3, "PauseNs": [1, 2, 3]}}`)
	f.Add("# TYPE go_memstats_heap_inuse_bytes gauge\ngo_memstats_heap_inuse_bytes " +
		"5\ngo_gc_duration_seconds{quantile=\"1\"} NaN\n")
	f.Add("# runtime.MemStats\n# HeapInuse = 5\n# TotalAlloc = 7\n# Mallocs = 1\n# NumGC = 2\n# PauseNs = [" +
		strings.Repeat("1 ", 256) + "]\n")
	f.Add("<td>12</td><td><a href='goroutine?debug=1'>")
	f.Fuzz(func(t *testing.T, page string) {
		for _, source := range goSources {
			var s goState
			if source.read(strings.NewReader(page), &s) == nil {
				s.follow(nil)
			}
			if s.gcs < 0 || s.longest < 0 {
				t.Errorf("%s: %+v of %q", source.path, s, page)
			}
		}
		if n, err := readIndex(strings.NewReader(page)); err == nil && !strings.Contains(page, "goroutine?debug=1") {
			t.Errorf("%d goroutines of %q", n, page)
		}
		var vars map[string]map[string]any
		var s goState
		if json.Unmarshal([]byte(page), &vars) == nil && readVars(strings.NewReader(page), &s) == nil {
			if heap, ok := vars["memstats"]["HeapInuse"].(float64); ok && int64(heap) != s.heap {
				t.Errorf("HeapInuse is %v, was read as %d", heap, s.heap)
			}
		}
	})
}
