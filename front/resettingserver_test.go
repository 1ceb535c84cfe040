package front_test

import (
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/upstreams"
)

// A server that accepts connections and resets them loses its traffic with the defaults of a file: a few of the
// first GETs fail. One of two, three or ten servers does it.
func TestResettingServerLosesItsTraffic(t *testing.T) {
	t.Parallel()
	for _, n := range []int{2, 3, 10} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			up := upstreams.Upstream{Name: "site", Outliers: upstreams.OutliersUnset(),
				Servers: []upstreams.Server{{URL: "http://" + resettingServer(t)}}}
			for range n - 1 {
				up.Servers = append(up.Servers, upstreams.Server{URL: upstream(t, hello).URL})
			}
			d := openDoor(t, "", func(c *config.Config) { c.Upstreams = []upstreams.Upstream{up} })
			const clients, requests, mostFailed = 8, 800, 12 // before the first ejection, each client may be at the server
			var asked, failed atomic.Int64
			var asking sync.WaitGroup
			for range clients {
				asking.Go(func() {
					for client := httpClient(t); asked.Add(1) <= requests; {
						resp, err := client.Get(d.url("/"))
						if err != nil {
							t.Error(err)
							return
						}
						resp.Body.Close()
						if resp.StatusCode != http.StatusOK {
							failed.Add(1)
						}
					}
				})
			}
			asking.Wait()
			if failed.Load() > mostFailed {
				t.Errorf("%d of %d requests failed, want at most %d", failed.Load(), requests, mostFailed)
			}
			if d.metric(t, `weir_upstream_outliers_total{reason="consecutive",result="ejected",upstream="site"}`) < 1 {
				t.Error("the server was not ejected")
			}
		})
	}
}

// resettingServer returns the address of a server that accepts connections and resets them when a request arrives.
func resettingServer(t *testing.T) string {
	t.Helper()
	l := listenLoopback()
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				c.Read(make([]byte, 1))
				c.(*net.TCPConn).SetLinger(0)
				c.Close()
			}()
		}
	}()
	return l.Addr().String()
}
