package peer_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/peer"
)

// The servers of a cluster know each other, and JetStream has a leader.
func TestNATSCluster(t *testing.T) {
	servers := peer.StartNATSCluster(t, 3, peer.NATSOptions{JetStream: true})
	servers[0].Stop()
	servers[0].Start()
	for _, n := range servers {
		resp, err := http.Get(n.Monitor + "/jsz")
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || !strings.Contains(string(body), `"cluster_size": 3`) || !strings.Contains(string(body), `"leader": "weir`) {
			t.Errorf("%s/jsz: %v\n%s", n.Monitor, err, body)
		}
	}
}
