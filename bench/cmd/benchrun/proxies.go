package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/weirhq/weir/bench/proxy"
	"github.com/weirhq/weir/internal/readable"
)

// A proxyCase is a table of the comparison of front doors.
type proxyCase struct {
	proxy.Work
	name   string
	result string // the start of its names in result lines
	always bool   // runs without -all and -case too
	fixed  bool   // has a share of nginx's best rate
}

// shareOfNginx is the fixed rate, as a share of nginx's best in a closed loop.
const shareOfNginx = 0.60

// proxyCases returns the matrix of requests, connections and logs, the fixed rate, the larger bodies, the files and the
// idle connections.
func proxyCases() []proxyCase {
	var cases []proxyCase
	for _, long := range []bool{true, false} {
		for _, connections := range []int{64, 1, 1000} {
			for _, log := range []proxy.Log{proxy.ToFile, proxy.ToPipe, proxy.Off} {
				cases = append(cases, closedLoop(proxy.Work{Connections: connections, Log: log, Long: long}))
			}
		}
	}
	return append(cases,
		proxyCase{Work: proxy.Work{Connections: 64, Log: proxy.ToFile}, name: "proxy: fixed rate",
			result: "proxy_fixed", always: true, fixed: true},
		proxyCase{Work: proxy.Work{Connections: 64, Log: proxy.ToFile, Response: 16 << 10},
			name: "proxy: 64 connections, responses of 16 KiB", result: "proxy_response_16k"},
		proxyCase{Work: proxy.Work{Connections: 64, Log: proxy.ToFile, Response: 1 << 20},
			name: "proxy: 64 connections, responses of 1 MiB", result: "proxy_response_1m"},
		proxyCase{Work: proxy.Work{Connections: 64, Log: proxy.ToFile, Upload: 64 << 10},
			name: "proxy: 64 connections, uploads of 64 KiB", result: "proxy_upload_64k"},
		proxyCase{Work: proxy.Work{Connections: 64, Log: proxy.ToFile, Response: 4 << 10, Files: true},
			name: "proxy: 64 connections, files of 4 KiB", result: "proxy_file_4k"},
		proxyCase{Work: proxy.Work{Connections: 64, Log: proxy.ToFile, Response: 1 << 20, Files: true},
			name: "proxy: 64 connections, files of 1 MiB", result: "proxy_file_1m"},
		proxyCase{Work: proxy.Work{Connections: 4000, Log: proxy.ToFile, Idle: true},
			name: "proxy: 4,000 idle connections", result: "proxy_idle"})
}

// closedLoop returns the case of requests without larger bodies.
func closedLoop(w proxy.Work) proxyCase {
	c := proxyCase{Work: w, name: "proxy: " + readable.Things(int64(w.Connections), "connection"), result: "proxy"}
	if w.Long {
		c.name, c.result = c.name+", long requests", "proxy_long"
	}
	c.name += fmt.Sprintf(", log %s", w.Log)
	if c.always = w.Connections == 64 && w.Log == proxy.ToFile; !c.always {
		c.result += fmt.Sprintf("_%d_%s", w.Connections, strings.TrimPrefix(string(w.Log), "to a "))
	}
	return c
}

// chosenProxies returns the cases that the flags select.
func (s settings) chosenProxies() []proxyCase {
	return slices.DeleteFunc(proxyCases(), func(c proxyCase) bool {
		return !s.cases.MatchString(c.name) || !c.always && !s.all && s.cases.String() == ""
	})
}

// compareProxies runs every door that this machine can run, interleaved.
func compareProxies(ctx context.Context, w io.Writer, s settings) ([]fmt.Stringer, error) {
	return compareCases(ctx, w, s, s.chosenProxies())
}

// tlsCases are the cases with TLS 1.3 and an ECDSA P-256 certificate.
var tlsCases = []proxyCase{
	{Work: proxy.Work{Connections: 64, Log: proxy.ToFile, TLS: true}, name: "tls: 64 connections", result: "tls"},
	{Work: proxy.Work{Connections: 16, Log: proxy.ToFile, Handshakes: true}, name: "tls: full handshakes",
		result: "tls_handshake"},
}

// http2Cases are the cases with HTTP/2 over TCP, with prior knowledge.
var http2Cases = []proxyCase{
	{Work: proxy.Work{Connections: 16, Streams: 10, Log: proxy.Off}, name: "http2: log off", result: "http2_off"},
	{Work: proxy.Work{Connections: 16, Streams: 10, Log: proxy.ToFile}, name: "http2: log to a file", result: "http2"},
}

