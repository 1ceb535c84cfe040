package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirhq/weir/internal/testkit"
)

// corsPage sends the requests that it gets from the test, and returns the results: the status
// and the field X-Total of a response, or "blocked".
const corsPage = `<!doctype html><script>
(async () => {
  const results = {}
  for (const [name, url, options] of await (await fetch("/requests")).json()) {
    try {
      const r = await fetch(url, options)
      results[name] = r.status + " " + r.headers.get("X-Total")
    } catch { results[name] = "blocked" }
  }
  await fetch("/results", {method: "POST", body: JSON.stringify(results)})
})()
</script>`

// TestBrowserAcceptsCORS loads a page in Chromium, from an allowed origin and from another one. The
// page sends requests to a door.
func TestBrowserAcceptsCORS(t *testing.T) {
	t.Parallel()
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("this test loads a page in Chromium: install Debian's chromium")
	}
	site := testkit.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Total", "7")
		w.Header().Set("X-Hidden", "1")
		if r.URL.Path == "/users/" {
			t.Error("a request without a password reached the upstream")
		}
	}))
	results := make(chan map[string]string, 1)
	var requests atomic.Value // []byte
	page := func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			w.Header().Set("Content-Type", "text/html")
			io.WriteString(w, corsPage)
		case "/requests":
			w.Write(requests.Load().([]byte))
		case "/results":
			var got map[string]string
			if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
				t.Error(err)
			}
			results <- got
		}
	}
	allowed, other := httptest.NewServer(http.HandlerFunc(page)), httptest.NewServer(http.HandlerFunc(page))
	t.Cleanup(allowed.Close)
	t.Cleanup(other.Close)
	const rules = "cors: {origins: [%[2]q], allow_methods: [GET, PUT], allow_headers: [Content-Type], expose_headers: [X-Total], " +
		"credentials: true}"
	p := start(t, "serve", "--admin", "off", "--listen", "127.0.0.1:0", "--config", configFile(t, fmt.Sprintf(`
upstreams:
  site: {servers: [%[1]q]}
  dead: {servers: ["http://127.0.0.1:1"], connect_wait: off}
routes:
  - {match: "/data/{path...}", to: site, `+rules+`}
  - {match: "/users/{path...}", to: site, basic_auth: {users: {alice: `+exampleHash+`}}, `+rules+`}
  - {match: "/failing/{path...}", to: dead, `+rules+`}
  - {match: "/rare/{path...}", to: site, limits: {rate: {limit: 1/h, burst: 1}}, `+rules+`}
  - {match: "/{path...}", to: site}
`, site.URL, allowed.URL)))
	type options map[string]any
	list, err := json.Marshal([][]any{
		{"get", p.url() + "/data/", options{}},
		{"get with cookies", p.url() + "/data/", options{"credentials": "include"}},
		{"put", p.url() + "/data/", options{"method": "PUT", "headers": options{"Content-Type": "application/json"}}},
		{"delete", p.url() + "/data/", options{"method": "DELETE"}},
		{"put with another header", p.url() + "/data/", options{"method": "PUT", "headers": options{"X-Other": "1"}}},
		{"without cors", p.url() + "/", options{}},
		{"without password", p.url() + "/users/", options{"method": "PUT"}},
		{"without upstream", p.url() + "/failing/", options{"method": "PUT"}},
		{"first of two", p.url() + "/rare/", options{}},
		{"second of two", p.url() + "/rare/", options{}},
	})
	if err != nil {
		t.Fatal(err)
	}
	requests.Store(list)
	blocked := map[string]string{"get": "blocked", "get with cookies": "blocked", "put": "blocked", "delete": "blocked",
		"put with another header": "blocked", "without cors": "blocked", "without password": "blocked",
		"without upstream": "blocked", "first of two": "blocked", "second of two": "blocked"}
	for _, from := range []struct {
		server *httptest.Server
		want   map[string]string
	}{
		{allowed, map[string]string{"get": "200 7", "get with cookies": "200 7", "put": "200 7", "delete": "blocked",
			"put with another header": "blocked", "without cors": "blocked", "without password": "401 null",
			"without upstream": "502 null", "first of two": "200 7", "second of two": "429 null"}},
		{other, blocked},
	} {
		ctx, kill := context.WithTimeout(t.Context(), 2*patience)
		defer kill()
		browser := exec.CommandContext(ctx, chromium, "--headless", "--no-sandbox", "--disable-gpu",
			"--user-data-dir="+t.TempDir(), "--remote-debugging-port=0", from.server.URL)
		if err := browser.Start(); err != nil {
			t.Fatal(err)
		}
		select {
		case got := <-results:
			if diff := cmp.Diff(from.want, got); diff != "" {
				t.Errorf("the page of %s (-want +got):\n%s", from.server.URL, diff)
			}
		case <-time.After(patience):
			t.Error("the page has no results")
		}
		browser.Process.Signal(os.Interrupt) // so that all of its processes end
		browser.Wait()
	}
}

// exampleHash is the hash of a password with the least cost.
const exampleHash = "$2y$05$vktC5YEWNql0blcYYfvUS.A1aue9l1Tk9RH3MYPleT53SEhC0BurG"
