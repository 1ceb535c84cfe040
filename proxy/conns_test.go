package proxy_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/weirhq/weir/proxy"
)

// TestSharedConns sends requests to two upstreams, with as many at once as
// connections may be open: none fails, though connections rest between two
// exchanges, and never more are open.
func TestSharedConns(t *testing.T) {
	const most, requests = 4, 400
	shared := proxy.NewConns(most)
	var doors []*httptest.Server
	for range 2 {
		back := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "hello") }))
		defer back.Close()
		up, err := proxy.NewUpstream("site", back.URL)
		if err != nil {
			t.Fatal(err)
		}
		up.Share(shared)
		defer up.Close()
		door := httptest.NewServer(&proxy.Proxy{Upstream: up})
		defer door.Close()
		doors = append(doors, door)
	}
	var running sync.WaitGroup
	for i := range most {
		running.Go(func() {
			client := &http.Client{Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			for n := range requests / most {
				resp, err := client.Get(doors[(i+n)%2].URL)
				if err != nil {
					t.Error(err)
					return
				}
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
				if resp.StatusCode != 200 {
					t.Errorf("%s, want 200", resp.Status)
				}
				if open, max := shared.Stats(); open > max || max != most {
					t.Errorf("%d connections are open, of %d", open, max)
				}
			}
		})
	}
	running.Wait()
	for shared.CloseUnused() {
	}
	if open, _ := shared.Stats(); open != 0 {
		t.Errorf("%d connections are counted as open, want none", open)
	}
}
