package main

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/weirhq/weir/internal/peer"
	"github.com/weirhq/weir/internal/testkit"
)

// TestHealthReportsTheState asks a front door that serves, drains and has ended, and servers that are no front door.
func TestHealthReportsTheState(t *testing.T) {
	t.Parallel()
	held := newGate(t)
	p := door(t, "drain: {delay: 1s, timeout: 10m}\n"+allTo(held.URL))
	admin := strings.TrimPrefix(p.admin(), "http://")
	_, port, err := net.SplitHostPort(admin)
	if err != nil {
		t.Fatal(err)
	}
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { silent.Close() })
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "hello\n") }))
	t.Cleanup(other.Close)

	isHealthy(t, admin)
	isHealthy(t, "localhost:"+port)
	isHealthy(t, ":"+port)
	isUnhealthy(t, "another server: 200 OK", strings.TrimPrefix(other.URL, "http://"))
	isUnhealthy(t, "no response within 5s", silent.Addr().String())
	isUnhealthy(t, "connection refused", peer.FreeAddress(t))
	runs(t, 2, "health", "20001").says("hint: write host:port")
	runs(t, 2, "health", "127.0.0.1:99999").says("value out of range")
	runs(t, 2, "health", "")

	responses := send(t, p.url(), 1)
	held.await(t, 1)
	p.signal(syscall.SIGTERM)
	p.says("draining")
	isUnhealthy(t, "is not ready: draining", admin)
	close(held.open)
	testkit.Receive(t, "the response", responses)
	p.wait(0)
	isUnhealthy(t, "connection refused", admin)
}

func isHealthy(t *testing.T, admin string) {
	t.Helper()
	p := runs(t, 0, "health", admin)
	if text, err := os.ReadFile(p.stdout); err != nil || strings.Count(string(text), "\n") != 1 || p.stderr.String() != "" {
		t.Errorf("weir health %s: %q, %q, %v; want a line on stdout", admin, text, p.stderr.String(), err)
	}
}

func isUnhealthy(t *testing.T, reason, admin string) {
	t.Helper()
	p := runs(t, 1, "health", admin)
	if text := p.stderr.String(); !strings.Contains(text, reason+"\n") || strings.Count(text, "\n") != 1 {
		t.Errorf("weir health %s: %q, want a line with %q", admin, text, reason)
	}
}
