package proxy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/bench/proxy"
)

// tools returns the tools of the test, with the reverse proxy built from this tree, or skips the test.
func tools(t *testing.T) proxy.Tools {
	nginx, err := exec.LookPath("nginx")
	if err != nil {
		t.Skip("needs nginx: apt-get install nginx-light")
	}
	if _, err := exec.LookPath("wrk"); err != nil {
		t.Skip("needs wrk: apt-get install wrk")
	}
	built := filepath.Join(t.TempDir(), "reverseproxy")
	if out, err := exec.Command("go", "build", "-o", built, "../cmd/reverseproxy").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return proxy.Tools{Nginx: nginx, ReverseProxy: built}
}

func door(t *testing.T, name string) proxy.Door {
	for _, d := range proxy.Doors {
		if d.Name == name {
			return d
		}
	}
	t.Fatalf("no door is called %q", name)
	return proxy.Door{}
}

// TestPassMeasuresAndLeavesNothing runs a pass with real processes, and checks that the figures are plausible and that
// no files and processes are left.
func TestPassMeasuresAndLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	b := &proxy.Bench{Tools: tools(t), Dir: dir}
	work := proxy.Work{Connections: 4, Log: proxy.ToFile, Load: time.Second}
	if err := b.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{proxy.Nginx, proxy.ReverseProxy} {
		got, err := b.Pass(t.Context(), door(t, name), work)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got.CPU <= 0 || got.CPU > 10*time.Millisecond || got.PerSecond <= 0 || got.P50 <= 0 || got.P99 < got.P50 {
			t.Errorf("%s: implausible: %+v", name, got)
		}
		if tells := name == proxy.ReverseProxy; tells != (got.Mallocs > 0) {
			t.Errorf("%s: got %v allocations for a request", name, got.Mallocs)
		}
	}
	for _, log := range []proxy.Log{proxy.ToPipe, proxy.Off} {
		work := proxy.Work{Connections: 4, Log: log, Load: time.Second}
		if _, err := b.Pass(t.Context(), door(t, proxy.Nginx), work); err != nil {
			t.Errorf("nginx, log %s: %v", log, err)
		}
	}
	for _, w := range []proxy.Work{
		{Connections: 4, Log: proxy.ToFile, Response: 16 << 10, Load: time.Second},
		{Connections: 4, Log: proxy.ToFile, Response: 16 << 10, Files: true, Load: time.Second},
		{Connections: 4, Log: proxy.ToFile, Upload: 64 << 10, Load: time.Second},
		{Connections: 4, Log: proxy.ToFile, Long: true, Load: time.Second},
		{Connections: 4, Log: proxy.ToFile, Long: true, Routes: 20, Load: time.Second},
	} {
		if got, err := b.Pass(t.Context(), door(t, proxy.Nginx), w); err != nil || got.CPU <= 0 {
			t.Errorf("nginx, %+v: got %+v, %v", w, got, err)
		}
	}
	idle := proxy.Work{Connections: 4000, Log: proxy.ToFile, Idle: true, Load: time.Second}
	got, err := b.Pass(t.Context(), door(t, proxy.Nginx), idle)
	if err != nil || got.Memory <= 0 || got.Memory > 64<<10 {
		t.Errorf("nginx, 4,000 idle connections: got %+v, %v", got, err)
	}
	short := door(t, proxy.Nginx)
	short.Lines = 2
	if _, err := b.Pass(t.Context(), short, work); err == nil || !strings.Contains(err.Error(), "lines") {
		t.Errorf("a door that logs one line and owes two: got %v, want an error", err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left over: %v, %v", left, err)
	}
	if cmdlines := running(t, dir); len(cmdlines) > 0 {
		t.Errorf("still running: %q", cmdlines)
	}
}

// TestProfileIsReadable checks that the profile of a loaded Weir is a file that the compiler can read: gzip.
func TestProfileIsReadable(t *testing.T) {
	programs := tools(t)
	programs.Weir = filepath.Join(t.TempDir(), "weir")
	if out, err := exec.Command("go", "build", "-C", "../..", "-o", programs.Weir, "./cmd/weir").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	b := &proxy.Bench{Tools: programs, Dir: t.TempDir()}
	if err := b.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	file := filepath.Join(t.TempDir(), "test.pgo")
	if err := b.Profile(t.Context(), file, 2*time.Second); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(file); err != nil || !strings.HasPrefix(string(got), "\x1f\x8b") {
		t.Errorf("got %d bytes, %v, want a profile", len(got), err)
	}
}

// running returns the command lines of processes that contain dir.
func running(t *testing.T, dir string) []string {
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, f := range files {
		if text, err := os.ReadFile(f); err == nil && strings.Contains(string(text), dir) {
			found = append(found, string(text))
		}
	}
	return found
}

func TestMissingNamesTheProgram(t *testing.T) {
	for _, name := range []string{
		proxy.Relay, proxy.HAProxy, proxy.Pingora, proxy.Caddy, proxy.Weir, proxy.WeirOne, proxy.WeirNull,
		proxy.WeirSilent, proxy.WeirRoutines, proxy.WeirBase,
	} {
		if why := door(t, name).Missing(proxy.Tools{}); why == "" {
			t.Errorf("%s: no word that it is missing", name)
		}
	}
	if why := door(t, proxy.Caddy).Missing(proxy.Tools{Caddy: "caddy"}); why != "" {
		t.Errorf("caddy is there, got %q", why)
	}
}

func TestFitsSelectsTheWork(t *testing.T) {
	main := proxy.Work{Connections: 64, Log: proxy.ToFile}
	many := proxy.Work{Connections: 1000, Log: proxy.ToFile}
	off := proxy.Work{Connections: 64, Log: proxy.Off}
	fixed := proxy.Work{Connections: 64, Log: proxy.ToFile, Rate: 1000}
	upload := proxy.Work{Connections: 64, Log: proxy.ToFile, Upload: 65536}
	idle := proxy.Work{Connections: 64, Log: proxy.ToFile, Idle: true}
	for _, c := range []struct {
		door string
		want [6]bool
	}{
		{proxy.Nginx, [6]bool{true, true, true, true, true, true}},
		{proxy.Caddy, [6]bool{true, true, true, false, false, false}},
		{proxy.Relay, [6]bool{true, true, true, true, true, false}},
		{proxy.Weir, [6]bool{true, true, false, true, true, true}},
		{proxy.WeirOne, [6]bool{true, true, false, true, false, false}},
		{proxy.WeirRoutines, [6]bool{true, false, false, false, false, false}},
		{proxy.WeirSilent, [6]bool{true, false, true, false, false, false}},
		{proxy.WeirNull, [6]bool{true, false, false, false, false, false}},
	} {
		for i, w := range []proxy.Work{main, many, off, fixed, upload, idle} {
			if got := door(t, c.door).Fits(w); got != c.want[i] {
				t.Errorf("%s in %+v: got %v, want %v", c.door, w, got, c.want[i])
			}
		}
	}
}
