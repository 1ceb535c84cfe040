package peer_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/peer"
)

// The servers of a cluster know each other, and JetStream has a leader.
func TestNATSCluster(t *testing.T) {
	servers := peer.StartNATSCluster(t, 3, peer.NATSOptions{JetStream: true})
	servers[0].Stop()
	servers[0].Start()
	for _, n := range servers {
		deadline := time.Now().Add(time.Minute)
		for body := ""; !strings.Contains(body, `"cluster_size": 3`) || !strings.Contains(body, `"leader": "weir`); {
			if time.Now().After(deadline) { // after a start, a server learns its leader within seconds
				t.Fatalf("%s/jsz:\n%s", n.Monitor, body)
			}
			resp, err := http.Get(n.Monitor + "/jsz")
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if err != nil {
				t.Fatal(err)
			}
			body = string(text)
			time.Sleep(20 * time.Millisecond)
		}
	}
}
