package front_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/upstreams"
	"github.com/weirhq/weir/internal/mounttest"
	"github.com/weirhq/weir/internal/resolve/resolvetest"
	"github.com/weirhq/weir/internal/testkit"
)

// listedIn makes a door use the servers of a file, which is read now.
func listedIn(t *testing.T, file string) func(*config.Config) {
	return func(c *config.Config) {
		t.Helper()
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		servers, err := upstreams.ParseServers(file, src)
		if err != nil {
			t.Fatal(err)
		}
		c.Upstreams[0].Servers, c.Upstreams[0].List = servers, upstreams.List{File: file}
	}
}

// A countedServer counts the connections that it has accepted, and those that are closed.
type countedServer struct {
	*httptest.Server
	opened, closed atomic.Int32
}

func startCounted(t *testing.T, h http.HandlerFunc) *countedServer {
	s := &countedServer{Server: httptest.NewUnstartedServer(h)}
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			s.opened.Add(1)
		case http.StateClosed:
			s.closed.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// TestServersFollowTheirFile replaces one of two servers in a file, under load. No request fails. The
// server that stays keeps its connections, and the request at the server that is removed ends there.
func TestServersFollowTheirFile(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	var waiting atomic.Int32
	stays := startCounted(t, saying("stays"))
	removed := startCounted(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			waiting.Add(1)
			<-release
		}
		io.WriteString(w, "removed")
	})
	added := upstream(t, saying("added"))
	folder := mounttest.New(t)
	list := folder.At("servers.yaml")
	folder.Set(map[string]string{"servers.yaml": "- {url: '" + removed.URL + "', weight: 2}\n- " + stays.URL + "\n"})
	d := openDoor(t, "", listedIn(t, list))

	slow := make(chan string)
	go func() {
		_, body := get(t, httpClient(t), d.url("/slow"))
		slow <- body
	}()
	testkit.AwaitEqual(t, "the slow request arrived", waiting.Load, 1)
	seen := map[string]*atomic.Int64{"stays": new(atomic.Int64), "removed": new(atomic.Int64), "added": new(atomic.Int64)}
	var failed atomic.Int64
	stop := repeat(t, 2, func(c *http.Client) {
		if resp, body := get(t, c, d.url("/")); resp.StatusCode == 200 {
			seen[body].Add(1)
		} else {
			failed.Add(1)
		}
	})
	testkit.Await(t, "requests to both servers", func() bool { return seen["stays"].Load() > 10 && seen["removed"].Load() > 10 })
	began := time.Now()
	folder.Set(map[string]string{"servers.yaml": "- " + stays.URL + "\n- " + added.URL + "\n"})
	testkit.Await(t, "requests to the new server", func() bool { return seen["added"].Load() > 0 })
	t.Logf("requests to the new server after %v", time.Since(began))
	before, from := seen["removed"].Load(), seen["added"].Load()
	testkit.Await(t, "more requests to the new server", func() bool { return seen["added"].Load() > from+50 })
	close(release)
	if body := <-slow; body != "removed" {
		t.Errorf("the request in flight got %q", body)
	}
	stop()
	if n := seen["removed"].Load() - before; n > 4 || failed.Load() > 0 {
		t.Errorf("%d requests to the removed server after the change, %d failed", n, failed.Load())
	}
	testkit.Await(t, "the removed server has no connection", func() bool {
		return removed.opened.Load() == removed.closed.Load()
	})
	if n := stays.closed.Load(); n > 0 {
		t.Errorf("%d of %d connections to the server that stays were closed", n, stays.opened.Load())
	}
	e := d.log.find(t, func(e event) bool { return e.Event == "upstream servers updated" })
	got := fmt.Sprintln(e.Severity, e.Data["upstream"], e.Data["list"], e.Data["servers"], e.Data["added"], e.Data["removed"])
	if want := fmt.Sprintln(3, "site", list, 2, []any{added.URL}, []any{removed.URL}); got != want {
		t.Errorf("the event has %s, want %s", got, want)
	}
}

