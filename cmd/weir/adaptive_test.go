package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/load"
	"github.com/weirhq/weir/load/pace"
	"github.com/weirhq/weir/load/target"
)

// TestAdaptiveLimitServesTheCapacity offers a service twice the load that it can serve, with fixed limits and with
// the automatic one. It serves 8 requests at a time, each in 20 ms, and 400 per second. It prints the
// table of docs/decisions/adaptive-concurrency.md. A machine that does other work serves less; the tests
// of package limit simulate the limit in virtual time.
func TestAdaptiveLimitServesTheCapacity(t *testing.T) {
	if !soaking {
		t.Skip("it needs the whole machine; make soak runs it")
	}
	const atOnce, takes, capacity = 8, 20 * time.Millisecond, 400
	limits := []string{"{}", "{in_flight: 4}", "{in_flight: 8}", "{in_flight: 12}",
		"{in_flight: 100}", "{in_flight: auto}", "{in_flight: 12, queue: {length: 50, wait: 100ms}}",
		"{in_flight: auto, queue: {length: 50, wait: 100ms}}"}
	var table strings.Builder
	for _, limit := range limits {
		slots := make(chan struct{}, atOnce)
		back := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			select {
			case slots <- struct{}{}:
			case <-r.Context().Done():
				return
			}
			time.Sleep(takes)
			<-slots
		}))
		p := door(t, fmt.Sprintf("log: {level: error}\nlimits: %s\n", limit)+allTo(back.URL))
		began := time.Now()
		r, err := load.Run(t.Context(), load.Plan{
			Targets: []target.Target{{URL: p.url() + "/"}}, Pace: pace.Rate(2 * capacity),
			Duration: 20 * time.Second, Timeout: patience, Connections: 64, MaxConnections: 5000,
			Threads: 1, Process: -1,
		})
		if err != nil {
			t.Fatal(err)
		}
		took := time.Since(began) // with the requests that are still in flight after the last one was sent
		value := metric(t, p.admin(), "weir_limit_value", `limit="in_flight"`, `route="all"`)
		p.signal(9)
		<-p.exited
		back.Close()
		served := r.LatencyByStatus["2xx"]
		if served == nil {
			t.Fatalf("%s: nothing was served: %v", limit, r.StatusCodes)
		}
		goodput := float64(r.Status["2xx"]) / took.Seconds()
		fmt.Fprintf(&table, "| `%s` | %.0f | %.0f ms | %.0f ms | %.0f | %.0f%% |\n", limit, goodput, served.P50/1000,
			served.P99/1000, value, 100*float64(r.Status["5xx"])/float64(r.Requests))
		if limit == "{in_flight: auto}" && (goodput < capacity*2/3 || time.Duration(served.P99)*time.Microsecond > 50*takes) {
			t.Errorf("%.0f of %d per second were served, with p99 %v us; %v", goodput, capacity, served.P99, r.StatusCodes)
		}
	}
	t.Logf("\n| limits | served/s | p50 | p99 | limit at the end | refused |\n|---|---|---|---|---|---|\n%s",
		table.String())
}
