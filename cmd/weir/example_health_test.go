package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync/atomic"
	"testing"
	"time"
)

// TestHealthExample runs examples/health with three services, one of which becomes unhealthy and
// healthy again.
func TestHealthExample(t *testing.T) {
	t.Parallel()
	var sick atomic.Bool
	p := prepare(t, "serve", "--config", "../../examples/health/weir.yaml", "--listen", "127.0.0.1:0", "--admin", "off")
	p.cmd.Env = append(p.cmd.Env, "CHECK_INTERVAL=100ms")
	for i := 1; i <= 3; i++ {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.URL.Path != "/healthz":
				io.WriteString(w, strconv.Itoa(i))
			case i == 3 && sick.Load():
				w.WriteHeader(503)
			default:
				io.WriteString(w, "ok")
			}
		}))
		t.Cleanup(s.Close)
		p.cmd.Env = append(p.cmd.Env, "SHOP_"+strconv.Itoa(i)+"_URL="+s.URL)
	}
	if err := p.start(); err != nil {
		t.Fatal(err)
	}
	c := client(t)
	// awaitServers waits until requests go to the given number of servers.
	awaitServers := func(n int) {
		t.Helper()
		for end := time.Now().Add(time.Minute); ; {
			got := map[string]bool{}
			for range 12 {
				a := get(t, c, p.url()+"/")
				if a.StatusCode != 200 {
					t.Fatalf("status %d", a.StatusCode)
				}
				got[a.body] = true
			}
			if len(got) == n {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("requests go to %v, want %d servers", got, n)
			}
		}
	}
	awaitServers(3)
	sick.Store(true)
	awaitServers(2)
	sick.Store(false)
	awaitServers(3)
}
