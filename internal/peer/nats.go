package peer

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/weirhq/weir/internal/testkit"
)

// NATS is a nats-server.
type NATS struct {
	URL     string // for clients
	Address string // host:port of URL
	Monitor string // the URL of the interface with the server's state, such as /jsz

	t      testing.TB
	config string // the file
	server *process
}

// NATSOptions are the options of [StartNATS].
type NATSOptions struct {
	JetStream bool
	Config    string // more lines of the configuration, such as users or TLS
}

// StartNATS starts a server on a free port. The end of the test ends it.
func StartNATS(t testing.TB, o NATSOptions) *NATS {
	t.Helper()
	n := newNATS(t, o, "weir", "")
	n.Start()
	return n
}

// StartNATSCluster starts several servers that form a cluster. The end of the test ends
// them.
func StartNATSCluster(t testing.TB, servers int, o NATSOptions) []*NATS {
	t.Helper()
	var routes []string
	for range servers {
		routes = append(routes, FreeAddress(t))
	}
	list := strings.Join(routes, ", nats://")
	var all []*NATS
	for i, route := range routes {
		all = append(all, newNATS(t, o, fmt.Sprintf("weir%d", i+1),
			fmt.Sprintf("cluster { name: weir, listen: %q, routes: [nats://%s] }\n", route, list)))
	}
	for _, n := range all { // JetStream is ready when most servers run
		n.launch()
	}
	for _, n := range all {
		n.await()
	}
	return all
}

// newNATS writes the configuration of a server. cluster is its lines about the cluster.
func newNATS(t testing.TB, o NATSOptions, name, cluster string) *NATS {
	t.Helper()
	folder := t.TempDir()
	address, monitor := FreeAddress(t), FreeAddress(t)
	text := fmt.Sprintf("server_name: %s\nlisten: %q\nhttp: %q\n%s", name, address, monitor, cluster)
	if o.JetStream {
		text += fmt.Sprintf("jetstream { store_dir: %q }\n", folder)
	}
	n := &NATS{URL: "nats://" + address, Address: address, Monitor: "http://" + monitor, t: t,
		config: filepath.Join(folder, "nats.conf")}
	if err := os.WriteFile(n.config, []byte(text+o.Config), 0o600); err != nil {
		t.Fatal(err)
	}
	return n
}

// Start starts the server after a Stop, with the same address and the stored data.
func (n *NATS) Start() {
	n.t.Helper()
	n.launch()
	n.await()
}

// Stop kills the server.
func (n *NATS) Stop() { n.server.stop() }

// Signal sends a signal to the server, such as SIGSTOP.
func (n *NATS) Signal(s syscall.Signal) {
	n.t.Helper()
	n.server.signal(s)
}

func (n *NATS) launch() {
	n.t.Helper()
	n.server = start(n.t, nil, Program(n.t, "github.com/nats-io/nats-server/v2"), "-c", n.config)
}

// await waits until the server accepts clients and JetStream, if it is on, has a leader.
func (n *NATS) await() {
	n.t.Helper()
	testkit.AwaitNil(n.t, "the start of "+n.URL, func() error {
		resp, err := http.Get(n.Monitor + "/healthz")
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return errors.New(resp.Status)
		}
		return nil
	})
}
