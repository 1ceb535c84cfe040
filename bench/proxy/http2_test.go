package proxy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const h2loadOutput = `starting benchmark...
Warm-up started for thread #0.

finished in 2.00s, 16000.00 req/s, 17.36MB/s
requests: 32000 total, 32160 started, 32000 done, 32000 succeeded, 0 failed, 0 errored, 0 timeout
status codes: 32001 2xx, 0 3xx, 0 4xx, 0 5xx
traffic: 34.71MB (36400001) total, 2.80MB (2936000) headers (space savings 57.00%), 31.25MB (32768000) data
                     min         max         mean         sd        +/- sd
time for request:      101us     10.06ms       999us       512us    90.00%
`

func TestH2loadReportIsParsed(t *testing.T) {
	l, err := parseH2load(h2loadOutput, 1024)
	if err != nil || l.requests != 32000 || l.perSecond != 16000 {
		t.Errorf("%+v, %v", l, err)
	}
	for name, out := range map[string]string{
		"failed":  strings.Replace(h2loadOutput, "0 failed", "1 failed", 1),
		"status":  strings.Replace(h2loadOutput, "32001 2xx", "31999 2xx", 1),
		"short":   strings.Replace(h2loadOutput, "(32768000) data", "(32767999) data", 1),
		"nothing": "",
	} {
		if l, err := parseH2load(out, 1024); err == nil {
			t.Errorf("%s: %+v, want an error", name, l)
		}
	}
}

func TestH2loadLogIsParsed(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(log, []byte("1 200 300\n2 200 100\n3 200 200\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p50, p99, err := percentilesOf(log)
	if p50 != 200*time.Microsecond || p99 != 300*time.Microsecond || err != nil {
		t.Errorf("%v, %v, %v", p50, p99, err)
	}
}
