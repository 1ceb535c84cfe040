package main

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirhq/weir/internal/peer"
	"github.com/weirhq/weir/internal/testkit"
)

// TestComposeFrontDoorsShareTheRate runs the three front doors of deploy/compose with HAProxy, a server of Redis and
// NATS, without containers. They share the rate, and their common log has an event for each
// request.
func TestComposeFrontDoorsShareTheRate(t *testing.T) {
	t.Parallel()
	redis := peer.StartRedis(t, peer.RedisOptions{})
	n := peer.StartNATS(t, peer.NATSOptions{JetStream: true})
	js := natsClient(t, n)
	natsStream(t, js, jetstream.StreamConfig{})
	var exported atomic.Int64
	collector := testkit.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		if r.URL.Path == "/v1/logs" {
			exported.Add(1)
		}
	}))
	text, err := os.ReadFile(filepath.Join(deployFolder, "compose/config/weir.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	f := startFleet(t, strings.NewReplacer("valkey:6379", redis.Address, "nats:4222", n.Address,
		"collector:4318", strings.TrimPrefix(collector.URL, "http://"),
		"http://site:8080", start(t, "backend", "--listen", "127.0.0.1:0").url()).Replace(string(text)))
	address := f.startBalancer("haproxy")
	for n := range f.running { // so that all have a share
		get(t, client(t), "http://"+f.host(n)+":"+f.ports[0]+"/")
	}
	c, began, admitted := client(t), time.Now(), 0
	const requests = 300
	for range requests {
		if get(t, c, "http://"+address+"/").StatusCode == 200 {
			admitted++
		}
	}
	took := time.Since(began)
	t.Logf("%d of %d requests were admitted in %v", admitted, requests, took)
	if most := 200 + int(took/(10*time.Millisecond)); admitted > most {
		t.Errorf("more than %d requests were admitted", most)
	}
	completed := func() (n int) {
		for _, line := range natsLines(t, js) {
			if strings.Contains(line, `"event":"http request completed"`) {
				n++
			}
		}
		return n
	}
	testkit.Await(t, "the events in the stream", func() bool { return completed() >= requests+3 })
	if n := completed(); n != requests+3 {
		t.Errorf("%d requests in the stream, want %d", n, requests+3)
	}
	testkit.Await(t, "events at the collector", func() bool { return exported.Load() > 0 })
}
