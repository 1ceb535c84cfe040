package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/peer"
	"github.com/weirhq/weir/internal/testkit"
)

// TestProxyProtocolExampleRuns runs examples/proxy-protocol with HAProxy and nginx, which send and
// accept the PROXY protocol in both versions. The services get the address of the client, by
// which weir also decides.
func TestProxyProtocolExampleRuns(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"haproxy", "nginx"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("needs %s: %v", name, err)
		}
	}
	folder := t.TempDir()
	addrs := map[string]string{}
	var pairs []string
	for _, port := range []string{"8080", "8081", "9001", "9002", "20000"} {
		addr := "127.0.0.1:" + port
		addrs[addr] = peer.FreeAddress(t)
		pairs = append(pairs, addr, addrs[addr])
	}
	for _, name := range []string{"weir.yaml", "haproxy.cfg", "nginx.conf"} {
		text, err := os.ReadFile(filepath.Join("../../examples/proxy-protocol", name))
		if err != nil {
			t.Fatal(err)
		}
		changed := strings.NewReplacer(pairs...).Replace(string(text))
		if err := os.WriteFile(filepath.Join(folder, name), []byte(changed), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	runMover(t, folder, addrs["127.0.0.1:9001"], "nginx", "-p", ".", "-c", "nginx.conf", "-g",
		"daemon off; pid nginx.pid; error_log nginx.log;")
	runMover(t, folder, addrs["127.0.0.1:8080"], "haproxy", "-db", "-f", "haproxy.cfg")
	p := start(t, "serve", "--config", filepath.Join(folder, "weir.yaml"), "--admin", "off")
	p.url()

	get := func(client, addr, path string) string {
		t.Helper()
		dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(client)}}
		tr := &http.Transport{DialContext: dialer.DialContext}
		defer tr.CloseIdleConnections()
		resp, err := (&http.Client{Transport: tr, Timeout: patience}).Get("http://" + addr + path)
		if err != nil {
			return err.Error()
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Error(err)
		}
		return fmt.Sprint(resp.StatusCode, " ", strings.TrimSpace(string(body)))
	}
	for _, balancer := range []string{"127.0.0.1:8080", "127.0.0.1:8081"} {
		for _, c := range []struct{ client, path, want string }{
			{"127.0.0.5", "/", "200 site 127.0.0.5"},
			{"127.0.0.6", "/api/", "200 api 127.0.0.6"},
			{"127.0.0.66", "/", "403 403 Forbidden"},
		} {
			if got := get(c.client, addrs[balancer], c.path); !strings.HasPrefix(got, c.want) {
				t.Errorf("%s %s by %s: %s, want %s", c.client, c.path, balancer, got, c.want)
			}
		}
	}
	got := get("127.0.0.1", addrs["127.0.0.1:20000"], "/")
	if !strings.Contains(got, "EOF") && !strings.Contains(got, "reset") {
		t.Errorf("without the load balancer: %s, want no response", got)
	}
	testkit.Await(t, "the events", func() bool {
		log, err := os.ReadFile(p.stdout)
		return err == nil && strings.Contains(string(log), `"client":"127.0.0.5"`) &&
			strings.Contains(string(log), `"refused":"absent"`)
	})
}
