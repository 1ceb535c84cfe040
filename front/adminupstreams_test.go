package front_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/upstreams"
	"github.com/weirhq/weir/internal/testkit"
)

// A serverStatus is a server on the page /upstreams.
type serverStatus struct {
	Server, Address, State string
	Weight                 int
	Backup                 bool
	InFlight               int `json:"in_flight"`
	LastFailure            *struct {
		Kind, Error string
	} `json:"last_failure"`
}

// An upstreamStatus is an upstream on the page /upstreams.
type upstreamStatus struct {
	Name string
	List *struct {
		Place, Error    string
		Changed, Failed time.Time
	}
	Servers []serverStatus
}

// statuses returns the servers of the upstream site.
func (d *testDoor) statuses(t testing.TB) []serverStatus {
	t.Helper()
	return d.upstream(t).Servers
}

// upstream returns the upstream site.
func (d *testDoor) upstream(t testing.TB) upstreamStatus {
	t.Helper()
	_, body := get(t, httpClient(t), "http://"+d.AdminAddr().String()+"/upstreams")
	var page struct{ Upstreams []upstreamStatus }
	if err := json.Unmarshal([]byte(body), &page); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	if len(page.Upstreams) == 0 || page.Upstreams[0].Name != "site" {
		t.Fatalf("the page is %s", body)
	}
	return page.Upstreams[0]
}

// post sends a POST to the admin listener, with the given header fields.
func (d *testDoor) post(t testing.TB, target string, fields ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequest("POST", "http://"+d.AdminAddr().String()+target, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range fields {
		name, value, _ := strings.Cut(f, ": ")
		r.Header.Set(name, value)
	}
	return do(t, httpClient(t), r)
}

// drain begins or ends the drain of a server of the upstream site.
func (d *testDoor) setDraining(t testing.TB, verb, server string) {
	t.Helper()
	if resp, body := d.post(t, "/upstreams/site/"+verb+"?server="+url.QueryEscape(server)); resp.StatusCode != 200 {
		t.Fatalf("%s: %d, %s", verb, resp.StatusCode, body)
	}
}

// servers starts servers that respond with their names, and returns the upstream site.
func servers(t testing.TB, names ...string) upstreams.Upstream {
	up := upstreams.Upstream{Name: "site"}
	for _, name := range names {
		up.Servers = append(up.Servers, upstreams.Server{URL: upstream(t, func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, name)
		}).URL})
	}
	return up
}

// responders returns the names of the servers that respond to n requests.
func responders(t testing.TB, d *testDoor, n int) (names string) {
	t.Helper()
	client := httpClient(t)
	for range n {
		resp, body := get(t, client, d.url("/"))
		if resp.StatusCode != 200 {
			body = "-"
		}
		names += body
	}
	return names
}

// TestDrainedServerGetsNoRequests drains a server, and ends the drain. It gets no requests meanwhile, also after
// a reload.
func TestDrainedServerGetsNoRequests(t *testing.T) {
	t.Parallel()
	up := servers(t, "a", "b")
	use := func(c *config.Config) { c.Upstreams = []upstreams.Upstream{up} }
	d := openDoor(t, "", use)
	if got := responders(t, d, 4); got != "abab" {
		t.Fatalf("the requests went to %s", got)
	}
	d.setDraining(t, "drain", up.Servers[0].URL)
	if got := responders(t, d, 4); got != "bbbb" {
		t.Errorf("while a drains, the requests went to %s", got)
	}
	up.Servers[0].Weight = 2
	if _, err := d.Reload(doorConfig("", use)); err != nil {
		t.Fatal(err)
	}
	if got := responders(t, d, 2); got != "bb" {
		t.Errorf("after a reload, the requests went to %s", got)
	}
	if s := d.statuses(t); s[0].State != "draining" || s[0].Weight != 2 || s[1].State != "usable" ||
		s[0].Server != up.Servers[0].URL || s[0].Address != strings.TrimPrefix(up.Servers[0].URL, "http://") {
		t.Errorf("the status is %+v", s)
	}
	for state, want := range map[string]float64{"draining": 1, "usable": 0} {
		series := `weir_upstream_server_state{server="` + up.Servers[0].URL + `",state="` + state + `",upstream="site"}`
		if got := d.metric(t, series); got != want {
			t.Errorf("%s = %v, want %v", series, got, want)
		}
	}
	d.setDraining(t, "drain", up.Servers[1].URL)
	if resp, _ := get(t, httpClient(t), d.url("/all")); resp.StatusCode != 502 {
		t.Errorf("without a server: %d", resp.StatusCode)
	}
	if e := d.completed(t, "/all"); e.Data["failure"] != "connect" {
		t.Errorf("the event is %v", e.Data)
	}
	d.setDraining(t, "undrain", up.Servers[1].URL)
	d.setDraining(t, "undrain", strings.TrimPrefix(up.Servers[0].URL, "http://"))
	d.setDraining(t, "undrain", up.Servers[0].URL) // again: no event
	if got := responders(t, d, 3); strings.Count(got, "a") != 2 {
		t.Errorf("after the drain, the requests went to %s", got)
	}
	d.close()
	events := map[string]int{}
	for _, e := range d.log.events(t) {
		if strings.HasPrefix(e.Event, "server ") {
			events[e.Event]++
		}
	}
	if events["server drains"] != 2 || events["server no longer drains"] != 2 {
		t.Errorf("the events are %v", events)
	}
}

