package front_test

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirhq/weir/front"
	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/natskv"
	"github.com/weirhq/weir/front/upstreams"
	"github.com/weirhq/weir/internal/peer"
	"github.com/weirhq/weir/internal/testkit"
	"github.com/weirhq/weir/log/sink"
)

// openNATSDoor starts a front door whose servers are those in a key of NATS.
func openNATSDoor(t *testing.T, url string) *testDoor {
	t.Helper()
	cfg := doorConfig("", func(c *config.Config) {
		c.Upstreams[0].Servers, c.Upstreams[0].List = nil, upstreams.List{NATS: url}
	})
	d := &testDoor{t: t, config: cfg, log: newLogBook(), served: make(chan error, 1)}
	var err error
	if d.Door, err = (front.Engines{Servers: natskv.Follow}).New(cfg, sink.NewDirect(d.log)); err != nil {
		t.Fatal(err)
	}
	if err := d.Listen(); err != nil {
		t.Fatal(err)
	}
	d.serve()
	return d
}

// TestServersFollowTheKeyOfNATS changes the servers in a key of NATS. A mistake and the loss of the server of NATS
// keep the last servers, also during a reload, and no request fails.
func TestServersFollowTheKeyOfNATS(t *testing.T) {
	t.Parallel()
	n := peer.StartNATS(t, peer.NATSOptions{JetStream: true})
	one, two := upstream(t, saying("one")), upstream(t, saying("two"))
	d := openNATSDoor(t, n.URL+"/upstreams/site")
	c := httpClient(t)
	if resp, _ := get(t, c, d.url("/")); resp.StatusCode != 502 {
		t.Errorf("status %d without a list", resp.StatusCode)
	}
	d.log.find(t, func(e event) bool {
		return e.Event == "upstream servers not updated" && strings.Contains(e.raw, "no bucket")
	})

	conn, err := nats.Connect(n.URL, nats.MaxReconnects(-1), nats.ReconnectWait(1e7))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	bucket, err := js.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "upstreams"})
	if err != nil {
		t.Fatal(err)
	}
	put := func(list string) {
		t.Helper()
		if _, err := bucket.PutString(t.Context(), "site", list); err != nil {
			t.Fatal(err)
		}
	}
	gets := func(want string) func() bool {
		return func() bool { _, body := get(t, c, d.url("/")); return body == want }
	}
	put("- " + one.URL + "\n")
	testkit.Await(t, "a response of the first server", gets("one"))

	var failed atomic.Int64
	stop := repeat(t, 1, func(c *http.Client) {
		if resp, _ := get(t, c, d.url("/")); resp.StatusCode != 200 {
			failed.Add(1)
		}
	})
	up := func(want float64) func() bool {
		return func() bool { return d.metric(t, `weir_upstream_list_up{upstream="site"}`) == want }
	}
	put("- " + one.URL + "\n- {url: " + two.URL + ", wieght: 2}\n")
	d.log.find(t, func(e event) bool { return strings.Contains(e.raw, n.URL+"/upstreams/site:2:") })
	testkit.Await(t, "the list is not in use", up(0))
	put("- " + two.URL + "\n")
	testkit.Await(t, "a response of the second server", gets("two"))
	testkit.Await(t, "the list is in use", up(1))

	n.Stop()
	testkit.Await(t, "the list is not in use", up(0))
	d.reload(func(c *config.Config) { c.Namespace = "other" })
	if !gets("two")() || !up(0)() {
		t.Error("a reload without NATS has changed the servers or the state")
	}
	inNATS := d.config.Upstreams
	d.reload(func(c *config.Config) {
		c.Upstreams = []upstreams.Upstream{{Name: "site", Servers: []upstreams.Server{{URL: one.URL}}}}
	})
	testkit.Await(t, "a response of the configured server", gets("one"))
	d.reload(func(c *config.Config) { c.Upstreams = inNATS }) // the configured servers stay until there is a list
	if !gets("one")() || !up(0)() {
		t.Error("a reload to a list that cannot be read has changed the servers")
	}
	n.Start()
	testkit.Await(t, "a response of the second server", gets("two"))
	testkit.Await(t, "the list is in use", up(1))
	put("- " + one.URL + "\n")
	testkit.Await(t, "a response of the first server", gets("one"))
	stop()
	if failed.Load() > 0 {
		t.Errorf("%d requests failed", failed.Load())
	}
	if s := d.ServerLists(); len(s) != 1 || s[0].Place != n.URL+"/upstreams/site" || s[0].Servers != 1 || s[0].Err != nil {
		t.Errorf("the states are %+v", s)
	}
}

// TestReloadReplacesUnknownServers reloads from a list of a server of NATS that is down to a configured server.
func TestReloadReplacesUnknownServers(t *testing.T) {
	t.Parallel()
	one := upstream(t, saying("one"))
	d := openNATSDoor(t, "nats://"+testkit.ClosedAddress(t)+"/upstreams/site")
	d.reload(func(c *config.Config) {
		c.Upstreams = []upstreams.Upstream{{Name: "site", Servers: []upstreams.Server{{URL: one.URL}}}}
	})
	if resp, body := get(t, httpClient(t), d.url("/")); resp.StatusCode != 200 || body != "one" {
		t.Errorf("status %d, %q", resp.StatusCode, body)
	}
}

// TestServersFromNATSNeedEngine makes a front door without a client of NATS, and with a wrong URL.
func TestServersFromNATSNeedEngine(t *testing.T) {
	t.Parallel()
	cfg := doorConfig("", func(c *config.Config) {
		c.Upstreams[0].Servers, c.Upstreams[0].List = nil, upstreams.List{NATS: "nats://a:secret@127.0.0.1/b/k?creds=none"}
	})
	for _, e := range []front.Engines{{}, {Servers: natskv.Follow}} {
		_, err := e.New(cfg, sink.NewDirect(io.Discard))
		if err == nil || !strings.Contains(err.Error(), "nats://127.0.0.1/b/k") || strings.Contains(err.Error(), "secret") {
			t.Errorf("the error is %v", err)
		}
	}
}
