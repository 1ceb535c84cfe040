package front_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/internal/snapshot"
)

// snapshots opens the events of a front door. The function that it returns waits until one of them holds.
func snapshots(t *testing.T, d *testDoor) func(what string, holds func(*snapshot.Door) bool) *snapshot.Door {
	t.Helper()
	resp, err := httpClient(t).Get("http://" + d.AdminAddr().String() + "/events")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	if got := resp.Header.Get("Content-Type"); resp.StatusCode != 200 || got != "text/event-stream" {
		t.Fatalf("the events are %s, %s", resp.Status, got)
	}
	events := bufio.NewReader(resp.Body)
	return func(what string, holds func(*snapshot.Door) bool) *snapshot.Door {
		t.Helper()
		for range 100 {
			line, err := events.ReadString('\n')
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			text, found := strings.CutPrefix(line, "data: ")
			if !found {
				continue
			}
			s := new(snapshot.Door)
			if err := json.Unmarshal([]byte(text), s); err != nil {
				t.Fatal(err)
			}
			if holds(s) {
				return s
			}
		}
		t.Fatalf("%s: no snapshot of 100", what)
		return nil
	}
}

// TestSnapshotsHaveTheLoad sends requests, and compares the counts with them.
func TestSnapshotsHaveTheLoad(t *testing.T) {
	t.Parallel()
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/site/broken" {
			w.WriteHeader(500)
		}
	})
	d := openDoor(t, back.URL, func(c *config.Config) {
		c.Routes = []config.Route{config.DefaultRoute("/site/{path...}", "site")}
		c.Limits.InFlight = 50
	})
	next := snapshots(t, d)
	first := next("the first", func(*snapshot.Door) bool { return true })
	if first.Requests.Total != 0 || first.Seconds != 0 || first.Draining || first.Version == "" {
		t.Errorf("the first snapshot is %+v", first)
	}
	client := httpClient(t)
	for path, n := range map[string]int{"/site/a": 7, "/site/broken": 3, "/elsewhere": 2} {
		for range n {
			get(t, client, d.url(path))
		}
	}
	s := next("12 requests", func(s *snapshot.Door) bool { return s.Requests.Total == 12 && s.Requests.InFlight == 0 })
	got := make(map[string]float64)
	for class, n := range s.Requests.Classes {
		got[class] = n.Total
	}
	for _, route := range s.Routes {
		for class, n := range route.Classes {
			got[route.Route+" "+class] = n.Total
		}
	}
	for _, up := range s.Upstreams {
		for class, n := range up.Classes {
			if n.Total > 0 {
				got[up.Upstream+" "+class] = n.Total
			}
		}
		for _, server := range up.Servers {
			got[fmt.Sprint(up.Upstream, " ", server.Server, " ", server.States)] = server.Requests.Total
		}
	}
	for _, l := range s.Limits {
		if l.Limit == "in_flight" {
			got["in_flight of "+l.Route] = l.Value
		}
	}
	want := map[string]float64{"2xx": 7, "4xx": 2, "5xx": 3, "/site/{path...} 2xx": 7, "/site/{path...} 5xx": 3,
		"unmatched 4xx": 2, "site 2xx": 7, "site 5xx": 3, "site " + back.URL + " map[usable:1]": 10, "in_flight of all": 50}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	for _, o := range s.Open {
		if want := map[string]float64{"http/1": 1}[o.Protocol]; o.Connections != want {
			t.Errorf("%v connections of %s, want %v", o.Connections, o.Protocol, want)
		}
	}
	if n := len(s.Process.Loops); n == 0 && d.config.Engine != config.EngineGoroutines {
		t.Error("no event loop")
	}
	if l := s.Log; l.Emitted.Total == 0 || l.Emitted.Total != l.Written.Total+l.Waiting {
		t.Errorf("the log has %+v", l)
	}
	if p := s.Process; p.Goroutines == 0 || p.Heap == 0 || p.OpenFiles == 0 || p.CPU.Total == 0 {
		t.Errorf("the process has %+v", p)
	}
}

// TestForeignOriginIsRefused requests events as the page of another site does.
func TestForeignOriginIsRefused(t *testing.T) {
	t.Parallel()
	d := openDoor(t, upstream(t, hello).URL)
	addr := d.AdminAddr().String()
	for origin, want := range map[string]int{
		"http://" + addr: 200, "http://evil.example": 403, "null": 403, "http://" + addr + ".evil.example": 403,
	} {
		resp, _ := ask(t, addr, fmt.Sprintf("GET /healthz HTTP/1.1\r\nHost: %s\r\nOrigin: %s\r\nConnection: close\r\n\r\n",
			addr, origin))
		if resp.StatusCode != want {
			t.Errorf("Origin %s: %d, want %d", origin, resp.StatusCode, want)
		}
	}
}