// compareHTTP2 compares the doors that serve HTTP/2.
func compareHTTP2(ctx context.Context, w io.Writer, s settings) ([]fmt.Stringer, error) {
	return compareCases(ctx, w, s, slices.DeleteFunc(slices.Clone(http2Cases), func(c proxyCase) bool {
		return !s.cases.MatchString(c.name)
	}))
}

// compareTLS compares the doors that terminate TLS.
func compareTLS(ctx context.Context, w io.Writer, s settings) ([]fmt.Stringer, error) {
	return compareCases(ctx, w, s, slices.DeleteFunc(slices.Clone(tlsCases), func(c proxyCase) bool {
		return !s.cases.MatchString(c.name)
	}))
}

// proxyPasses is the number of passes without -passes.
const proxyPasses = 5

// openProxies finds and builds the programs, and opens the bench of front doors. The caller calls
// closeBench.
func openProxies(ctx context.Context, s settings) (bench *proxy.Bench, closeBench func() error, err error) {
	built, err := os.MkdirTemp("", "weir-bench-tools-")
	if err != nil {
		return nil, nil, err
	}
	tools, err := findTools(ctx, s, built)
	if err == nil {
		bench = &proxy.Bench{Tools: tools, Dir: s.dir}
		err = bench.Open(ctx)
	}
	if err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(built))
	}
	return bench, func() error { return errors.Join(bench.Close(), os.RemoveAll(built)) }, nil
}

func compareCases(ctx context.Context, w io.Writer, s settings, cases []proxyCase) (results []fmt.Stringer, err error) {
	bench, closeBench, err := openProxies(ctx, s)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, closeBench()) }()
	fmt.Fprintf(w, "programs: %s\n", strings.Join(programVersions(ctx, bench.Tools), ", "))
	doors := present(w, bench.Tools, s.rows)
	if len(cases) == 0 {
		noneCalled(w, s)
	}
	s.passes, s.loadTime = cmp.Or(s.passes, proxyPasses), cmp.Or(s.loadTime, 5*time.Second)
	for _, c := range cases {
		c.Load = s.loadTime
		if c.fixed {
			if c.Rate, err = s.fixedRate(ctx, bench, c.Work); err != nil {
				return nil, err
			}
		}
		rows, err := runDoors(ctx, bench, doors, c, s.passes)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		if c.Idle {
			err = writeIdle(w, c, s.passes, rows)
		} else {
			err = writeDoors(w, c, titleOf(c, s.passes), rows)
		}
		if err != nil {
			return nil, err
		}
		results = append(results, judgeDoors(c, rows)...)
	}
	return results, nil
}

// fixedRate returns the value of -rate, or the share of nginx's best rate, measured now.
func (s settings) fixedRate(ctx context.Context, bench *proxy.Bench, w proxy.Work) (float64, error) {
	if s.rate > 0 {
		return s.rate, nil
	}
	i := slices.IndexFunc(proxy.Doors, func(d proxy.Door) bool { return d.Name == proxy.Nginx })
	cost, err := bench.Pass(ctx, proxy.Doors[i], w)
	if err != nil {
		return 0, fmt.Errorf("the best rate of nginx: %w", err)
	}
	return math.Round(shareOfNginx*cost.PerSecond/100) * 100, nil
}

func titleOf(c proxyCase, passes int) string {
	load := fmt.Sprintf("wrk -t1 -c%d", c.Connections)
	if c.Handshakes {
		return fmt.Sprintf("%s: CPU per handshake, TLS 1.3 with X25519, ECDSA P-256, %d connections at a time for %s, "+
			"%d passes by turns", c.name, c.Connections, c.Load, passes)
	}
	if c.Streams > 0 {
		load = fmt.Sprintf("h2load -t1 -c%d -m%d", c.Connections, c.Streams)
	}
	if c.Rate > 0 {
		load = fmt.Sprintf("log %s, weir load -c %d -r %.0f", c.Log, c.Connections, c.Rate)
	}
	return fmt.Sprintf("%s: CPU per request, %s, %s -d%s, %d passes by turns", c.name, bodiesOf(c), load, c.Load,
		passes)
}

// bodiesOf names the bodies unless the name of the case does.
func bodiesOf(c proxyCase) string {
	if c.Response > 0 {
		return "GETs"
	}
	return "responses of 1 KiB"
}

