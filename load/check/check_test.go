package check_test

import (
	"strings"
	"testing"

	"github.com/weirhq/weir/load"
	"github.com/weirhq/weir/load/check"
	"github.com/weirhq/weir/load/internal/hdr"
	"github.com/weirhq/weir/load/pace"
	"github.com/weirhq/weir/load/target"
)

// checked returns a result of the open loop with a value for every metric.
func checked(t testing.TB) *load.Result {
	t.Helper()
	h := hdr.New()
	for i := range int64(100) {
		h.Record((i+1)*1e6, 1)
	}
	latency := func(factor load.Micros) *load.Latency {
		return &load.Latency{
			Unit: "us", Count: 100_000, Min: 1e3 * factor, P2_5: 3e3 * factor, P50: 50e3 * factor, P90: 90e3 * factor,
			P97_5: 98e3 * factor, P99: 99e3 * factor, P999: 100e3 * factor, P9999: 100e3 * factor, Max: 100e3 * factor,
			Mean: 50.5e3 * factor, Stdev: 28.9e3 * factor, Histogram: h.Encode(),
		}
	}
	return &load.Result{
		Asked: 1000, Sent: 990, Unsent: 10, Requests: 980, Failed: 6, Unanswered: 4, Late: 99,
		RequestsPerSecond: 98,
		Latency:           latency(0.1), LatencyFromDue: latency(1), FirstByte: latency(0.01),
		Connect: latency(0.001), TLSHandshake: latency(0.002), Pacing: &load.Pacing{Lag: latency(0.9)},
		Status:      map[string]int64{"2xx": 960, "5xx": 20},
		StatusCodes: map[string]int64{"200": 960, "503": 15, "500": 5},
		Errors:      map[string]int64{"reset": 6, "refused": 4},
	}
}

func TestOfEvaluatesTheResult(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		check string
		holds bool
		value string
	}{
		{"p99 > 50ms", true, "p99 from due is 99ms"},
		{"p99 > 99ms", false, "p99 from due is 99ms"},
		{"p99>=99ms", true, "p99 from due is 99ms"},
		{" p99 >\t0.05 s ", true, "p99 from due is 99ms"},
		{"P50 <= 50000us", true, "p50 from due is 50ms"},
		{"p50 <= 50000µs", true, "p50 from due is 50ms"},
		{"p50 < 50000000ns", false, "p50 from due is 50ms"},
		{"p50 == 50ms", true, "p50 from due is 50ms"},
		{"p2.5 > 3ms", false, "p2.5 from due is 3ms"},
		{"p90 > 1s", false, "p90 from due is 90ms"},
		{"p97.5 > 1s", false, "p97.5 from due is 98ms"},
		{"p99.9 > 1s", false, "p99.9 from due is 100ms"},
		{"p99.99 > 1s", false, "p99.99 from due is 100ms"},
		{"p95 < 96ms", true, "p95 from due is 95.03ms"}, // from the histogram: the end of the bucket
		{"min < 1ms", false, "min from due is 1ms"},
		{"max > 99ms", true, "max from due is 100ms"},
		{"mean > 50ms", true, "mean from due is 50.5ms"},
		{"stdev > 50ms", false, "stdev from due is 28.9ms"},
		{"latency p99 > 50ms", true, "p99 from due is 99ms"},
		{"from_due p99 > 50ms", true, "from_due p99 is 99ms"},
		{"from_sent p99 > 50ms", false, "from_sent p99 is 9.9ms"},
		{"first_byte p99 > 900us", true, "first_byte p99 from sent is 990µs"},
		{"connect max > 99us", true, "connect max is 100µs"},
		{"tls p50 > 99us", true, "tls p50 is 100µs"},
		{"lag p99 > 1ms", true, "lag p99 is 89.1ms"},
		{"rate < 100", true, "rate is 98.0 per second"},
		{"rate < 98", false, "rate is 98.0 per second"},
		{"errors > 1%", true, "errors: 10 of 994 requests sent and connections that failed (1.006%)"},
		{"errors > 10", false, "errors: 10 of 994 requests sent and connections that failed (1.006%)"},
		{"errors >= 10", true, "errors: 10 of 994 requests sent and connections that failed (1.006%)"},
		{"unanswered > 0", true, "unanswered: 4 of 990 requests sent (0.404%)"},
		{"late >= 10%", true, "late: 99 of 990 requests sent (10%)"},
		{"unsent > 1 %", false, "unsent: 10 of 1000 requests asked for (1%)"},
		{"requests < 100%", true, "requests: 980 of 1000 requests asked for (98%)"},
		{"requests < 980", false, "requests: 980 of 1000 requests asked for (98%)"},
		{"5xx > 2%", true, "5xx: 20 of 980 responses (2.041%)"},
		{"status 5XX > 0", true, "5xx: 20 of 980 responses (2.041%)"},
		{"status 503 == 15", true, "503: 15 of 980 responses (1.531%)"},
		{"status 404 > 0", false, "404: 0 of 980 responses (0%)"},
		{"4xx > 0%", false, "4xx: 0 of 980 responses (0%)"},
		{"saturated", false, "the generator was not saturated"},
	} {
		parsed, err := check.Parse(c.check)
		if err != nil {
			t.Errorf("Parse(%q): %v", c.check, err)
			continue
		}
		value, holds, err := parsed.Of(checked(t))
		if err != nil || holds != c.holds || value != c.value {
			t.Errorf("%q: %q, %v, %v, want %q, %v", c.check, value, holds, err, c.value, c.holds)
		}
		if got, want := parsed.String(), strings.TrimSpace(c.check); got != want {
			t.Errorf("Parse(%q).String() is %q", want, got)
		}
	}
}

