package main

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/backend"
	"github.com/weirhq/weir/internal/testkit"
)

// TestRetriesExampleRuns runs examples/retries with a server that fails in the way that the query of a
// request names, and one without faults.
func TestRetriesExampleRuns(t *testing.T) {
	t.Parallel()
	var sent atomic.Int64 // requests that the first server has received
	bad := testkit.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent.Add(1)
		switch r.URL.RawQuery {
		case "reset":
			panic(http.ErrAbortHandler)
		case "stall":
			select {
			case <-r.Context().Done():
			case <-time.After(patience):
			}
		case "busy":
			w.WriteHeader(503)
		}
	}))
	good := testkit.Serve(t, backend.Handler(backend.Options{}))
	p := prepare(t, "serve", "--config", "../../examples/retries/weir.yaml", "--listen", "127.0.0.1:0", "--admin", "off")
	p.cmd.Env = append(p.cmd.Env, "SITE_URL="+bad.URL, "SITE_2_URL="+good.URL)
	if err := p.start(); err != nil {
		t.Fatal(err)
	}
	c := client(t)
	for _, test := range []struct {
		request string
		failing int // status if the server without faults is not asked
	}{
		{"GET /page?reset", 0}, {"GET /page?stall", 0}, {"POST /page?reset", 502}, {"GET /page?busy", 503},
		{"PUT /store/a?reset", 0}, {"GET /store/a?busy", 0}, {"POST /store/a?busy", 503},
		{"GET /payments/1?reset", 502},
	} {
		method, target, _ := strings.Cut(test.request, " ")
		before := sent.Load()
		for sent.Load() == before { // until it is the turn of the server with the fault
			req, err := http.NewRequest(method, p.url()+target, strings.NewReader(""))
			if err != nil {
				t.Fatal(err)
			}
			a := do(t, c, req)
			want := 200
			if sent.Load() > before && test.failing > 0 {
				want = test.failing
			}
			if a.StatusCode != want {
				t.Errorf("%s: %d, want %d", test.request, a.StatusCode, want)
			}
		}
		if n := sent.Load() - before; n != 1 {
			t.Errorf("%s: the server with the fault got it %d times", test.request, n)
		}
	}
}
