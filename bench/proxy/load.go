package proxy

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"syscall"
	"time"
)

// A load holds the results of wrk.
type load struct {
	requests  int
	perSecond float64
	p50, p99  time.Duration // from when a request was sent, not from when it was due: wrk waits for responses
}

// runLoad sends requests to url for d over the given number of connections. A response other than 200 is an error,
// because failures cost less than successes.
func runLoad(ctx context.Context, url string, connections int, d time.Duration) (load, error) {
	cmd := exec.CommandContext(ctx, "wrk", "-t1", "-c"+strconv.Itoa(connections), "-d"+strconv.Itoa(int(d.Seconds()))+
		"s", "--latency", url)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return load{}, ctx.Err()
	}
	if err != nil {
		return load{}, fmt.Errorf("wrk: %w: %s", err, out)
	}
	return parseLoad(string(out))
}

var (
	wrkFailures  = regexp.MustCompile(`(?m)^\s*(Socket errors:.*|Non-2xx or 3xx responses:.*)$`)
	wrkRequests  = regexp.MustCompile(`(\d+) requests in `)
	wrkPerSecond = regexp.MustCompile(`Requests/sec:\s+([\d.]+)`)
	wrkP50       = regexp.MustCompile(`\s50%\s+([\d.]+)(us|ms|s)`)
	wrkP99       = regexp.MustCompile(`\s99%\s+([\d.]+)(us|ms|s)`)
)

func parseLoad(out string) (load, error) {
	if failures := wrkFailures.FindStringSubmatch(out); failures != nil {
		return load{}, fmt.Errorf("wrk reports %s", failures[1])
	}
	requests, perSecond := wrkRequests.FindStringSubmatch(out), wrkPerSecond.FindStringSubmatch(out)
	p50, p99 := wrkP50.FindStringSubmatch(out), wrkP99.FindStringSubmatch(out)
	if requests == nil || perSecond == nil || p50 == nil || p99 == nil {
		return load{}, fmt.Errorf("wrk's report lacks a figure:\n%s", out)
	}
	var l load
	var err [4]error
	l.requests, err[0] = strconv.Atoi(requests[1])
	l.perSecond, err[1] = strconv.ParseFloat(perSecond[1], 64)
	l.p50, err[2] = time.ParseDuration(p50[1] + p50[2])
	l.p99, err[3] = time.ParseDuration(p99[1] + p99[2])
	for _, e := range err {
		if e != nil {
			return load{}, fmt.Errorf("wrk's report: %w", e)
		}
	}
	if l.requests == 0 {
		return load{}, fmt.Errorf("wrk completed no request:\n%s", out)
	}
	return l, nil
}
