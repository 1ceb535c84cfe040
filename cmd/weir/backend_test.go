package main

import (
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestBackendRespondsAsItsFlagsSay(t *testing.T) {
	t.Parallel()
	const latency, stall = 30 * time.Millisecond, 40 * time.Millisecond
	p := start(t, "backend", "--listen", "127.0.0.1:0", "--size", "12345", "--latency", latency.String(),
		"--stall", stall.String(),
		"--status", "203", "--header", "X-One: 1", "--header", "X-One: a, b", "--header", "X-Two: http://x:1")
	c := client(t)

	began := time.Now()
	a := get(t, c, p.url()+"/any")
	if took := time.Since(began); took < latency+stall {
		t.Errorf("answered after %v, want no less than %v", took, latency+stall)
	}
	if a.StatusCode != 203 || len(a.body) != 12345 {
		t.Errorf("%s with %d bytes, want 203 with 12345", a.Status, len(a.body))
	}
	if one := strings.Join(a.Header["X-One"], ";"); one != "1;a, b" || a.Header.Get("X-Two") != "http://x:1" {
		t.Errorf("header %v", a.Header)
	}

	const longer = 100 * time.Millisecond
	began = time.Now()
	a = get(t, c, p.url()+"/any?size=7&status=404&latency=0s&stall="+longer.String())
	if took := time.Since(began); took < longer {
		t.Errorf("answered after %v, want no less than %v", took, longer)
	}
	if a.StatusCode != 404 || len(a.body) != 7 {
		t.Errorf("%s with %d bytes, want 404 with 7", a.Status, len(a.body))
	}
	if a = get(t, c, p.url()+"/any?size=seven"); a.StatusCode != 400 || !strings.Contains(a.body, "size") {
		t.Errorf("%s %q, want 400 and a word on size", a.Status, a.body)
	}
	p.signal(syscall.SIGTERM)
	p.wait(0)
}

// TestBackendSizeHasUnits checks that ?size= in a request has the format of --size.
func TestBackendSizeHasUnits(t *testing.T) {
	t.Parallel()
	b := start(t, "backend", "--listen", "127.0.0.1:0", "--size", "1KiB")
	for path, want := range map[string]int{"/": 1 << 10, "/?size=2kB": 2000, "/?size=3": 3} {
		if a := get(t, client(t), b.url()+path); len(a.body) != want {
			t.Errorf("GET %s: %d bytes, want %d", path, len(a.body), want)
		}
	}
	if a := get(t, client(t), b.url()+"/?size=2x"); a.StatusCode != 400 {
		t.Errorf("GET /?size=2x: %s, want 400", a.Status)
	}
}
