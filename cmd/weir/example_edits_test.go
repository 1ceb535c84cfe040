package main

import (
	"net/http"
	"os"
	"regexp"
	"testing"

	"github.com/weirhq/weir/internal/testkit"
)

// TestEditsExampleRuns runs examples/edits and sends the requests in its comments.
func TestEditsExampleRuns(t *testing.T) {
	t.Parallel()
	const file = "../../examples/edits/weir.yaml"
	received := make(chan *http.Request, 1)
	s := testkit.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		received <- r
		w.Header().Set("Server", "bare")
	}))
	p := prepare(t, "serve", "--config", file, "--listen", "127.0.0.1:0", "--admin", "off")
	p.cmd.Env = append(p.cmd.Env, "SITE_URL="+s.URL)
	if err := p.start(); err != nil {
		t.Fatal(err)
	}
	c := client(t)
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	ask := func(target, host string, header http.Header) (answer, *http.Request) {
		t.Helper()
		req, err := http.NewRequest("GET", p.url()+target, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = host
		for name, values := range header {
			req.Header[name] = values
		}
		a := do(t, c, req)
		select {
		case up := <-received:
			return a, up
		default:
			return a, nil
		}
	}

	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	forwarded := regexp.MustCompile(`# GET (\S+) -> (\S+)`).FindAllStringSubmatch(string(text), -1)
	redirected := regexp.MustCompile(`# GET (\S+) (?:with (\S+): (\S+) )?=> (\S+)`).FindAllStringSubmatch(string(text), -1)
	if len(forwarded) < 4 || len(redirected) < 4 {
		t.Fatalf("%d forwarded and %d redirected requests in the comments", len(forwarded), len(redirected))
	}
	for _, r := range forwarded {
		if _, up := ask(r[1], "", nil); up == nil || up.RequestURI != r[2] {
			t.Errorf("%s reaches the upstream as %v, want %s", r[1], up, r[2])
		}
	}
	for _, r := range redirected {
		header := http.Header{}
		if r[2] != "" {
			header.Set(r[2], r[3])
		}
		if a, _ := ask(r[1], "shop.example", header); a.Header.Get("Location") != r[4] {
			t.Errorf("%s leads to %q, want %s", r[1], a.Header.Get("Location"), r[4])
		}
	}

	a, up := ask("/api/x", "", http.Header{"X-Debug": {"1"}, "X-Env": {"mine"}, "Via": {"client"}})
	if up == nil {
		t.Fatal("/api/x does not reach the upstream")
	}
	for name, want := range map[string][]string{"X-Env": {"prod"}, "X-Forwarded-Prefix": {"/api"},
		"X-Real-Ip": {"127.0.0.1"},
		"Via":       {"client", "weir"}, "X-Debug": nil} {
		if got := up.Header[name]; len(got) != len(want) || len(want) > 0 && got[len(want)-1] != want[len(want)-1] {
			t.Errorf("the upstream received %s: %q, want %q", name, got, want)
		}
	}
	for name, want := range map[string]string{"X-Door": "weir", "X-Frame-Options": "DENY", "Vary": "Origin",
		"Server": ""} {
		if got := a.Header.Get(name); got != want {
			t.Errorf("the client received %s: %q, want %q", name, got, want)
		}
	}
	if _, up := ask("/x", "blue.example.com", nil); up == nil || up.Host != "blue.internal" ||
		up.Header.Get("X-Tenant") != "blue" || up.RequestURI != "/tenants/x" {
		t.Errorf("the upstream received %v of a tenant", up)
	}
	if a, _ := ask("/docs/a", "", nil); a.Header.Get("Cache-Control") != "max-age=3600" {
		t.Errorf("the redirect has the fields %v", a.Header)
	}
}
