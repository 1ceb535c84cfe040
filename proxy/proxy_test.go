package proxy_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/weirhq/weir/proxy"
)

// front starts a net/http server whose handler is a proxy to the given
// upstream, and returns the server's URL.
func front(t testing.TB, upstreamURL string, adjust ...func(*proxy.Proxy)) *httptest.Server {
	t.Helper()
	up, err := proxy.NewUpstream("test", upstreamURL)
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy.Proxy{Upstream: up}
	for _, f := range adjust {
		f(p)
	}
	s := httptest.NewServer(p)
	t.Cleanup(func() {
		s.Close()
		up.Close()
	})
	return s
}

func TestSmoke(t *testing.T) {
	back := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Got", r.Method+" "+r.RequestURI)
		w.Write(b)
		io.WriteString(w, "hello")
	}))
	defer back.Close()
	s := front(t, back.URL)
	for _, n := range []int{0, 10, 20000, 1 << 20, 5 << 20} {
		resp, err := http.Post(s.URL+"/a?b", "text/plain", strings.NewReader(strings.Repeat("x", n)))
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(resp.Body)
		t.Log(n, resp.Status, resp.Header, len(b), err)
		resp.Body.Close()
	}
	resp, err := http.Post(s.URL+"/a?b", "text/plain", io.MultiReader(strings.NewReader("chunked"), strings.NewReader("again")))
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(resp.Body)
	t.Log(resp.Status, resp.Header, string(b), err)
}
