package backend_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/backend"
	"github.com/weirhq/weir/internal/machine"
)

// cost returns the CPU time that an answer takes of the thread that makes it, at
// the least of a few, since an interrupt's time counts as that of its victim.
func cost(t *testing.T, h http.Handler, query string) time.Duration {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	least := time.Hour
	for range 20 {
		w, r := httptest.NewRecorder(), httptest.NewRequest("GET", "/"+query, nil)
		began := machine.ThreadCPU()
		h.ServeHTTP(w, r)
		least = min(least, machine.ThreadCPU()-began)
		if w.Code != 200 {
			t.Fatalf("answered %d %s", w.Code, w.Body)
		}
	}
	return least
}

// TestBurn measures by the thread's clock, which waiting for a CPU does not move.
func TestBurn(t *testing.T) {
	if machine.ThreadCPU() == 0 {
		t.Skip("needs a clock of a thread's CPU time")
	}
	h := backend.Handler(backend.Options{Burn: 2 * time.Millisecond})
	free := cost(t, h, "?burn=0s")
	for _, c := range []struct {
		query string
		want  time.Duration
	}{
		{"", 2 * time.Millisecond},
		{"?burn=200us", 200 * time.Microsecond},
		{"?burn=5ms", 5 * time.Millisecond},
	} {
		got := cost(t, h, c.query)
		if got < c.want || got > c.want+free+c.want/4 {
			t.Errorf("%q: an answer costs %v, want %v and what it costs without, %v", c.query, got, c.want, free)
		}
	}
}

// TestBurnEndsWithTheClient has one that has already left.
func TestBurnEndsWithTheClient(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w := httptest.NewRecorder()
	backend.Handler(backend.Options{Burn: time.Hour}).ServeHTTP(w, httptest.NewRequestWithContext(ctx, "GET", "/", nil))
	if w.Body.Len() > 0 {
		t.Errorf("answered %q to nobody", w.Body)
	}
}
