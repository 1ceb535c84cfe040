package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/weirhq/weir/bench/proxy"
)

// compareProxies runs every door that this machine can run, interleaved.
func compareProxies(ctx context.Context, w io.Writer, s settings) ([]fmt.Stringer, error) {
	built, err := os.MkdirTemp("", "weir-bench-tools-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(built)
	tools, err := findTools(ctx, s.caddy, built)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(w, "programs: %s\n", strings.Join(programVersions(ctx, tools), ", "))
	doors := present(w, tools)
	passes := s.passes
	if passes == 0 {
		passes = 5
	}
	if s.loadTime == 0 {
		s.loadTime = 8 * time.Second
	}
	bench := &proxy.Bench{Tools: tools, Connections: s.connections, Load: s.loadTime, Dir: s.dir}
	rows, err := runDoors(ctx, bench, doors, passes)
	if err != nil {
		return nil, err
	}
	title := fmt.Sprintf("proxy: CPU per request, 1 KiB answers, wrk -t1 -c%d -d%s, %d passes by turns", s.connections,
		s.loadTime, passes)
	if err := writeDoors(w, title, rows); err != nil {
		return nil, err
	}
	return judgeDoors(rows), nil
}

// present returns the doors that can run, and prints why the others cannot.
func present(w io.Writer, tools proxy.Tools) []proxy.Door {
	var doors []proxy.Door
	for _, d := range proxy.Doors {
		if why := d.Missing(tools); why != "" {
			fmt.Fprintf(w, "no row for %s: %s\n", d.Name, why)
			continue
		}
		doors = append(doors, d)
	}
	return doors
}

// runDoors measures pass by pass in a rotating order.
func runDoors(ctx context.Context, bench *proxy.Bench, doors []proxy.Door, passes int) (rows []doorRow, err error) {
	if err := bench.Open(ctx); err != nil {
		return nil, err
	}
	defer func() {
		if e := bench.Close(); err == nil {
			err = e
		}
	}()
	rows = make([]doorRow, len(doors))
	for i, d := range doors {
		rows[i].Door = d
	}
	for pass := range passes {
		for k := range rows {
			row := &rows[(k+pass)%len(rows)]
			cost, err := bench.Pass(ctx, row.Door)
			if err != nil {
				return nil, fmt.Errorf("%s, pass %d: %w", row.Name, pass+1, err)
			}
			row.costs = append(row.costs, cost)
			fmt.Fprintf(os.Stderr, "pass %d of %d: %s, %v of CPU per request\n", pass+1, passes, row.Name, cost.CPU)
		}
	}
	return rows, nil
}

// findTools finds the programs, and builds those of this repository in dir.
func findTools(ctx context.Context, caddy, dir string) (proxy.Tools, error) {
	var t proxy.Tools
	var err error
	if t.Nginx, err = exec.LookPath("nginx"); err != nil {
		return t, fmt.Errorf("nginx is the backend and is missing; install it with: apt-get install nginx-light")
	}
	if _, err = exec.LookPath("wrk"); err != nil {
		return t, fmt.Errorf("wrk makes the load and is missing; install it with: apt-get install wrk")
	}
	if file, err := exec.LookPath(caddy); err == nil {
		if t.Caddy, err = filepath.Abs(file); err != nil {
			return t, err
		}
	}
	t.ReverseProxy = filepath.Join(dir, "reverseproxy")
	if err := goTool(ctx, "build", "-o", t.ReverseProxy, "github.com/weirhq/weir/bench/cmd/reverseproxy"); err != nil {
		return t, err
	}
	t.Weir, err = buildWeir(ctx, filepath.Join(dir, "weir"))
	return t, err
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
