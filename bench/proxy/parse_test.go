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

func TestParseLoad(t *testing.T) {
	got, err := parseLoad(wrkReport)
	want := load{requests: 196012, perSecond: 24497.31, p50: 2430 * time.Microsecond, p99: 1200 * time.Millisecond}
	if err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}

func TestParseLoadRefuses(t *testing.T) {
	for name, report := range map[string]string{
		"answers that are not 200": wrkReport + "  Non-2xx or 3xx responses: 17\n",
		"broken connections":       wrkReport + "  Socket errors: connect 0, read 3, write 0, timeout 0\n",
		"a report without p99":     strings.Replace(wrkReport, "99%", "98%", 1),
		"nothing":                  "",
		"no request":               strings.Replace(wrkReport, "196012 requests", "0 requests", 1),
	} {
		if got, err := parseLoad(report); err == nil {
			t.Errorf("%s: got %+v, want an error", name, got)
		}
	}
}

func TestParseStat(t *testing.T) {
	stat := "4711 (worker (1) of) S 4700 4711 4711 0 -1 4194560 5 6 7 8 120 30 4 1 20 0 1 0 100 0 0\n"
	got, err := parseStat([]byte(stat))
	want := usage{pid: 4711, parent: 4700, cpu: 1550 * time.Millisecond}
	if err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	for _, broken := range []string{"", "4711", "4711 (x) S 1", strings.Replace(stat, "120", "x", 1)} {
		if got, err := parseStat([]byte(broken)); err == nil {
			t.Errorf("%q: got %+v, want an error", broken, got)
		}
	}
}

func TestCountLines(t *testing.T) {
	text := strings.Repeat("a line\n", 300_000) + "a torn one"
	if got, err := countLines(strings.NewReader(text)); err != nil || got != 300_000 {
		t.Errorf("got %d, %v, want 300000 whole lines", got, err)
	}
}
