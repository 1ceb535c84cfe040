package main

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/testkit"
)

// logCPU is the cost of the log on the admin page.
type logCPU struct {
	Share     float64 `json:"share"`
	Window    float64 `json:"window_seconds"`
	Encoding  float64 `json:"encoding_seconds"`
	Writing   float64 `json:"writing_seconds"`
	Measuring float64 `json:"measuring_seconds"`
	Process   float64 `json:"process_seconds"`
}

// TestLogCostAgreesWithAProfile compares the log cost that a door under load reports with a profile
// of the same seconds. The bounds are rough: the profile has about 100 samples per
// second, a tenth of them in the log. They are checked in soak only, because other
// tests would disturb the samples.
func TestLogCostAgreesWithAProfile(t *testing.T) {
	t.Parallel()
	b := start(t, "backend", "--listen", "127.0.0.1:0")
	p := door(t, "log: {to: "+filepath.Join(t.TempDir(), "weir.log")+"}\n"+allTo(b.url()))
	url := p.url()
	stop := repeatedly(t, 4, func(c *http.Client) bool {
		if resp, err := c.Get(url + "/measured?x=1"); err == nil {
			resp.Body.Close()
		}
		return true
	})
	c := client(t)
	before := costNow(t, p)
	profile := get(t, c, p.admin()+"/debug/pprof/profile?seconds="+inSoak("1", "3"))
	after := costNow(t, p)
	testkit.Await(t, "what the log costs, on /metrics", func() bool {
		return metric(t, p.admin(), "weir_log_cpu_share") > 0 &&
			metric(t, p.admin(), "weir_log_cpu_seconds_total", `work="encode"`) > 0
	})
	stop()

	process := after.Process - before.Process
	got := (after.Encoding - before.Encoding + after.Writing - before.Writing) / process
	want := shareInProfile(t, profile.body,
		`front\.\(\*Door\)\.log(Received|Proxying|Completed)|sink\.\(\*Queue\)\.run`)
	t.Logf("of %.2f s of CPU time the log took %.1f%%; by the profile %.1f%%", process, 100*got, 100*want)
	if soaking && (got < want/2.5-0.03 || got > 2.5*want+0.03) {
		t.Errorf("the log is said to take %.1f%% of the CPU time; by the profile it is %.1f%%", 100*got, 100*want)
	}
	if own := (after.Measuring - before.Measuring) / process; soaking && own > 0.001 {
		t.Errorf("measuring takes %.3f%% of the CPU time, want at most 0.1%%", 100*own)
	}
}

func costNow(t *testing.T, p *process) logCPU {
	t.Helper()
	c := client(t)
	defer c.CloseIdleConnections()
	var page struct {
		CPU logCPU `json:"cpu"`
	}
	if err := json.Unmarshal([]byte(get(t, c, p.admin()+"/log").body), &page); err != nil {
		t.Fatal(err)
	}
	return page.CPU
}

// shareInProfile returns the share of a profile's samples whose stack has a
// function that matches expr.
func shareInProfile(t *testing.T, profile, expr string) float64 {
	t.Helper()
	file := filepath.Join(t.TempDir(), "cpu.pb.gz")
	if err := os.WriteFile(file, []byte(profile), 0o600); err != nil {
		t.Fatal(err)
	}
	report := exec.Command("go", "tool", "pprof", "-top", "-nodecount=1000000", "-focus="+expr, file)
	report.Env = append(os.Environ(), "PPROF_TMPDIR="+t.TempDir())
	out, err := report.CombinedOutput()
	if err != nil {
		t.Skipf("needs go tool pprof: %v: %s", err, out)
	}
	match := regexp.MustCompile(`accounting for [^,]+, +([0-9.]+)% of`).FindStringSubmatch(string(out))
	if match == nil {
		if strings.Contains(string(out), "no samples") || strings.Contains(string(out), "matched no") {
			return 0
		}
		t.Fatalf("go tool pprof says:\n%s", out)
	}
	percent, err := strconv.ParseFloat(match[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return percent / 100
}
