package proxy

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A load holds the results of wrk or h2load, or of weir load at a fixed rate.
type load struct {
	requests, failed int
	perSecond        float64
	// From when a request was sent in a closed loop, because wrk waits for responses. From when it was due at a fixed
	// rate. p999 is negative in a closed loop.
	p50, p99, p999 time.Duration
}

// mostConnections is the number of connections that weir load may open to a door that is late. The relay needs as many
// to the backend.
const mostConnections = 1000

// load sends requests of w to origin for d.
func (b *Bench) load(ctx context.Context, origin string, w Work, d time.Duration) (load, error) {
	if w.Handshakes {
		return shakeHands(ctx, strings.TrimPrefix(origin, "https://"), w.Connections, d)
	}
	c, url := strconv.Itoa(w.Connections), origin+w.path()
	if w.Streams > 0 {
		return b.h2load(ctx, url, w, d)
	}
	if w.Rate == 0 {
		args := []string{"-t1", "-c" + c, "-d" + strconv.Itoa(int(d.Seconds())) + "s", "--timeout", "10s", "--latency"}
		args = append(args, w.fieldArgs()...)
		if w.script() != "" {
			args = append(args, "-s", filepath.Join(b.dir, wrkScript))
		}
		out, err := output(ctx, "wrk", append(args, url)...)
		if err != nil {
			return load{}, err
		}
		return parseLoad(string(out), w.responseSize())
	}
	rate := strconv.FormatFloat(w.Rate, 'f', 0, 64)
	args := []string{"load", "--json", "--quiet", "--pid=-1", "-c", c, "--max-connections",
		strconv.Itoa(mostConnections), "-r", rate, "-d", d.String()}
	out, err := output(ctx, b.Tools.Weir, append(append(args, w.fieldArgs()...), url)...)
	if err != nil {
		return load{}, err
	}
	return parseOpenLoad(out)
}

func output(ctx context.Context, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %s%s", name, err, out, stderr.String())
	}
	return out, nil
}

// parseOpenLoad reads the document of weir load. Requests without a response count as failed. A response outside 2xx is
// an error.
func parseOpenLoad(out []byte) (load, error) {
	var r struct {
		Requests, Failed, Unanswered int
		PerSecond                    float64 `json:"requests_per_second"`
		Status                       map[string]int
		FromDue                      struct{ P50, P99, P999 float64 } `json:"latency_from_due"` // microseconds
	}
	if err := json.Unmarshal(out, &r); err != nil {
		return load{}, fmt.Errorf("the output of weir load is not JSON: %w: %.300q", err, out)
	}
	if r.Requests == 0 || r.Status["2xx"] != r.Requests {
		return load{}, fmt.Errorf("weir load reports %d responses with these status codes: %v", r.Requests, r.Status)
	}
	in := func(us float64) time.Duration { return time.Duration(us * float64(time.Microsecond)) }
	return load{requests: r.Requests, failed: max(r.Failed, r.Unanswered), perSecond: r.PerSecond,
		p50: in(r.FromDue.P50), p99: in(r.FromDue.P99), p999: in(r.FromDue.P999)}, nil
}

var (
	wrkFailures  = regexp.MustCompile(`(?m)^\s*(Socket errors:.*|Non-2xx or 3xx responses:.*)$`)
	wrkRequests  = regexp.MustCompile(`(\d+) requests in [^,]*, ([\d.]+)([KMGT]?)B read`)
	wrkPerSecond = regexp.MustCompile(`Requests/sec:\s+([\d.]+)`)
	wrkP50       = regexp.MustCompile(`\s50%\s+([\d.]+)(us|ms|s)`)
	wrkP99       = regexp.MustCompile(`\s99%\s+([\d.]+)(us|ms|s)`)
)

// wrkScript is the file in the folder of the bench for the script of wrk.
const wrkScript = "wrk.lua"

// script is the script of wrk; "" if it needs none.
func (w Work) script() string {
	switch {
	case w.Upload > 0:
		return fmt.Sprintf("wrk.method = %q\nwrk.body = %q\n", http.MethodPost, body(w.Upload))
	case w.Routes > 1:
		return fmt.Sprintf(`local next = -1
function request()
  next = (next + 1) %% %d
  return wrk.format(nil, string.format(%q, next))
end
`, w.Routes, routeFormat+page)
	}
	return ""
}

// parseLoad reads wrk's report. Bodies of fewer than size bytes are an error if the total of bytes, which wrk rounds,
// shows it.
func parseLoad(out string, size int) (load, error) {
	if failures := wrkFailures.FindStringSubmatch(out); failures != nil {
		return load{}, fmt.Errorf("wrk reports %s", failures[1])
	}
	requests, perSecond := wrkRequests.FindStringSubmatch(out), wrkPerSecond.FindStringSubmatch(out)
	p50, p99 := wrkP50.FindStringSubmatch(out), wrkP99.FindStringSubmatch(out)
	if requests == nil || perSecond == nil || p50 == nil || p99 == nil {
		return load{}, fmt.Errorf("wrk's report lacks a figure:\n%s", out)
	}
	var l load
	l.p999 = -1
	var read float64
	var err [5]error
	l.requests, err[0] = strconv.Atoi(requests[1])
	l.perSecond, err[1] = strconv.ParseFloat(perSecond[1], 64)
	l.p50, err[2] = time.ParseDuration(p50[1] + p50[2])
	l.p99, err[3] = time.ParseDuration(p99[1] + p99[2])
	read, err[4] = strconv.ParseFloat(requests[2], 64)
	for _, e := range err {
		if e != nil {
			return load{}, fmt.Errorf("wrk's report: %w", e)
		}
	}
	if l.requests == 0 {
		return load{}, fmt.Errorf("wrk completed no request:\n%s", out)
	}
	read *= math.Pow(1024, float64(strings.Index(" KMGT", requests[3])))
	if read < 0.99*float64(l.requests)*float64(size) {
		return load{}, fmt.Errorf("wrk read %.0f bytes in %d responses, want %d in each", read, l.requests, size)
	}
	return l, nil
}
