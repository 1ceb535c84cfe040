package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/backend"
	"github.com/weirhq/weir/internal/testkit"
)

func TestHostsExampleRuns(t *testing.T) { testRoutesExample(t, "../../examples/hosts/weir.yaml", 13) }
func TestConditionsExampleRuns(t *testing.T) {
	testRoutesExample(t, "../../examples/conditions/weir.yaml", 14)
}

// testRoutesExample checks an example, sends the requests in its comments, of which there
// are n, and compares the result with weir check --explain. A comment is one of
//
//	# METHOD URL [with FIELD: VALUE [and FIELD: VALUE]...] -> UPSTREAM
//	# METHOD URL [with ...] => STATUS [LOCATION]
func testRoutesExample(t *testing.T, file string, n int) {
	t.Parallel()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if out, code := check(t, file); code != 0 {
		t.Fatalf("weir check %s: %s", file, out)
	}
	p := prepare(t, "serve", "--config", file, "--listen", "127.0.0.1:0", "--admin", "off")
	for _, service := range regexp.MustCompile(`(?m)^  ([a-z0-9-]+): \{servers: \["\$\{(\w+):-`).FindAllStringSubmatch(
		string(text), -1) {
		name, variable := service[1], service[2]
		s := testkit.Serve(t, backend.Handler(backend.Options{Header: http.Header{"X-Answered-By": {name}}}))
		p.cmd.Env = append(p.cmd.Env, variable+"="+s.URL)
	}
	if err := p.start(); err != nil {
		t.Fatal(err)
	}
	c := client(t)
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	requests := regexp.MustCompile(`(?m)^ *# ([A-Z]+) (\S+)(?: with (.*))? ([-=]>) (.*)$`).FindAllStringSubmatch(string(text), -1)
	if len(requests) != n {
		t.Errorf("%d requests in the comments, want %d", len(requests), n)
	}
	for _, r := range requests {
		method, url, fields, want := r[1], r[2], strings.Split(r[3], " and "), r[5]
		host, target, _ := strings.Cut(url, "/")
		req, err := http.NewRequest(method, p.url()+"/"+target, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = host
		args := []string{file, "--json", "--explain", method + " " + url}
		for _, f := range fields {
			if name, value, found := strings.Cut(f, ": "); found {
				req.Header.Set(name, value)
				args = append(args, "-H", f)
			}
		}
		a := do(t, c, req)
		got := a.Header.Get("X-Answered-By")
		if r[4] == "=>" {
			got = strings.TrimSpace(fmt.Sprint(a.StatusCode, " ", a.Header.Get("Location")))
		}
		if got != want {
			t.Errorf("%s: %s, %s, want %s", r[0], got, a.Status, want)
		}
		if to := explained(t, args...); r[4] == "->" && to != want {
			t.Errorf("%s: weir check --explain says %q, want %s", r[0], to, want)
		}
	}
}

// check runs weir check.
func check(t *testing.T, args ...string) (out string, code int) {
	t.Helper()
	p := prepare(t, append([]string{"check"}, args...)...)
	p.cmd.Stdout = nil
	text, err := p.cmd.Output()
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		return string(text), exit.ExitCode()
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(text), 0
}

// explained returns the upstream of the chosen route in an explanation.
func explained(t *testing.T, args ...string) string {
	t.Helper()
	out, code := check(t, args...)
	var document struct {
		Explanation struct {
			Routes []struct {
				Chosen   bool
				Settings []struct{ Key, Value string }
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &document); err != nil || code != 0 {
		t.Fatalf("weir check %q: %d, %v, %s", args, code, err, out)
	}
	for _, r := range document.Explanation.Routes {
		for _, s := range r.Settings {
			if r.Chosen && s.Key == "to" {
				return s.Value
			}
		}
	}
	return ""
}
