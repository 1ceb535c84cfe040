package proxying_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/weirhq/weir/internal/proxying"
)

// TestSharedConnsObeyTheirLimit sends requests to two upstreams, with as many concurrent
// exchanges as connections are allowed. It checks that none fails, although
// connections are unused for their reuse delay, and that the limit is never
// exceeded.
func TestSharedConnsObeyTheirLimit(t *testing.T) {
	t.Parallel()
	const most, requests = 4, 400
	shared := proxying.NewConns(most)
	places := make(chan struct{}, most) // an exchange may still be running when its client has the response
	var doors []*httptest.Server
	for range 2 {
		back := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter,
			r *http.Request) {
			io.WriteString(w, "hello")
		}))
		defer back.Close()
		up := openUpstream(t, proxying.Options{Conns: shared}, back.URL)
		p := &proxying.Proxy{Upstream: up}
		door := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			places <- struct{}{}
			defer func() { <-places }()
			p.ServeHTTP(w, r)
		}))
		defer door.Close()
		doors = append(doors, door)
	}
	var running sync.WaitGroup
	for i := range 2 * most {
		running.Go(func() {
			client := &http.Client{Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			for n := range requests / most / 2 {
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

// TestTooManyConnsGet503 sends a request while all connections are in use. It checks
// that the client gets 503 with Retry-After and that no server is blamed.
func TestTooManyConnsGet503(t *testing.T) {
	t.Parallel()
	arrived, gate := make(chan struct{}), make(chan struct{})
	back := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		<-gate
	}))
	defer back.Close()
	up := openUpstream(t, proxying.Options{Conns: proxying.NewConns(1)}, back.URL)
	failed, over := make(chan *proxying.Error, 1), make(chan struct{}, 2)
	door := httptest.NewServer(&proxying.Proxy{Upstream: up, Hook: func(x *proxying.Exchange, e proxying.Event) {
		var failure *proxying.Error
		switch {
		case e != proxying.Done:
		case errors.As(x.Err, &failure):
			failed <- failure
		default:
			over <- struct{}{}
		}
	}})
	defer door.Close()
	var first sync.WaitGroup
	first.Go(func() {
		resp, err := http.Get(door.URL)
		if err != nil {
			t.Error(err)
			return
		}
		resp.Body.Close()
		if resp.StatusCode != 200 {
			t.Errorf("the first is answered %s", resp.Status)
		}
	})
	<-arrived
	resp, err := http.Get(door.URL)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != 503 || resp.Header.Get("Retry-After") != "1" {
		t.Errorf("%s, Retry-After %q; want 503 and 1", resp.Status, resp.Header.Get("Retry-After"))
	}
	if e := <-failed; e.Kind != proxying.TooManyConns || e.ByUpstream() || e.ByClient() {
		t.Errorf("the failure is %s: %v", e.Kind, e)
	}
	close(gate)
	first.Wait()
	<-over // after that the connection of an exchange is unused
	go func() { <-arrived }()
	if resp, err := http.Get(door.URL); err != nil || resp.StatusCode != 200 {
		t.Errorf("with a connection free again: %v, %v", resp, err)
	}
}
