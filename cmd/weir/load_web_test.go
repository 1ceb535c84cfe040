package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/testkit"
)

// TestWebShowsALoadAndDelaysNothing reads the events of weir load --web until their end, beside a viewer that reads
// nothing.
func TestWebShowsALoadAndDelaysNothing(t *testing.T) {
	parallel(t)
	w := newWitness(t)
	p := start(t, "load", "--web", "--duration=3s", "--rate=50", "--fail=p50 < 0s", w.URL+"/some/path")
	page := p.says(`the run is shown at (http://127\.0\.0\.1:\d+/)\n`)
	stalled, err := net.Dial("tcp", strings.Trim(strings.TrimPrefix(page, "http://"), "/"))
	if err != nil {
		t.Fatal(err)
	}
	defer stalled.Close()
	fmt.Fprintf(stalled, "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
	resp, err := http.Get(page + "events")
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil {
		t.Fatal(err)
	}
	events := strings.Split(strings.TrimSpace(string(text)), "\n\n")
	if first := events[0]; !strings.HasPrefix(first, "event: start\n") || !strings.Contains(first, w.URL+"/some/path") {
		t.Errorf("the first event is %s", first)
	}
	if last := events[len(events)-1]; !strings.HasPrefix(last, "event: end\n") || !strings.Contains(last, "All 150 requests sent were answered") {
		t.Errorf("the last event is %s", last)
	}
	if len(events) < 4 {
		t.Errorf("%d events, want several with progress", len(events))
	}
	p.wait(0)
}

// TestWebNeedsAFreeAddress names an address in use, and one that is none. Nothing is sent.
func TestWebNeedsAFreeAddress(t *testing.T) {
	parallel(t)
	w := newWitness(t)
	used := testkit.Listen(t).Addr().String()
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"load", "--web=" + used, w.URL}, 1, `weir: error: --web: .*address already in use\nweir: hint: .*free port`},
		{[]string{"load", "--web=here", w.URL}, 2, `weir: error: --web: .*missing port.*\nweir: hint: .*--web=127.0.0.1:5665`},
		{[]string{"lab", "micro", "--web=" + used, "--out=" + t.TempDir()}, 1, `weir: error: --web: .*address already in use`},
		{[]string{"lab", "run", "log-cost", "--web=" + used, "--out=" + t.TempDir(), "--", "true"}, 1, `weir: error: --web: .*address already in use`},
	} {
		p := start(t, c.args...)
		p.wait(c.code)
		p.says(c.want)
	}
	if n := len(w.all()); n > 0 {
		t.Errorf("%d requests were sent", n)
	}
}