func TestSaturatedHoldsForSaturatedRuns(t *testing.T) {
	t.Parallel()
	parsed, err := check.Parse("saturated")
	if err != nil {
		t.Fatal(err)
	}
	if value, holds, err := parsed.Of(&load.Result{Saturated: true}); value != "the generator was saturated" ||
		!holds || err != nil {
		t.Errorf("of a saturated result: %q, %v, %v, want true", value, holds, err)
	}
	busy := &load.Result{Saturated: true, Generator: load.Generator{Busy: 0.4, Waited: 0.18}}
	if value, holds, err := parsed.Of(busy); value != "the machine was busy" || !holds || err != nil {
		t.Errorf("on a busy machine: %q, %v, %v, want true", value, holds, err)
	}
}

// TestClosedLoopLatencyCountsFromSent checks that latencies of the closed loop count from sent.
func TestClosedLoopLatencyCountsFromSent(t *testing.T) {
	t.Parallel()
	r := checked(t)
	r.LatencyFromDue, r.Pacing = nil, nil
	parsed, _ := check.Parse("p99 > 5ms")
	if value, holds, err := parsed.Of(r); value != "p99 from sent is 9.9ms" || !holds || err != nil {
		t.Errorf("p99 > 5ms: %q, %v, %v", value, holds, err)
	}
}

// TestMissingMetricIsAnError checks that a metric that a run has not measured is an error.
func TestMissingMetricIsAnError(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"p99 > 1s", "from_due p99 > 1s", "lag p99 > 1s", "tls p99 > 1s", "connect max > 1s",
		"5xx > 1%", "errors > 1%", "unsent > 1%"} {
		parsed, err := check.Parse(s)
		if err != nil {
			t.Fatal(err)
		}
		if value, _, err := parsed.Of(&load.Result{}); err == nil || !strings.Contains(err.Error(), s) {
			t.Errorf("%q of an empty result: %q, %v, want an error that names the check", s, value, err)
		}
	}
	parsed, _ := check.Parse("p95 > 1s")
	if _, _, err := parsed.Of(&load.Result{Latency: &load.Latency{Count: 1}}); err == nil ||
		!strings.Contains(err.Error(), "histogram") {
		t.Errorf("p95 without a histogram: %v", err)
	}
	if _, _, err := (check.Check{}).Of(checked(t)); err == nil {
		t.Error("the zero Check is about something")
	}
}

