package main

import (
	"io"
	"net"
	"net/http"
	"strconv"
	"testing"

	"github.com/weirhq/weir/internal/resolve/resolvetest"
	"github.com/weirhq/weir/internal/testkit"
)

// TestNamesExampleRuns runs examples/names with a name server and two services.
func TestNamesExampleRuns(t *testing.T) {
	t.Parallel()
	start := func(text string) uint16 {
		s := testkit.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, text) }))
		return uint16(s.Listener.Addr().(*net.TCPAddr).Port)
	}
	shop, search := start("shop"), start("search")
	ns := resolvetest.Start(t)
	ns.Set("shop.internal", 60, resolvetest.IP("127.0.0.1"))
	ns.Set("_http._tcp.search.internal", 60, resolvetest.Service(10, 1, search, "search-1.internal"))
	ns.Set("search-1.internal", 60, resolvetest.IP("127.0.0.1"))
	p := prepare(t, "serve", "--config", "../../examples/names/weir.yaml", "--listen", "127.0.0.1:0", "--admin", "off")
	p.cmd.Env = append(p.cmd.Env, "NAME_SERVER="+ns.Addr, "SHOP_PORT="+strconv.Itoa(int(shop)))
	if err := p.start(); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"/": "shop", "/search": "search"} {
		if a := get(t, client(t), p.url()+path); a.StatusCode != 200 || a.body != want {
			t.Errorf("%s: %d %q", path, a.StatusCode, a.body)
		}
	}
}
