package main

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/certtest"
	"github.com/weirhq/weir/internal/testkit"
)

// memoryGroup makes a control group with a limit of memory, and returns the file by which a process enters it.
func memoryGroup(t *testing.T, limit int64) (procs string) {
	t.Helper()
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		t.Skip("needs control groups: ", err)
	}
	parent, file := "", "memory.max"
	for line := range strings.Lines(string(own)) {
		switch part := strings.SplitN(strings.TrimSpace(line), ":", 3); part[1] {
		case "memory": // of version 1, which is the one in use if both are mounted
			parent, file = "/sys/fs/cgroup/memory"+part[2], "memory.limit_in_bytes"
		case "":
			if parent == "" {
				parent = "/sys/fs/cgroup" + part[2]
			}
		}
	}
	group, err := os.MkdirTemp(parent, "weir-test-")
	if err != nil {
		t.Skip("needs a control group of its own: ", err)
	}
	t.Cleanup(func() {
		testkit.Await(t, "the end of the control group", func() bool { return os.Remove(group) == nil })
	})
	f, err := os.OpenFile(filepath.Join(group, file), os.O_WRONLY, 0)
	if err != nil {
		t.Skip("needs a control group with the memory controller: ", err)
	}
	defer f.Close()
	if _, err := fmt.Fprint(f, limit); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(group, "cgroup.procs")
}

// TestMemoryLimitIsKeptWithSlowClients opens many more connections of slow clients than a control group has memory for:
// they do not end their heads or bodies, or do not read their responses. As many as fit are admitted, the others are
// refused, and a good client is served. Without a limit of connections the kernel kills the process in all cases.
func TestMemoryLimitIsKeptWithSlowClients(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector multiplies the memory of a process")
	}
	t.Parallel()
	const memory, clients = 128 << 20, 5000
	needFiles(t, 3*clients)
	root := certtest.Root(t, "root")
	cert, key := root.Issue(t, certtest.Options{}).Write(t, t.TempDir(), "a")
	for name, begin := range map[string]string{
		"heads":     "GET / HTTP/1.1\r\nHost: a\r\nX-Slow: " + strings.Repeat("x", 60_000),
		"bodies":    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\nx",
		"responses": "GET /?size=16000000 HTTP/1.1\r\nHost: a\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			back := start(t, "backend", "--listen", "127.0.0.1:0")
			p := prepare(t, "serve", "--config", configFile(t, fmt.Sprintf("log: {events: completed}\n"+
				"limits: {client_timeouts: {header: 10m}}\n"+
				"defaults: {limits: {client_timeouts: {read: 10m, write: 10m}}}\n"+
				"tls: {listen: '127.0.0.1:0', certificates: [{cert: %s, key: %s}]}\n", cert, key)+allTo(back.url())))
			p.cmd.Args = append([]string{"sh", "-c", `echo $$ >"$0" && exec "$@"`, memoryGroup(t, memory), p.cmd.Path},
				p.cmd.Args[1:]...)
			p.cmd.Path = "/bin/sh"
			if err := p.start(); err != nil {
				t.Fatal(err)
			}
			good := client(t)
			get(t, good, p.url()+"/good")
			addr := p.says(`listening on https://(\S+)`)
			most := metric(t, p.admin(), "weir_limit_value", `limit="max_connections"`)
			var sending sync.WaitGroup
			for range clients {
				dialer := net.Dialer{Control: testkit.LikeRemote}
				c, err := dialer.Dial("tcp", addr)
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				c.SetDeadline(time.Now().Add(patience))
				sending.Go(func() {
					io.WriteString(tls.Client(c, &tls.Config{InsecureSkipVerify: true}), begin) // fails if it is refused
				})
			}
			sending.Wait()
			testkit.AwaitEqual(t, "the refusals", func() float64 { return metric(t, p.admin(), "weir_limit_refusals_total", `limit="max_connections"`) }, clients+1-most)
			get(t, good, p.url()+"/good")
			p.alive()
			t.Logf("%v connections fit, and the peak memory is %d MiB of %d", most, peakMemory(t, p)>>20, memory>>20)
		})
	}
}
