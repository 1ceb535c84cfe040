package peer

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/certtest"
	"github.com/weirhq/weir/internal/testkit"
)

// Redis is a redis-server.
type Redis struct {
	Address string

	t      testing.TB
	args   []string
	tls    *tls.Config // nil without TLS
	server *process
}

// RedisOptions are the options of [StartRedis].
type RedisOptions struct {
	Password string
	// TLS is the certificate of the server, and Root the certificate of the authority that
	// has issued it and the certificates of clients, which are required. Nil for no TLS.
	TLS, Root *certtest.Pair
	// Address is the address of the server. Empty means a free one.
	Address string
}

// StartRedis starts a server on a free port. The end of the test ends it. The test is skipped
// if redis-server is not installed.
func StartRedis(t testing.TB, o RedisOptions) *Redis {
	t.Helper()
	r := newRedis(t, o)
	r.Start()
	return r
}

// StartRedisCluster starts several servers that form a cluster.
func StartRedisCluster(t testing.TB, servers int) []*Redis {
	t.Helper()
	var all []*Redis
	args := []string{"--cluster", "create"}
	for range servers {
		_, bus, err := net.SplitHostPort(FreeAddress(t))
		if err != nil {
			t.Fatal(err)
		}
		r := newRedis(t, RedisOptions{})
		r.args = append(r.args, "--cluster-enabled", "yes", "--cluster-port", bus, "--cluster-node-timeout", "1000",
			"--cluster-require-full-coverage", "no")
		r.Start()
		all = append(all, r)
		args = append(args, r.Address)
	}
	if out, err := exec.Command("redis-cli", append(args, "--cluster-yes")...).CombinedOutput(); err != nil {
		t.Fatalf("redis-cli: %v\n%s", err, out)
	}
	for _, r := range all {
		testkit.AwaitNil(t, "the cluster of "+r.Address, func() error {
			if state := r.Ask("CLUSTER INFO"); !strings.Contains(state, "cluster_state:ok") {
				return fmt.Errorf("%.30q", state)
			}
			return nil
		})
	}
	return all
}

func newRedis(t testing.TB, o RedisOptions) *Redis {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		t.Skip("redis-server is not installed")
	}
	if o.Address == "" {
		o.Address = FreeAddress(t)
	}
	host, port, err := net.SplitHostPort(o.Address)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	r := &Redis{Address: o.Address, t: t}
	r.args = []string{"--bind", host, "--save", "", "--appendonly", "no", "--dir", folder}
	if o.TLS == nil {
		r.args = append(r.args, "--port", port)
	} else {
		cert, key := o.TLS.Write(t, folder, "server")
		root, _ := o.Root.Write(t, folder, "root")
		r.args = append(r.args, "--port", "0", "--tls-port", port, "--tls-cert-file", cert, "--tls-key-file", key,
			"--tls-ca-cert-file", root)
		client := o.Root.Issue(t, certtest.Options{Client: true})
		r.tls = &tls.Config{RootCAs: o.Root.Pool(), Certificates: []tls.Certificate{*client.TLS()}}
	}
	if o.Password != "" {
		r.args = append(r.args, "--requirepass", o.Password)
	}
	return r
}

// Start starts the server, also after a Stop. It is empty then.
func (r *Redis) Start() {
	r.t.Helper()
	r.server = start(r.t, nil, "redis-server", r.args...)
	testkit.AwaitNil(r.t, "the start of "+r.Address, func() error {
		if reply := r.Ask("PING"); reply == "" {
			return fmt.Errorf("no reply")
		}
		return nil
	})
}

// Stop kills the server.
func (r *Redis) Stop() { r.server.stop() }

// Signal sends a signal to the server, such as SIGSTOP.
func (r *Redis) Signal(s syscall.Signal) {
	r.t.Helper()
	r.server.signal(s)
}

// Ask sends a command in one line and returns the beginning of the reply, or "" if there is
// none.
func (r *Redis) Ask(command string) string {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	c, err := new(net.Dialer).DialContext(ctx, "tcp", r.Address)
	if err != nil {
		return ""
	}
	defer c.Close()
	if r.tls != nil {
		cfg := r.tls.Clone()
		cfg.ServerName, _, _ = net.SplitHostPort(r.Address)
		c = tls.Client(c, cfg)
	}
	end, _ := ctx.Deadline()
	c.SetDeadline(end)
	if _, err := fmt.Fprintf(c, "%s\r\n", command); err != nil {
		return ""
	}
	reply := make([]byte, 4<<10)
	n, _ := c.Read(reply)
	return string(reply[:n])
}
