package front_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/front/config"
)

// TestGroupLimitsCountTogether checks that the limits of all requests, of groups and of a route count together: with
// requests that wait for their upstream, those of other routes in the group, of the outer group and beside it are
// refused when the limit of one of these places is reached.
func TestGroupLimitsCountTogether(t *testing.T) {
	t.Parallel()
	entered, leave := make(chan string), make(chan bool)
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		entered <- r.URL.Path
		<-leave
	})
	limits := func(n int) config.RequestLimits { return config.RequestLimits{InFlight: n} }
	groups := func(c *config.Config) {
		c.Limits.InFlight = 4
		c.Groups = []config.Group{{Name: "outer", Limits: limits(3)}, {Name: "inner", Limits: limits(2)}}
		route := func(path string, own int, groups ...string) {
			r := config.DefaultRoute(path, "site")
			r.Limits.InFlight, r.Groups = own, groups
			c.Routes = append(c.Routes, r)
		}
		route("/a", 1, "outer", "inner")
		route("/b", 0, "outer", "inner")
		route("/c", 0, "outer")
	}
	d := openDoor(t, back.URL, groups)
	client := httpClient(t)
	done := make(chan int)
	begin := func(path string) {
		t.Helper()
		go func() {
			resp, err := client.Get(d.url(path))
			if err != nil {
				done <- 0
				return
			}
			resp.Body.Close()
			done <- resp.StatusCode
		}()
		select {
		case <-entered:
		case status := <-done:
			t.Fatalf("%s: %d, want a request in flight", path, status)
		case <-time.After(testTimeout):
			t.Fatalf("%s has not reached the upstream", path)
		}
	}
	refused := func(path, by string) {
		t.Helper()
		before := d.metric(t, `weir_limit_refusals_total{limit="in_flight",route="`+by+`"}`)
		if resp, _ := get(t, client, d.url(path)); resp.StatusCode != 503 {
			t.Errorf("%s: %s, want a refusal by %s", path, resp.Status, by)
		}
		if after := d.metric(t, `weir_limit_refusals_total{limit="in_flight",route="`+by+`"}`); after != before+1 {
			t.Errorf("%s: %v refusals by %s, want one more than %v", path, after, by, before)
		}
	}
	begin("/a")
	refused("/a", "/a")
	begin("/b")
	refused("/b", "inner")
	begin("/c")
	refused("/c", "outer")
	begin("/other")
	refused("/more", "all")
	if e := d.completed(t, "/c"); e.Data["group"] != "outer" || e.Data["limit"] != "in_flight" {
		t.Errorf("the event of a refused request has %v", e.Data)
	}

	// A gate outlives a reload.
	changed := doorConfig(back.URL, groups)
	changed.Listen, changed.Admin = d.config.Listen, d.config.Admin
	if _, err := d.Reload(changed); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"/a", "inner", "outer", "all"} {
		want := map[string]float64{"/a": 1, "inner": 2, "outer": 3, "all": 4}[name]
		if n := d.metric(t, `weir_limit_in_use{limit="in_flight",route="`+name+`"}`); n != want {
			t.Errorf("%v requests in %s after a reload, want %v", n, name, want)
		}
	}
	close(leave)
	for range 4 {
		if status := <-done; status != 200 {
			t.Errorf("a request in flight got %d", status)
		}
	}
	go func() { <-entered }()
	if resp, _ := get(t, client, d.url("/b")); resp.StatusCode != 200 {
		t.Errorf("after all requests: %s", resp.Status)
	}
}

// TestGroupRateCountsAllItsRoutes checks that a rate of a group counts the requests of all its routes, and of all hosts
// of one route.
func TestGroupRateCountsAllItsRoutes(t *testing.T) {
	t.Parallel()
	c, err := config.Parse("weir.yaml", []byte(strings.ReplaceAll(`
listen: "127.0.0.1:0"
admin: off
routes:
- group:
    name: shop
    limits: {rate: {RATE, per: route, burst: 2}}
    respond: 204
    routes: [{match: /a}, {match: /b}]
- group:
    hosts: [a.example, b.example]
    routes: [{match: /, respond: 204, limits: {rate: {RATE, per: route}}}]
`, "RATE", "limit: 1/h")), nil)
	if err != nil {
		t.Fatal(err)
	}
	d := openDoor(t, "", func(all *config.Config) {
		all.Upstreams, all.Routes, all.Groups = nil, c.Routes, c.Groups
	})
	client := httpClient(t)
	for i, want := range []struct {
		host, path string
		status     int
	}{
		{"x", "/a", 204}, {"x", "/b", 204}, {"x", "/a", 429}, {"x", "/b", 429},
		{"a.example", "/c", 204}, {"b.example", "/c", 429}, {"a.example", "/d", 429},
	} {
		r, err := http.NewRequest("GET", d.url(want.path), nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = want.host
		if resp, _ := do(t, client, r); resp.StatusCode != want.status {
			t.Errorf("request %d to %s%s: %s, want %d", i, want.host, want.path, resp.Status, want.status)
		}
	}
}
