package natssinktest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirhq/weir/internal/certtest"
	"github.com/weirhq/weir/internal/peer"
	"github.com/weirhq/weir/internal/testkit"
)

// Under load, each event is in a stream with three replicas once after its leader has stepped
// down, and after the process of another one was killed.
func TestLeaderChangeLosesNoEvent(t *testing.T) {
	t.Parallel()
	servers := peer.StartNATSCluster(t, 3, peer.NATSOptions{JetStream: true})
	all := nats.DontRandomize()
	js := connect(t, servers[0], all)
	s := createStream(t, js, jetstream.StreamConfig{Replicas: 3})
	l := open(t, servers[0].URL+","+servers[1].Address+","+servers[2].Address+"/"+subject)
	l.Load()
	time.Sleep(200 * time.Millisecond)

	before := leader(t, s)
	stepDown(t, js)
	testkit.AwaitNil(t, "another leader", func() error {
		if now := leader(t, s); now == before {
			return fmt.Errorf("it is %s", now)
		}
		return nil
	})
	time.Sleep(200 * time.Millisecond)

	killed := servers[leader(t, s)[len("weir")]-'1']
	killed.Stop()
	testkit.AwaitNil(t, "deliveries by the others", delivers(l))
	killed.Start()
	testkit.AwaitNil(t, "deliveries by all", delivers(l))
	l.End()
	if s := l.AwaitDelivery(); s.Lost() > 0 {
		t.Errorf("%d events lost, want none", s.Lost())
	}
	stored, _ := read(t, js)
	l.checkLines(stored)
}

// The certificates of a cluster have a host name, and its servers name each other by an IP address. When the server of the
// URL is killed, the others get the events.
func TestClusterWithTLSIsFollowedToAddresses(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	root := certtest.Root(t, "root")
	cert, key := root.Issue(t, certtest.Options{Hosts: []string{"localhost"}}).Write(t, folder, "server")
	ca := filepath.Join(folder, "ca.pem")
	if err := os.WriteFile(ca, certtest.PEM(root.Cert), 0o600); err != nil {
		t.Fatal(err)
	}
	servers := peer.StartNATSCluster(t, 3, peer.NATSOptions{JetStream: true,
		Config: fmt.Sprintf("tls { cert_file: %q, key_file: %q }\n", cert, key)})
	at := func(n *peer.NATS) string {
		_, port, _ := net.SplitHostPort(n.Address)
		return "tls://localhost:" + port + "/" + subject + "?ca=" + ca
	}
	js := connectTo(t, at(servers[1]))
	createStream(t, js, jetstream.StreamConfig{Replicas: 3})
	l := open(t, at(servers[0]))
	l.Load()
	testkit.AwaitNil(t, "deliveries", delivers(l))
	servers[0].Stop()
	testkit.AwaitNil(t, "deliveries by the others", delivers(l))
	l.End()
	if s := l.AwaitDelivery(); s.Lost() > 0 {
		t.Errorf("%d events lost, want none", s.Lost())
	}
	stored, _ := read(t, js)
	l.checkLines(stored)
}

// delivers returns a function that reports whether 200 more events were delivered.
func delivers(l *tested) func() error {
	want := l.Check().Written + 200
	return func() error {
		if s := l.Check(); s.Written < want {
			return fmt.Errorf("%d events delivered: %v", s.Written, s.LastError)
		}
		return nil
	}
}

// leader returns the name of the server that leads the stream.
func leader(t *testing.T, s jetstream.Stream) string {
	t.Helper()
	var name string
	testkit.AwaitNil(t, "the leader", func() error {
		info, err := s.Info(t.Context())
		if err == nil && (info.Cluster == nil || info.Cluster.Leader == "") {
			err = errors.New("there is none")
		}
		if err == nil {
			name = info.Cluster.Leader
		}
		return err
	})
	return name
}

// stepDown makes another server the leader of the stream.
func stepDown(t *testing.T, js jetstream.JetStream) {
	t.Helper()
	m, err := js.Conn().Request("$JS.API.STREAM.LEADER.STEPDOWN.LOGS", nil, testkit.Limit)
	if err != nil {
		t.Fatal(err)
	}
	var resp struct{ Success bool }
	if err := json.Unmarshal(m.Data, &resp); err != nil || !resp.Success {
		t.Fatalf("%v: %s", err, m.Data)
	}
}
