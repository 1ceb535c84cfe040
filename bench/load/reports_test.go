package load

import (
	"testing"
	"time"
)

// TestReportsOfProgramsAreParsed parses the output of the programs, shortened to the parts that are used.
func TestReportsOfProgramsAreParsed(t *testing.T) {
	us, ms := time.Microsecond, time.Millisecond
	for _, c := range []struct {
		name, output string
		want         Report
	}{
		{Weir, `{"failed":2,"unanswered":1,"errors":{"eof":2,"refused":3},"latency":{"p50":1,"p99":2,"p999":3,"max":4}}`,
			Report{6, 1 * us, 2 * us, 3 * us, 4 * us, -1, -1}},
		{Weir, `{"latency":{"p50":1},"latency_from_due":{"p50":10,"p99":20.5,"p999":30,"max":40},"pacing":{"lag":{"p99":7.5},"variance_10ms":0.75}}`,
			Report{0, 10 * us, 20500, 30 * us, 40 * us, 7500, 0.75}},
		{Wrk, "  Socket errors: connect 1, read 20, write 0, timeout 300\n  Non-2xx or 3xx responses: " +
			"4000\nRequests/sec:  81610.58\n",
			Report{4321, -1, -1, -1, -1, -1, -1}},
		{Wrk, "  89778 requests in 1.10s, 8.82MB read\n", Report{0, -1, -1, -1, -1, -1, -1}},
		{AB, "Complete requests:      75995\nFailed requests:        7\n   (Connect: 0, Receive: 0)\nNon-2xx " +
			"responses:      70\n",
			Report{77, -1, -1, -1, -1, -1, -1}},
		{"h2load", "requests: 40014 total, 40022 started, 40014 done, 40014 succeeded, 1 failed, 2 errored, 3 timeout\n",
			Report{6, -1, -1, -1, -1, -1, -1}},
		{"hey", "  Slowest:	0.9985 secs\n  50%% in 0.0002 secs\n  99%% in 0.0022 secs\nError distribution:\n  " +
			"[3]	Get \"http://\": EOF\n",
			Report{3, 200 * us, 2200 * us, -1, 998500 * us, -1, -1}},
		{"fortio", `{"RetCodes":{"200":8,"-1":2},"DurationHistogram":{"Count":10,"Max":0.5,"Percentiles":[{"Percentile":50,"Value":0.001},{"Percentile":99,"Value":0.25},{"Percentile":99.9,"Value":0.375}]}}`,
			Report{2, 1 * ms, 250 * ms, 375 * ms, 500 * ms, -1, -1}},
		{"bombardier", `{"result":{"req2xx":58146,"req4xx":1,"req5xx":2,"others":3,"latency":{"max":56169,"percentiles":{"50":90,"99":1273}}}}`,
			Report{6, 90 * us, 1273 * us, -1, 56169 * us, -1, -1}},
		{"plow", `{"Summary":{"Count":9},"Percentiles":{"P50":"1s"}}
{"Summary":{"Count":10,"Counts":{"2xx":8,"5xx":2}},"Statistics":{"Latency":{"Max":"27.27ms"}},"Percentiles":{"P50":"74µs","P99":"589µs","P99.9":"5.537ms"}}`,
			Report{2, 74 * us, 589 * us, 5537 * us, 27270 * us, -1, -1}},
		{"oha", `{"summary":{"slowest":1.5},"latencyPercentiles":{"p50":0.25,"p99":0.5,"p99.9":1},"errorDistribution":{"aborted due to deadline":64,"refused":2}}`,
			Report{2, 250 * ms, 500 * ms, 1000 * ms, 1500 * ms, -1, -1}},
		{"autocannon", `{"errors":1,"timeouts":2,"non2xx":3,"latency":{"p50":1,"p99":11,"p99_9":30,"max":39}}`,
			Report{6, 1 * ms, 11 * ms, 30 * ms, 39 * ms, -1, -1}},
	} {
		g := generator(t, c.name)
		if got, err := g.read(t.Context(), call{}, []byte(c.output)); err != nil || got != c.want {
			t.Errorf("%s: got %+v, %v, want %+v", c.name, got, err, c.want)
		}
	}
}

func TestOtherOutputIsNoReport(t *testing.T) {
	for _, name := range []string{Weir, "fortio", "bombardier", "plow", "oha", "autocannon"} {
		g := generator(t, name)
		if got, err := g.read(t.Context(), call{}, []byte("panic: no such thing")); err == nil {
			t.Errorf("%s: got %+v, want an error", name, got)
		}
	}
}

func generator(t *testing.T, name string) Generator {
	t.Helper()
	for _, g := range Generators {
		if g.Name == name {
			return g
		}
	}
	t.Fatalf("no generator is called %s", name)
	return Generator{}
}