// TestMistakeInListKeepsTheServers writes mistakes to a list of servers. The servers stay, and the event has the
// position of the mistake. A correct list applies.
func TestMistakeInListKeepsTheServers(t *testing.T) {
	t.Parallel()
	old, other := upstream(t, saying("old")), upstream(t, saying("other"))
	folder := mounttest.New(t)
	list := folder.At("servers.yaml")
	folder.Set(map[string]string{"servers.yaml": "- " + old.URL + "\n"})
	d := openDoor(t, "", listedIn(t, list))
	c := httpClient(t)
	for i, list := range []struct{ text, mistake string }{
		{"- " + old.URL + "\n- {url: " + other.URL + ", wieght: 2}\n", "wieght"}, {"", "1:1: the list is empty"}, {"[]\n", "servers\\\" is empty"},
	} {
		folder.Set(map[string]string{"servers.yaml": list.text})
		d.log.find(t, func(e event) bool { return strings.Contains(e.raw, list.mistake) })
		if n := d.metric(t, `weir_upstream_list_updates_total{result="failed",upstream="site"}`); n != float64(i+1) {
			t.Errorf("%q: %v failed updates", list.text, n)
		}
		if _, body := get(t, c, d.url("/")); body != "old" {
			t.Errorf("%q: a response of %s", list.text, body)
		}
		if up := d.metric(t, `weir_upstream_list_up{upstream="site"}`); up != 0 {
			t.Errorf("%q: weir_upstream_list_up is %v", list.text, up)
		}
	}
	e := d.log.find(t, func(e event) bool { return e.Event == "upstream servers not updated" })
	if !strings.Contains(e.raw, list+":2:") || !strings.Contains(e.raw, "weight") || e.Severity != 1 {
		t.Errorf("the event is %s", e.raw)
	}
	if s := d.ServerLists(); len(s) != 1 || s[0].Upstream != "site" || s[0].Place != list || s[0].Servers != 1 || s[0].Err == nil {
		t.Errorf("the states are %+v", s)
	}
	if l := d.upstream(t).List; l == nil || l.Place != list || l.Error == "" || l.Failed.IsZero() || !l.Changed.IsZero() {
		t.Errorf("the state on /upstreams is %+v", l)
	}
	folder.Break()
	d.log.find(t, func(e event) bool { return strings.Contains(e.raw, "no such file") })
	folder.Set(map[string]string{"servers.yaml": "- " + other.URL + "\n"})
	d.log.find(t, func(e event) bool { return e.Event == "upstream servers updated" })
	if _, body := get(t, c, d.url("/")); body != "other" {
		t.Errorf("after a correct list: a response of %s", body)
	}
	if up := d.metric(t, `weir_upstream_list_up{upstream="site"}`); up != 1 || d.ServerLists()[0].Err != nil {
		t.Errorf("after a correct list: weir_upstream_list_up is %v, %+v", up, d.ServerLists())
	}
	if l := d.upstream(t).List; l == nil || l.Error != "" || !l.Changed.After(l.Failed) {
		t.Errorf("the state on /upstreams is %+v", l)
	}
}

// TestServersFromFileMayHaveNames has names in a list. They are resolved, and a name that stays keeps its
// addresses when the list changes and the name server has failed.
func TestServersFromFileMayHaveNames(t *testing.T) {
	t.Parallel()
	back := listenAt(t, "127.0.0.2:0", saying("a"))
	_, port, _ := net.SplitHostPort(back.Listener.Addr().String())
	other := upstream(t, saying("b"))
	ns := resolvetest.Start(t)
	ns.Set("a.example", 1, resolvetest.IP("127.0.0.2"))
	folder := mounttest.New(t)
	list := folder.At("servers.yaml")
	folder.Set(map[string]string{"servers.yaml": "- " + other.URL + "\n"})
	d := openDoor(t, "", listedIn(t, list), withNameServer(ns))
	gets := func(want string) func() bool {
		return func() bool { _, body := get(t, httpClient(t), d.url("/")); return body == want }
	}
	testkit.Await(t, "a response", gets("b"))
	folder.Set(map[string]string{"servers.yaml": "- http://a.example:" + port + "\n"})
	testkit.Await(t, "a response of the named server", gets("a"))
	ns.Fail(resolvetest.ServFail)
	folder.Set(map[string]string{"servers.yaml": "- {url: 'http://a.example:" + port + "', weight: 7}\n- " + other.URL + "\n"})
	testkit.Await(t, "a response of the other server", gets("b"))
	testkit.Await(t, "a response of the named server", gets("a"))
	d.reload(listedIn(t, list))
	testkit.Await(t, "a response after the reload", gets("a"))
}
