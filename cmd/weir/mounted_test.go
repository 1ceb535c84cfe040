package main

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/certtest"
	"github.com/weirhq/weir/internal/mounttest"
	"github.com/weirhq/weir/internal/peer"
	"github.com/weirhq/weir/internal/testkit"
)

// TestMountedFolderChangesTogether serves a configuration in a folder whose files change together, with an included
// file, a certificate and a list of servers. All changes apply, a mistake changes nothing, and no
// request fails.
func TestMountedFolderChangesTogether(t *testing.T) {
	t.Parallel()
	one, two := start(t, "backend", "--listen", "127.0.0.1:0"), start(t, "backend", "--listen", "127.0.0.1:0")
	root := certtest.Root(t, "root")
	folder, secure := mounttest.New(t), peer.FreeAddress(t)
	files := func(routes string, servers ...string) map[string]string {
		pair := root.Issue(t, certtest.Options{})
		return map[string]string{
			"weir.yaml": "watch: true\nlisten: 127.0.0.1:0\nadmin: 127.0.0.1:0\nlog: {events: completed}\n" +
				"tls: {listen: '" + secure + "', certificates: [{cert: tls.crt, key: tls.key}]}\n" +
				"include: [routes-*.yaml]\nupstreams: {site: {servers: {file: servers.yaml}}}\n",
			"routes-shop.yaml": "routes: [" + routes + "]\n",
			"servers.yaml":     "- " + strings.Join(servers, "\n- ") + "\n",
			"tls.crt":          string(certtest.PEM(pair.Chain()...)),
			"tls.key":          string(pair.KeyPEM(t)),
		}
	}
	const shop = "{match: '/{path...}', to: site}"
	set := files(shop, one.url())
	folder.Set(set)
	p := start(t, "serve", "--config", folder.At("weir.yaml"))
	url := p.says(`listening on (http://\S+)`)

	var served, failed atomic.Int64
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	stop := repeatedly(t, 2, func(c *http.Client) bool {
		<-tick.C
		req, _ := http.NewRequestWithContext(t.Context(), "GET", url+"/", nil)
		if a, err := try(c, req); err != nil || a.StatusCode != 200 {
			failed.Add(1)
		} else {
			served.Add(1)
		}
		return true
	})
	certificate := func() string {
		conn, err := tls.Dial("tcp", secure, &tls.Config{RootCAs: root.Pool(), ServerName: "localhost"})
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		return fmt.Sprint(conn.ConnectionState().PeerCertificates[0].SerialNumber)
	}
	status := func(path string) int { return get(t, client(t), url+path).StatusCode }
	before := certificate()

	set = files(shop+", {match: /new, respond: {status: 204}}", two.url())
	folder.Set(set)
	testkit.AwaitEqual(t, "the new route", func() int { return status("/new") }, 204)
	testkit.Await(t, "the new certificate", func() bool { return certificate() != before })
	testkit.Await(t, "the new server", func() bool { return strings.Contains(get(t, client(t), p.admin()+"/upstreams").body, two.url()) })

	set["servers.yaml"] = "- " + one.url() + "\n- {url: " + two.url() + ", weight: none}\n"
	set["routes-shop.yaml"] = "routes: [" + shop + ", {match: /other, to: nowhere}]\n"
	folder.Set(set)
	p.says(`error: upstream site: the last servers stay: .*servers\.yaml:2:\d+: .*none`)
	p.says(`(?s)error: reload: .*routes-shop\.yaml:1:\d+: there is no upstream "nowhere".*servers\.yaml:2:\d+: `)
	if got := status("/new"); got != 204 {
		t.Errorf("after a mistake: status %d of the route before", got)
	}
	folder.Set(files(shop+", {match: /last, respond: {status: 204}}", one.url(), two.url()))
	p.says("upstream site: the servers are from .*servers.yaml again")
	testkit.AwaitEqual(t, "the last route", func() int { return status("/last") }, 204)
	stop()
	if failed.Load() > 0 || served.Load() == 0 {
		t.Errorf("%d requests failed, %d were served", failed.Load(), served.Load())
	}
	if n := metric(t, p.admin(), "weir_upstream_list_updates_total", `result="failed"`); n != 1 {
		t.Errorf("%v failed updates of the list", n)
	}
}
