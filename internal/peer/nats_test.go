package peer_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/peer"
	"github.com/weirhq/weir/internal/testkit"
)

// The servers of a cluster know each other, and JetStream has a leader.
func TestNATSClusterHasALeader(t *testing.T) {
	servers := peer.StartNATSCluster(t, 3, peer.NATSOptions{JetStream: true})
	servers[0].Stop()
	servers[0].Start()
	for _, n := range servers {
		testkit.AwaitNil(t, "a cluster with a leader", func() error { // after a start, a server learns its leader within seconds
			_, body := testkit.Get(t, http.DefaultClient, n.Monitor+"/jsz")
			if !strings.Contains(body, `"cluster_size": 3`) || !strings.Contains(body, `"leader": "weir`) {
				return errors.New(body)
			}
			return nil
		})
	}
}
