package proxy

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// http2Client makes the single requests of a work with HTTP/2, with prior knowledge.
var http2Client = func() *http.Client {
	p := new(http.Protocols)
	p.SetUnencryptedHTTP2(true)
	return &http.Client{Transport: &http.Transport{Protocols: p, DisableKeepAlives: true}}
}()

// h2load sends requests of w to url for d, with one thread.
func (b *Bench) h2load(ctx context.Context, url string, w Work, d time.Duration) (load, error) {
	log := filepath.Join(b.dir, "h2load.log")
	defer os.Remove(log)
	args := append(w.fieldArgs(), "-t1", "-c"+strconv.Itoa(w.Connections), "-m"+strconv.Itoa(w.Streams),
		"-D"+strconv.Itoa(int(d.Seconds())), "--log-file="+log, url)
	out, err := output(ctx, "h2load", args...)
	if err != nil {
		return load{}, err
	}
	l, err := parseH2load(string(out), w.responseSize())
	if err != nil {
		return load{}, err
	}
	l.p50, l.p99, err = percentilesOf(log)
	return l, err
}

var h2loadReport = regexp.MustCompile(`(?s)finished in [^,]*, ([\d.]+) req/s.*` +
	`requests: \d+ total, \d+ started, (\d+) done, (\d+) succeeded, (\d+) failed, (\d+) errored.*` +
	`status codes: (\d+) 2xx.*traffic: .*\((\d+)\) data`)

// parseH2load reads the report of h2load. Bodies of fewer than size bytes are an error.
func parseH2load(out string, size int) (load, error) {
	m := h2loadReport.FindStringSubmatch(out)
	if m == nil {
		return load{}, fmt.Errorf("the report of h2load lacks a figure:\n%s", out)
	}
	l := load{p999: -1}
	var numbers [6]int
	for i := range numbers {
		var err error
		if numbers[i], err = strconv.Atoi(m[2+i]); err != nil {
			return load{}, fmt.Errorf("the report of h2load: %w", err)
		}
	}
	done, succeeded, failed, errored, ok, bytes := numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5]
	perSecond, err := strconv.ParseFloat(m[1], 64)
	switch {
	case err != nil:
		return load{}, fmt.Errorf("the report of h2load: %w", err)
	case failed > 0 || errored > 0 || done == 0 || succeeded != done || ok < done || bytes < done*size:
		return load{}, fmt.Errorf("h2load reports failures, other status codes than 2xx, or short bodies:\n%s", out)
	}
	l.requests, l.perSecond = done, perSecond
	return l, nil
}

// percentilesOf reads the log of h2load, whose lines have the start, the status and the duration
// of a request, in microseconds.
func percentilesOf(log string) (p50, p99 time.Duration, err error) {
	f, err := os.Open(log)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	var all []int
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) < 3 {
			return 0, 0, fmt.Errorf("%s: a line has %d columns: %q", log, len(fields), lines.Text())
		}
		us, err := strconv.Atoi(fields[2])
		if err != nil {
			return 0, 0, fmt.Errorf("%s: %w", log, err)
		}
		all = append(all, us)
	}
	if len(all) == 0 {
		return 0, 0, fmt.Errorf("%s has no line", log)
	}
	slices.Sort(all)
	at := func(percent int) time.Duration {
		return time.Duration(all[min(len(all)*percent/100, len(all)-1)]) * time.Microsecond
	}
	return at(50), at(99), nil
}
