package main

import (
	"net/http"
	"os"
	"regexp"
	"testing"

	"github.com/weirhq/weir/internal/backend"
	"github.com/weirhq/weir/internal/testkit"
)

// TestONSExampleRuns runs examples/ons with a substitute for each of its services, and
// sends the requests of its README and some with a different X-Frame-Options.
func TestONSExampleRuns(t *testing.T) {
	t.Parallel()
	const folder = "../../examples/ons/"
	config, err := os.ReadFile(folder + "weir.yaml")
	if err != nil {
		t.Fatal(err)
	}
	p := prepare(t, "serve", "--config", folder+"weir.yaml", "--listen", "127.0.0.1:0", "--admin", "off")
	services := regexp.MustCompile(`(?m)^  ([a-z-]+): \{servers: \["\$\{(\w+):-`).FindAllStringSubmatch(
		string(config), -1)
	for _, service := range services {
		name, variable := service[1], service[2]
		s := testkit.Serve(t, backend.Handler(backend.Options{Header: http.Header{"X-Answered-By": {name}}}))
		p.cmd.Env = append(p.cmd.Env, variable+"="+s.URL)
	}
	if err := p.start(); err != nil {
		t.Fatal(err)
	}

	readme, err := os.ReadFile(folder + "README.md")
	if err != nil {
		t.Fatal(err)
	}
	requests := regexp.MustCompile(
		`curl -si (?:-X (\w+) )?http://127\.0\.0\.1:20000(\S*).*# ([a-z-]+)`).FindAllStringSubmatch(string(readme), -1)
	if len(services) < 8 || len(requests) < 5 {
		t.Fatalf("%d services in the configuration, %d requests in the README", len(services), len(requests))
	}
	c := client(t)
	for i, request := range requests {
		method, target, name := request[1], request[2], request[3]
		req, err := http.NewRequest(method, p.url()+target, nil)
		if err != nil {
			t.Fatal(err)
		}
		if a := do(t, c, req); a.StatusCode != 200 || a.Header.Get("X-Answered-By") != name {
			t.Errorf("%s %s: %s by %q, want 200 by %s", method, target, a.Status, a.Header.Get("X-Answered-By"), name)
		}
		for _, e := range p.events(3 * (i + 1))[3*i:] {
			if e.Event == proxying && e.Data["proxy_name"] != name {
				t.Errorf("%s %s: the log has the upstream %v, want %s", method, target, e.Data["proxy_name"], name)
			}
		}
	}
	redirects := regexp.MustCompile(`curl -si http://127\.0\.0\.1:20000(\S*).*# => (\S+)`).FindAllStringSubmatch(
		string(readme), -1)
	if len(redirects) < 2 {
		t.Fatalf("%d redirects in the README", len(redirects))
	}
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	for _, redirect := range redirects {
		target, location := redirect[1], redirect[2]
		req, err := http.NewRequest("GET", p.url()+target, nil)
		if err != nil {
			t.Fatal(err)
		}
		if a := do(t, c, req); a.Header.Get("Location") != location {
			t.Errorf("%s leads to %q, want %s", target, a.Header.Get("Location"), location)
		}
	}
	for path, want := range map[string]string{"/": "SAMEORIGIN", "/a.css": "SAMEORIGIN", "/searchdata?q=a": "SAMEORIGIN",
		"/embed": "", "/visualisations/a": "", "/census/maps/a": ""} {
		req, err := http.NewRequest("GET", p.url()+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if a := do(t, c, req); a.Header.Get("X-Frame-Options") != want {
			t.Errorf("%s: X-Frame-Options %q, want %q", path, a.Header.Get("X-Frame-Options"), want)
		}
	}
}
