package main

import (
	"io"
	"net/http"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/weirhq/weir/internal/testkit"
)

// TestHealthExampleRuns runs examples/health with three services, one of which becomes unhealthy and
// healthy again.
func TestHealthExampleRuns(t *testing.T) {
	t.Parallel()
	var sick atomic.Bool
	p := prepare(t, "serve", "--config", "../../examples/health/weir.yaml", "--listen", "127.0.0.1:0", "--admin", "off")
	p.cmd.Env = append(p.cmd.Env, "CHECK_INTERVAL=100ms")
	for i := 1; i <= 3; i++ {
		s := testkit.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.URL.Path != "/healthz":
				io.WriteString(w, strconv.Itoa(i))
			case i == 3 && sick.Load():
				w.WriteHeader(503)
			default:
				io.WriteString(w, "ok")
			}
		}))
		p.cmd.Env = append(p.cmd.Env, "SHOP_"+strconv.Itoa(i)+"_URL="+s.URL)
	}
	if err := p.start(); err != nil {
		t.Fatal(err)
	}
	c := client(t)
	// awaitServers waits until requests go to the given number of servers.
	awaitServers := func(n int) {
		t.Helper()
		testkit.AwaitEqual(t, "servers of requests", func() int {
			got := map[string]bool{}
			for range 12 {
				a := get(t, c, p.url()+"/")
				if a.StatusCode != 200 {
					t.Fatalf("status %d", a.StatusCode)
				}
				got[a.body] = true
			}
			return len(got)
		}, n)
	}
	awaitServers(3)
	sick.Store(true)
	awaitServers(2)
	sick.Store(false)
	awaitServers(3)
}