// TestForeignDrainIsRefused sends requests that must not drain a server: those that a browser sends
// for a page of another origin, with other methods, and for other servers.
func TestForeignDrainIsRefused(t *testing.T) {
	t.Parallel()
	up := servers(t, "a", "b")
	d := openDoor(t, "", func(c *config.Config) { c.Upstreams = []upstreams.Upstream{up} })
	own := "http://" + d.AdminAddr().String()
	drain := "/upstreams/site/drain?server=" + up.Servers[0].URL
	for _, c := range []struct {
		target string
		fields []string
		want   int
	}{
		{drain, []string{"Origin: https://evil.example"}, 403},
		{drain, []string{"Origin: null"}, 403},
		{drain, []string{"Sec-Fetch-Site: cross-site"}, 403},
		{drain, []string{"Sec-Fetch-Site: same-site", "Origin: http://localhost:3000"}, 403},
		{drain, []string{"Sec-Fetch-Site: cross-site", "Origin: " + own}, 403},
		{"/upstreams/site/drain", nil, 404},
		{"/upstreams/site/drain?server=http://10.0.0.1:1", nil, 404},
		{"/upstreams/other/drain?server=" + up.Servers[0].URL, nil, 404},
		{"/upstreams", nil, 405},
	} {
		if resp, body := d.post(t, c.target, c.fields...); resp.StatusCode != c.want {
			t.Errorf("POST %s with %q: %d, %s; want %d", c.target, c.fields, resp.StatusCode, body, c.want)
		}
	}
	if resp, _ := get(t, httpClient(t), own+drain); resp.StatusCode != 405 {
		t.Errorf("GET: %d", resp.StatusCode)
	}
	if s := d.statuses(t); s[0].State != "usable" || s[1].State != "usable" {
		t.Errorf("the status is %+v", s)
	}
	if resp, _ := d.post(t, drain, "Origin: "+own, "Sec-Fetch-Site: same-origin"); resp.StatusCode != 403 {
		t.Errorf("a page of the admin listener, without a token: %d", resp.StatusCode)
	}
}

// TestDrainNeedsTheToken sends requests with wrong tokens and with the right one, from a program and from the dashboard.
func TestDrainNeedsTheToken(t *testing.T) {
	t.Parallel()
	up := servers(t, "a", "b")
	const token = "0123456789abcdef"
	use := func(c *config.Config) { c.Upstreams, c.AdminToken = []upstreams.Upstream{up}, token }
	d := openDoor(t, "", use)
	own := "http://" + d.AdminAddr().String()
	drain := "/upstreams/site/drain?server=" + up.Servers[0].URL
	right := "Authorization: Bearer " + token
	send := func(want int, fields ...string) {
		t.Helper()
		if resp, body := d.post(t, drain, fields...); resp.StatusCode != want {
			t.Errorf("POST with %q: %d, %s; want %d", fields, resp.StatusCode, body, want)
		}
	}
	send(401)
	send(401, right+"0")
	send(401, "Authorization: Basic "+token)
	send(403, right, "Origin: http://evil.example")
	send(403, right, "Sec-Fetch-Site: cross-site")
	if s := d.statuses(t); s[0].State != "usable" {
		t.Fatalf("a wrong token has drained the server: %+v", s)
	}
	send(200, right)
	send(200, "Authorization: bearer "+token, "Origin: "+own, "Sec-Fetch-Site: same-origin")
	if s := d.statuses(t); s[0].State != "draining" {
		t.Errorf("the right token has not drained the server: %+v", s)
	}
	send(401, right+"1")
	send(401, right+"2")
	send(429, right+"3")
	send(429, right) // or else a client could go on guessing
	use = func(c *config.Config) { c.Upstreams = []upstreams.Upstream{up} }
	if _, err := d.Reload(doorConfig("", use)); err != nil {
		t.Fatal(err)
	}
	send(200) // from a program, without a token
	if err := d.close(); err != nil {
		t.Error(err)
	}
	text := d.log.text.String()
	if n := strings.Count(text, "admin token refused"); n != 5 {
		t.Errorf("%d events about wrong tokens, want 5", n)
	}
	if strings.Contains(text, token) {
		t.Error("the token is in the log")
	}
}

// TestStatusNamesTheLastFailure checks the last failure of a server, and the requests in flight.
func TestStatusNamesTheLastFailure(t *testing.T) {
	t.Parallel()
	blocked, release := make(chan bool), make(chan bool)
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		blocked <- true
		<-release
	})
	dead := "http://" + testkit.ClosedAddress(t)
	d := openDoor(t, "", func(c *config.Config) {
		c.Upstreams = []upstreams.Upstream{{Name: "site", Servers: []upstreams.Server{{URL: dead},
			{URL: back.URL, Backup: true}}}}
	})
	var asking sync.WaitGroup
	asking.Go(func() { get(t, httpClient(t), d.url("/")) })
	<-blocked
	s := d.statuses(t)
	if s[0].State != "down" || s[0].LastFailure == nil || s[0].LastFailure.Kind != "refused" || s[0].InFlight != 0 {
		t.Errorf("the dead server is %+v", s[0])
	}
	if s[1].State != "usable" || s[1].LastFailure != nil || s[1].InFlight != 1 || !s[1].Backup || s[1].Weight != 1 {
		t.Errorf("the backup is %+v", s[1])
	}
	close(release)
	asking.Wait()
	testkit.AwaitEqual(t, "nothing in flight", func() int { return d.statuses(t)[1].InFlight }, 0)
}