func TestErrorsOfParseNameTheRemedy(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ check, want string }{
		{"", `check "": there is no metric; write p99 > 50ms, errors > 0.1% or saturated`},
		{"> 5", `there is no metric`},
		{"p99", `p99 is compared with nothing; write p99 > 50ms`},
		{"errors", `errors is compared with nothing; write errors > 0.1% or errors > 10`},
		{"p99 >", `nothing follows >; write p99 > 50ms`},
		{"p99 > 50", `column 7: 50 has no unit; write 50ms, or one of ns, us and s`},
		{"p99 > 50mins", `column 7: unknown unit "mins": a time is in ns, us, ms or s`},
		{"p99 > 5%", `column 7: unknown unit "%": a time is in ns, us, ms or s`},
		{"p99 > ms", `column 7: "ms" is not a number; write p99 > 50ms`},
		{"p99 > -5ms", `column 7: "-5ms" is not a number`},
		{"p99 > 1.2.3ms", `column 7: "1.2.3ms" is not a number`},
		{"p99 > infms", `is not a number`},
		{"p99 > >", `column 7: ">" is not a number`},
		{"p99 > 5ms or", `column 11: "or" is too much`},
		{"p99 > > 5ms", `column 9: "5ms" is too much`},
		{"p99 =< 5ms", `column 5: unknown operator "=<", did you mean <`},
		{"p99 = 5ms", `column 5: unknown operator "=", did you mean ==?`},
		{"p99 != 5ms", `column 5: unknown operator "!="`},
		{"p101 > 5ms", `column 1: "p101" is not a percentile: there are p0 to p100, with a dot as in p99.9`},
		{"p99.9.9 > 5ms", `is not a percentile`},
		{"avg > 5ms", `column 1: unknown metric "avg", did you mean mean?`},
		{"first_byt p99 > 5ms", `column 11: an operator is missing before "p99"`},
		{"error > 1%", `column 1: unknown metric "error", did you mean errors?`},
		{"saturatd", `column 1: unknown metric "saturatd", did you mean saturated?`},
		{"rps < 10", `column 1: unknown metric "rps", did you mean rate?`},
		{"elephants > 5", `column 1: unknown metric "elephants"; there are p50, p90, `},
		{"first_byte > 5ms", `column 1: first_byte needs a second word; write first_byte p99`},
		{"latency > 5ms", `write p99`},
		{"status > 5", `column 1: status needs a second word; write status 503 or 5xx`},
		{"status 5x > 5", `column 8: "5x" is not a status`},
		{"status 1050 > 5", `column 8: "1050" is not a status`},
		{"lag p9x > 5ms", `column 5: unknown metric "p9x", did you mean p90?`},
		{"lag p99 max > 5ms", `column 9: an operator is missing before "max"`},
		{"errors > 101%", `column 10: 101% is more than all`},
		{"errors > 5ms", `column 10: unknown unit "ms": errors is compared with a number or a share of its whole`},
		{"rate < 5%", `column 8: unknown unit "%": rate is compared with a number`},
		{"saturated > 1", `column 11: saturated is true or false, and has no bound`},
		{"µ > 1 > 2", `column 1: unknown metric "µ"`},
	} {
		parsed, err := check.Parse(c.check)
		if err == nil {
			t.Errorf("Parse(%q) is %v, want an error", c.check, parsed)
		} else if !strings.Contains(err.Error(), c.want) {
			t.Errorf("Parse(%q): %v, want %s", c.check, err, c.want)
		}
	}
}

func TestFitsRejectsOtherPlans(t *testing.T) {
	t.Parallel()
	closed := load.Plan{Targets: []target.Target{{URL: "http://127.0.0.1/"}}}
	open := closed
	open.Pace = pace.Rate(100)
	secure := load.Plan{Targets: []target.Target{{URL: "HTTPS://127.0.0.1/"}}}
	for _, c := range []struct {
		check string
		plan  load.Plan
		want  string
	}{
		{"p99 > 1s", closed, ""},
		{"lag p99 > 1s", closed, "there is no lag"},
		{"from_due p99 > 1s", closed, "there is no from_due"},
		{"late > 1%", closed, "there is no late"},
		{"lag p99 > 1s", open, ""},
		{"late > 1%", open, ""},
		{"tls p99 > 1s", open, "no target is https"},
		{"tls p99 > 1s", secure, ""},
	} {
		parsed, err := check.Parse(c.check)
		if err != nil {
			t.Fatal(err)
		}
		err = parsed.Fits(c.plan)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q fits: %v, want %q", c.check, err, c.want)
		}
	}
}

// FuzzParse checks that the text of an accepted check means the same, and that either
// a condition or its opposite holds.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"p99 > 50ms", "errors >= 0.1%", "saturated", "first_byte p99.9 < 3 us",
		"status 503 == 0", "rate<1e3", "p99 > 50", "µ > 1"} {
		f.Add(s)
	}
	opposite := strings.NewReplacer("<=", ">", ">=", "<", "<", ">=", ">", "<=")
	r := checked(f)
	f.Fuzz(func(t *testing.T, s string) {
		parsed, err := check.Parse(s)
		if err != nil {
			return
		}
		value, holds, err := parsed.Of(r)
		if err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		again, err := check.Parse(parsed.String())
		if err != nil {
			t.Fatalf("%q became %q: %v", s, parsed, err)
		}
		if v, h, err := again.Of(r); v != value || h != holds || err != nil {
			t.Errorf("%q: %q, %v; again %q, %v, %v", s, value, holds, v, h, err)
		}
		if other := opposite.Replace(s); other != s {
			o, err := check.Parse(other)
			if err != nil {
				t.Fatalf("%q: %v", other, err)
			}
			if _, h, _ := o.Of(r); h == holds {
				t.Errorf("%q and %q are both %v of %s", s, other, h, value)
			}
		}
	})
}
