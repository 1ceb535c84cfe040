package main

import (
	"io"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/testkit"
)

// TestAccessExampleRuns runs examples/access and sends the requests in its comments.
func TestAccessExampleRuns(t *testing.T) {
	t.Parallel()
	const file = "../../examples/access/weir.yaml"
	site := testkit.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "user "+r.Header.Get("X-User")+r.Header.Get("Authorization"))
	}))
	login := testkit.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		session, err := r.Cookie("session")
		switch {
		case r.URL.Path != "/verify":
		case err != nil:
			http.Redirect(w, r, "/login/form?to="+r.Header.Get("X-Forwarded-Uri"), http.StatusFound)
		default:
			w.Header().Set("X-User", session.Value)
		}
	}))
	p := prepare(t, "serve", "--config", file, "--listen", "127.0.0.1:0", "--admin", "off")
	p.cmd.Env = append(p.cmd.Env, "SITE_URL="+site.URL, "LOGIN_URL="+login.URL)
	if err := p.start(); err != nil {
		t.Fatal(err)
	}
	c := client(t)
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	requests := regexp.MustCompile(`# ([A-Z]+) (\S+)(?: with (.*))? -> (\d+)`).FindAllStringSubmatch(string(text), -1)
	if len(requests) < 12 {
		t.Fatalf("%d requests in the comments", len(requests))
	}
	for _, r := range requests {
		method, target, fields, status := r[1], r[2], r[3], r[4]
		req, err := http.NewRequest(method, p.url()+target, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-User", "root")
		for field := range strings.SplitSeq(fields, ", ") {
			if name, value, ok := strings.Cut(field, ": "); ok {
				req.Header.Set(name, value)
			}
		}
		a := do(t, c, req)
		if strconv.Itoa(a.StatusCode) != status {
			t.Errorf("%s: %s", r[0], a.Status)
		}
		named := strings.HasPrefix(target, "/staff/") || strings.HasPrefix(target, "/account/")
		if named && status == "200" && a.body != "user alice" {
			t.Errorf("%s: the upstream received the %s", r[0], a.body)
		}
		if origin := req.Header.Get("Origin"); a.Header.Get("Access-Control-Allow-Origin") != origin {
			t.Errorf("%s: the fields are %v", r[0], a.Header)
		}
	}
}
