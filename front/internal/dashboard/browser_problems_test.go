package dashboard

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weirhq/weir/front/internal/recent"
	"github.com/weirhq/weir/internal/browsertest"
	"github.com/weirhq/weir/internal/snapshot"
)

// TestPageKeepsAProblemOnce shows a problem whose last error has another port in each snapshot, and ends it.
func TestPageKeepsAProblemOnce(t *testing.T) {
	no := func() bool { return false }
	d := New(Sources{Metrics: prometheus.NewRegistry(), Draining: no, Writable: no, Failures: new(recent.Failures)})
	var made atomic.Int64
	var ended atomic.Bool
	read := d.feed.newReader()
	d.feed.newReader = func() func(time.Time) *snapshot.Door {
		return func(at time.Time) *snapshot.Door {
			door := read(at)
			if n := made.Add(1); !ended.Load() {
				door.Problems = []string{fmt.Sprintf("tcp of the log loses %d events per second%sread tcp 127.0.0.1:%d->[::1]:9: reset",
					n, lastError, 50000+n)}
			}
			return door
		}
	}
	mux := http.NewServeMux()
	d.Handle(mux, http.NotFound)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	b := browsertest.Open(t, server.URL+"/")
	b.Await(`document.getElementById("problems").textContent.includes("loses 4 events")`)
	if n := browsertest.Evaluate[int](b, `document.querySelectorAll("#problems li").length`); n != 1 {
		t.Errorf("%d problems are shown, want 1", n)
	}
	ended.Store(true)
	b.Await(`document.querySelectorAll("#problems li.ended").length > 0`)
	if n := browsertest.Evaluate[int](b, `document.querySelectorAll("#problems li").length`); n != 1 {
		t.Errorf("%d problems are shown after the end, want 1", n)
	}
	b.CheckQuiet()
}
