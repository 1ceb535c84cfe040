package proxy

import (
	"strings"
	"testing"
	"time"
)

const wrkReport = `Running 8s test @ http://127.0.0.1:20000/
  1 threads and 64 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     2.71ms    1.62ms  31.04ms   85.12%
    Req/Sec    24.62k     1.83k   28.10k    72.50%
  Latency Distribution
     50%    2.43ms
     75%    3.10ms
     90%  950.00us
     99%    1.20s
  196012 requests in 8.00s, 232.12MB read
Requests/sec:  24497.31
Transfer/sec:     29.01MB
`

func TestWrkReportIsParsed(t *testing.T) {
	got, err := parseLoad(wrkReport, 1024)
	want := load{requests: 196012, perSecond: 24497.31, p50: 2430 * time.Microsecond, p99: 1200 * time.Millisecond,
		p999: -1}
	if err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}

func TestWrkReportWithErrorsIsRefused(t *testing.T) {
	for name, report := range map[string]string{
		"responses that are not 200": wrkReport + "  Non-2xx or 3xx responses: 17\n",
		"broken connections":         wrkReport + "  Socket errors: connect 0, read 3, write 0, timeout 0\n",
		"a report without p99":       strings.Replace(wrkReport, "99%", "98%", 1),
		"nothing":                    "",
		"no request":                 strings.Replace(wrkReport, "196012 requests", "0 requests", 1),
		"short bodies":               strings.Replace(wrkReport, "232.12MB read", "182.12MB read", 1),
		"a thousandth of the bytes":  strings.Replace(wrkReport, "232.12MB read", "232.12KB read", 1),
	} {
		if got, err := parseLoad(report, 1024); err == nil {
			t.Errorf("%s: got %+v, want an error", name, got)
		}
	}
}

func TestOpenLoadReportIsParsed(t *testing.T) {
	const report = `{"requests": 98, "failed": 0, "unanswered": 2, "requests_per_second": 49.5, "status": {"2xx": 98},
		"latency": {"p50": 1}, "latency_from_due": {"p50": 250.5, "p99": 2000, "p999": 3000}}`
	got, err := parseOpenLoad([]byte(report))
	want := load{requests: 98, failed: 2, perSecond: 49.5, p50: 250500, p99: 2 * time.Millisecond, p999: 3 *
		time.Millisecond}
	if err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	for name, report := range map[string]string{
		"responses that are not 200": strings.Replace(report, `{"2xx": 98}`, `{"2xx": 97, "5xx": 1}`, 1),
		"no request":                 `{"requests": 0}`,
		"nothing":                    "",
	} {
		if got, err := parseOpenLoad([]byte(report)); err == nil {
			t.Errorf("%s: got %+v, want an error", name, got)
		}
	}
}

func TestOnlyWholeLinesAreCounted(t *testing.T) {
	text := strings.Repeat("a line\n", 300_000) + "a torn one"
	if got, err := countLines(strings.NewReader(text)); err != nil || got != 300_000 {
		t.Errorf("got %d, %v, want 300000 whole lines", got, err)
	}
}