// present returns the doors that can run and that the expression selects, and prints why the others cannot.
func present(w io.Writer, tools proxy.Tools, rows *regexp.Regexp) []proxy.Door {
	var doors []proxy.Door
	for _, d := range proxy.Doors {
		if !rows.MatchString(d.Name) {
			continue
		}
		if why := d.Missing(tools); why != "" {
			fmt.Fprintf(w, "no row for %s: %s\n", d.Name, why)
			continue
		}
		doors = append(doors, d)
	}
	return doors
}

// runDoors measures pass by pass in a rotating order.
func runDoors(ctx context.Context, bench *proxy.Bench, doors []proxy.Door, c proxyCase, passes int) ([]doorRow, error) {
	var rows []doorRow
	for _, d := range doors {
		if d.Fits(c.Work) {
			rows = append(rows, doorRow{Door: d})
		}
	}
	for pass := range passes {
		for k := range rows {
			row := &rows[(k+pass)%len(rows)]
			cost, err := bench.Pass(ctx, row.Door, c.Work)
			if err != nil {
				return nil, fmt.Errorf("%s, pass %d: %w", row.Name, pass+1, err)
			}
			row.costs = append(row.costs, cost)
			figure := fmt.Sprintf("%v of CPU per request", cost.CPU)
			if c.Idle {
				figure = fmt.Sprintf("%.0f bytes per connection", cost.Memory)
			}
			fmt.Fprintf(os.Stderr, "%s, pass %d of %d: %s, %s\n", c.name, pass+1, passes, row.Name, figure)
		}
	}
	return rows, nil
}

// findTools finds the programs, and builds those of this repository in dir.
func findTools(ctx context.Context, s settings, dir string) (proxy.Tools, error) {
	var t proxy.Tools
	var err error
	if t.Nginx, err = exec.LookPath("nginx"); err != nil {
		return t, fmt.Errorf("nginx is the backend and is missing; install it with: apt-get install nginx-light")
	}
	if _, err = exec.LookPath("wrk"); err != nil {
		return t, fmt.Errorf("wrk makes the load and is missing; install it with: apt-get install wrk")
	}
	t.HAProxy, _ = exec.LookPath("haproxy") // "" if it is missing
	for _, built := range []struct {
		file string
		tool *string
	}{{s.caddy, &t.Caddy}, {s.pingora, &t.Pingora}, {s.weir, &t.Weir}, {s.base, &t.WeirBase}} {
		if file, err := exec.LookPath(built.file); err == nil {
			if *built.tool, err = filepath.Abs(file); err != nil {
				return t, err
			}
		}
	}
	t.Relay = filepath.Join(dir, "relay")
	if err := exec.CommandContext(ctx, "cc", "-O2", "-o", t.Relay, "proxy/relay/relay.c").Run(); err != nil {
		t.Relay = "" // its row is missing
	}
	t.ReverseProxy = filepath.Join(dir, "reverseproxy")
	if err := goTool(ctx, "build", "-o", t.ReverseProxy, "github.com/weirhq/weir/bench/cmd/reverseproxy"); err != nil {
		return t, err
	}
	if t.Weir == "" {
		t.Weir, err = buildWeir(ctx, filepath.Join(dir, "weir"))
	}
	return t, err
}

// profileTime is the duration of the load for a profile.
const profileTime = 60 * time.Second

// profileWeir writes the CPU profile with which releases are built.
func profileWeir(ctx context.Context, w io.Writer, s settings) (_ []fmt.Stringer, err error) {
	bench, closeBench, err := openProxies(ctx, s)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, closeBench()) }()
	s.loadTime = cmp.Or(s.loadTime, profileTime)
	fmt.Fprintf(w, "profiling %s of load to %s\n", s.loadTime, s.profile)
	return nil, bench.Profile(ctx, s.profile, s.loadTime)
}

// buildWeir builds the command of this module's tree.
func buildWeir(ctx context.Context, file string) (string, error) {
	bench, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return "", fmt.Errorf("where is Weir? run this in the folder bench: %w", err)
	}
	return file, goTool(ctx, "build", "-C", filepath.Dir(strings.TrimSpace(string(bench))), "-o", file, "./cmd/weir")
}

func goTool(ctx context.Context, args ...string) error {
	if out, err := exec.CommandContext(ctx, "go", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("go %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return nil
}
