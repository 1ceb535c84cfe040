package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// TestServeToForwardsWithoutAFile forwards to two services without a file, and upgrades that front door by its admin
// address.
func TestServeToForwardsWithoutAFile(t *testing.T) {
	t.Parallel()
	a, b := start(t, "backend", "--listen", "127.0.0.1:0"), start(t, "backend", "--listen", "127.0.0.1:0")
	p := start(t, "serve", "--to", a.url(), "--to", b.url(), "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")
	admin := strings.TrimPrefix(p.admin(), "http://")
	served := map[string]bool{}
	for i, e := range func() []event {
		for i := range 4 {
			if r := get(t, client(t), fmt.Sprint(p.url(), "/", i)); r.StatusCode != 200 {
				t.Fatalf("status %d, want 200", r.StatusCode)
			}
		}
		return p.events(12)
	}() {
		if i%3 == 1 {
			served[fmt.Sprint(e.Data["destination"])] = true
		}
	}
	if !served[a.url()] || !served[b.url()] {
		t.Errorf("the requests went to %v, want %s and %s", served, a.url(), b.url())
	}
	next, err := strconv.Atoi(runs(t, 0, "upgrade", "--admin", admin).says(`the process (\d+) serves now`))
	if err != nil {
		t.Fatal(err)
	}
	if r := get(t, client(t), p.url()+"/after"); r.StatusCode != 200 {
		t.Errorf("status %d during the upgrade, want 200", r.StatusCode)
	}
	syscall.Kill(next, syscall.SIGTERM)
	p.wait(0) // the end of both, which share stderr
}

// TestServeFilesNeedsNoConfiguration serves a folder without a file, and only reads.
func TestServeFilesNeedsNoConfiguration(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("the file"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, "serve", "--files", dir, "--listen", "127.0.0.1:0", "--admin", "off")
	if r := get(t, client(t), p.url()+"/a.txt"); r.StatusCode != 200 || r.body != "the file" {
		t.Errorf("%d %q, want 200 and the file", r.StatusCode, r.body)
	}
	if r := get(t, client(t), p.url()+"/b.txt"); r.StatusCode != 404 {
		t.Errorf("status %d of a file that does not exist, want 404", r.StatusCode)
	}
}
