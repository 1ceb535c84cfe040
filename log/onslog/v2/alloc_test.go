package log

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"os"
	"runtime"
	"testing"
	"time"
)

// A proxied request, with the values that a front-end router logs for it.
var (
	request = &http.Request{Method: "GET", URL: &url.URL{
		Scheme: "http", Host: "www.example.org:20000",
		Path:     "/economy/inflationandpriceindices/bulletins/consumerpriceinflation/september2026",
		RawQuery: "page=2&filter=all",
	}}
	destination = &url.URL{Scheme: "http", Host: "127.0.0.1:8080"}
	proxyName   = []string{"babbage"}
	ctx         = context.WithValue(context.Background(), http.ServerContextKey, "server")
)

func threeEvents() {
	start := time.Now().UTC()
	Info(ctx, "http request received", HTTP(request, 0, 0, &start, nil))
	Info(ctx, "proxying request", HTTP(request, 0, 0, nil, nil), Data{
		"destination": destination.Host,
		"proxy_name":  proxyName[0],
	})
	end := time.Now().UTC()
	Info(ctx, "http request completed", HTTP(request, 200, 48213, &start, &end))
}

// skipUnlessOptimised skips a test that counts allocations in builds with the
// race detector, which allocates, or with coverage, which prevents inlining.
func skipUnlessOptimised(t *testing.T) {
	t.Helper()
	if raceEnabled || testing.CoverMode() != "" {
		t.Skip("allocations are not those of the program")
	}
}

// TestThreeEventsAllocateFourTimes allows four allocations: the two times, and the two
// strings in Data, which are converted to interfaces. The original makes 43
// allocations, 5 KiB, for the same three events.
func TestThreeEventsAllocateFourTimes(t *testing.T) {
	skipUnlessOptimised(t)
	SetDestination(io.Discard, nil)
	defer SetDestination(os.Stdout, nil)
	threeEvents() // fills the pool
	if got := testing.AllocsPerRun(200, threeEvents); got > 4 {
		t.Errorf("%v allocations, want at most 4", got)
	}
	if got := bytesPerRun(200, threeEvents); got > 96 {
		t.Errorf("%d bytes allocated, want at most 96", got)
	}
}

// bytesPerRun returns the average number of bytes that f allocates.
func bytesPerRun(runs uint64, f func()) uint64 {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range runs {
		f()
	}
	runtime.ReadMemStats(&after)
	return (after.TotalAlloc - before.TotalAlloc) / runs
}

func TestOptionsAllocateTheExpectedNumber(t *testing.T) {
	skipUnlessOptimised(t)
	SetDestination(io.Discard, nil)
	defer SetDestination(os.Stdout, nil)
	for _, c := range []struct {
		name string
		do   func()
		want float64
	}{
		{"event", func() { Info(ctx, "e") }, 0},
		{"severity", func() { Event(ctx, "e", WARN, Classification(ProtectiveMonitoring)) }, 0},
		{"http", func() { Info(ctx, "e", HTTP(request, 200, 1, nil, nil)) }, 0},
		{"auth", func() { Info(ctx, "e", Auth(USER, proxyName[0])) }, 0},
		{"data of constants", func() { Info(ctx, "e", Data{"a": "b", "c": 1, "d": Data{"x": true}}) }, 2}, // the inner map
	} {
		if got := testing.AllocsPerRun(200, c.do); got > c.want {
			t.Errorf("%s: %v allocations, want %v", c.name, got, c.want)
		}
	}
}

func BenchmarkThreeEvents(b *testing.B) {
	SetDestination(io.Discard, nil)
	defer SetDestination(os.Stdout, nil)
	b.ReportAllocs()
	for b.Loop() {
		threeEvents()
	}
}
