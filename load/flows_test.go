package load_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirhq/weir/load"
	"github.com/weirhq/weir/load/flow"
	"github.com/weirhq/weir/load/pace"
	"github.com/weirhq/weir/load/target"
)

// A shop is a server for flows. Each login makes a session, and every other request needs its cookie and its token.
type shop struct {
	mu       sync.Mutex
	setups   int
	sessions map[string]string // the user of each session
	paths    map[string]int    // requests
	wrong    []string
}

func newShop() *shop { return &shop{sessions: make(map[string]string), paths: make(map[string]int)} }

func (s *shop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.paths[r.Method+" "+r.URL.Path]++
	bad := func(what string) {
		s.wrong = append(s.wrong, r.Method+" "+r.RequestURI+": "+what)
		w.WriteHeader(http.StatusForbidden)
	}
	switch r.URL.Path {
	case "/setup":
		s.setups++
		w.Header().Set("X-Shop", "shop/1")
		io.WriteString(w, "ok")
	case "/login":
		if r.Header.Get("Cookie") != "" || r.URL.Query().Get("shop") != "shop/1" {
			bad("a new visitor, with cookies " + r.Header.Get("Cookie"))
			return
		}
		var in struct{ User string }
		json.Unmarshal(body, &in)
		session := fmt.Sprintf("s%d", len(s.sessions))
		s.sessions[session] = in.User
		http.SetCookie(w, &http.Cookie{Name: "session", Value: session, Path: "/"})
		http.SetCookie(w, &http.Cookie{Name: "elsewhere", Value: "x", Path: "/other"})
		fmt.Fprintf(w, `{"token": "t %s", "n": 9007199254740993}`, session)
	default:
		session, err := r.Cookie("session")
		switch {
		case err != nil || s.sessions[session.Value] == "":
			bad("no session")
		case len(r.Cookies()) != 1:
			bad("cookies of another path")
		case r.Header.Get("X-Token") != "t "+session.Value:
			bad("the token of another session")
		case string(body) != "n=9007199254740993&user="+s.sessions[session.Value]:
			bad(string(body))
		}
		fmt.Fprintf(w, "<a href='/item/%s'>", session)
	}
}

func parseFlows(t *testing.T, text string) *flow.Page {
	t.Helper()
	p, err := flow.Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

const shopFlows = `
setup:
  - {name: shop, request: GET /setup}
flows:
  - name: buy
    weight: 3
    steps:
      - name: login
        request: POST /login?shop={{from "shop" "header X-Shop"}}
        body: '{"user": "u{{seq}}"}'
        expect: $.token
      - name: order
        request: POST /order
        headers: ['X-Token: {{from "login" "$.token"}}']
        body: n={{from "login" "$.n"}}&user=u{{seq}}
        think: 1ms-2ms
  - name: look
    steps:
      - {name: login, request: 'POST /login?shop={{from "shop" "header X-Shop"}}', body: '{"user": "l{{seq}}"}'}
`

// TestUsersExecuteFlows checks the requests that a server gets: each user has a session of its own, values come from its
// own responses, the setup is sent once, and the flows have their weights.
func TestUsersExecuteFlows(t *testing.T) {
	for _, c := range []struct {
		name string
		how  func(*httptest.Server)
		plan load.Plan
	}{
		{"HTTP/1.1", func(*httptest.Server) {}, load.Plan{}},
		{"new connections", func(*httptest.Server) {}, load.Plan{NoKeepAlive: true}},
		{"HTTP/2", func(s *httptest.Server) { s.EnableHTTP2 = true }, load.Plan{Protocol: load.HTTP2, Pipeline: 3}},
		{"after a warm-up", func(*httptest.Server) {}, load.Plan{WarmUp: 50 * time.Millisecond}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			backend := newShop()
			s := newCounter(t, backend.ServeHTTP, c.how)
			p := c.plan
			p.Targets, p.Flows, p.Connections, p.Threads, p.Process = []target.Target{{URL: s.URL}}, parseFlows(t, shopFlows), 1, 1, -1
			p.Requests = 70 // ten times three flows with two requests and one with one
			if p.WarmUp > 0 {
				p.Connections = 4
			}
			if s.TLS != nil {
				p.TLS = s.Client().Transport.(*http.Transport).TLSClientConfig
			}
			r := run(t, p)
			backend.mu.Lock()
			defer backend.mu.Unlock()
			if r.Requests != 70 || r.Status["2xx"] != 70 || len(backend.wrong) > 0 || backend.setups != 1 {
				t.Fatalf("%d answered with %v, errors %v; the server had %d setups and refused %q", r.Requests, r.Status, r.Errors,
					backend.setups, backend.wrong)
			}
			warmed := int64(0)
			if r.WarmUp != nil {
				warmed = r.WarmUp.Sent
			}
			if n := s.asked.Load(); n != 70+1+warmed {
				t.Errorf("the server got %d requests, want 70, %d of the warm-up and the setup", n, warmed)
			}
			var steps []string
			for _, step := range r.Targets {
				steps = append(steps, fmt.Sprintf("%s %s %s %d", step.Step, step.Method, step.Path, step.Sent))
			}
			path := `/login?shop={{from "shop" "header X-Shop"}}`
			path, _, _ = strings.Cut(path, "?")
			want := fmt.Sprintf("buy/login POST %s 30|buy/order POST /order 30|look/login POST %[1]s 10", path)
			if got := strings.Join(steps, "|"); p.Pipeline < 2 && warmed == 0 && got != want {
				t.Errorf("the steps are %s\nwant %s", got, want)
			}
		})
	}
}

// TestUserLeavesAFlowAfterAFailure sends flows to a server that fails in several ways. Each failure has the name of its
// step, and the user does not send the steps behind it.
func TestUserLeavesAFlowAfterAFailure(t *testing.T) {
	var mu sync.Mutex
	n := 0
	s := newCounter(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if r.URL.Path != "/first" {
			return
		}
		switch n++; n % 5 {
		case 0:
			w.WriteHeader(503)
			io.WriteString(w, `{"id": 1}`)
		case 1:
			io.WriteString(w, `{"other": 1}`)
		case 2:
			io.WriteString(w, `{"id": "a\nb"}`)
		case 3:
			panic(http.ErrAbortHandler)
		default:
			io.WriteString(w, `{"id": 1}`)
		}
	})
	r := run(t, load.Plan{Targets: []target.Target{{URL: s.URL}}, Connections: 1, Threads: 1, Requests: 60, Process: -1, Flows: parseFlows(t, `
flows:
  - name: f
    steps:
      - {name: first, request: GET /first, expect: status 200}
      - {name: second, request: GET /second, headers: ['X-Id: {{from "first" "$.id"}}']}
`)})
	want := map[string]int64{"f/first: unexpected status": 10, "f/first: no value $.id": 20, "eof": 10}
	if r.Requests != 20 || r.Failed != 40 || r.Wrong != 30 || fmt.Sprint(r.Errors) != fmt.Sprint(want) {
		t.Errorf("%d answered, %d failed, %d wrong, errors %v\nwant 20, 40, 30, %v", r.Requests, r.Failed, r.Wrong, r.Errors, want)
	}
	if got := r.ErrorExamples["f/first: unexpected status"]; got != "unexpected status 503" {
		t.Errorf("the example is %q", got)
	}
	for i, sent := range []int64{50, 10} {
		if got := r.Targets[i]; got.Sent != sent || got.Requests != 10 {
			t.Errorf("step %s: %d sent and %d answered, want %d and 10", got.Step, got.Sent, got.Requests, sent)
		}
	}
}

// TestSetupMustSucceed checks that nothing of the load is sent after a failed setup.
func TestSetupMustSucceed(t *testing.T) {
	s := newCounter(t, func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(503) })
	for text, want := range map[string]string{
		"{name: s, request: GET /}":                       `load: the setup's step "s": the status is 503`,
		"{name: s, request: GET /, expect: size 5}":       `load: the setup's step "s": the body has 0 bytes`,
		"{name: s, request: GET /, expect: [status 503]}": `load: the setup's step "s": the body has no $.a`,
	} {
		before := s.asked.Load()
		p := load.Plan{Targets: []target.Target{{URL: s.URL}}, Process: -1, Flows: parseFlows(t, "setup: ["+text+"]\n"+
			"flows: [{name: f, steps: [{name: a, request: 'GET /{{from \"s\" \"$.a\"}}'}]}]\n")}
		if !strings.Contains(text, "503") {
			p.Flows.Flows[0].Steps[0].Target.URL = "/"
		}
		_, err := load.Run(t.Context(), p)
		if err == nil || err.Error() != want || s.asked.Load() != before+1 {
			t.Errorf("%s: got error %v after %d requests, want %s", text, err, s.asked.Load()-before, want)
		}
	}
}

// TestUserWhoThinksEndsWithTheRun ends runs while all users think for an hour.
func TestUserWhoThinksEndsWithTheRun(t *testing.T) {
	s := newCounter(t, hello)
	p := load.Plan{Targets: []target.Target{{URL: s.URL}}, Connections: 3, Process: -1, Flows: parseFlows(t, `
flows: [{name: f, steps: [{name: a, request: GET /}, {name: b, request: GET /, think: 1h}]}]
`)}
	p.Duration = 300 * time.Millisecond
	if r := run(t, p); r.Requests != 3 {
		t.Errorf("%d answered, want 3", r.Requests)
	}
	p.Duration, p.Requests = time.Hour, 3
	if r := run(t, p); r.Requests != 3 {
		t.Errorf("%d answered, want 3", r.Requests)
	}
	p.Requests = 0
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p.Progress = func(now load.Progress) {
		if now.Requests == 3 {
			cancel()
		}
	}
	if r, err := load.Run(ctx, p); err != nil || !r.Interrupted || r.Requests != 3 {
		t.Errorf("the interrupted run: %+v, %v", r, err)
	}
}

func TestPlanWithFlowsIsChecked(t *testing.T) {
	page := parseFlows(t, "flows: [{name: f, steps: [{name: a, request: GET /}]}]\n")
	one := []target.Target{{URL: "http://a.example"}}
	for name, p := range map[string]load.Plan{
		"a pace":      {Targets: one, Flows: page, Pace: pace.Rate(1)},
		"two targets": {Targets: append(one, one...), Flows: page},
		"a pipeline":  {Targets: one, Flows: page, Pipeline: 2},
		"no flow":     {Targets: one, Flows: &flow.Page{}},
	} {
		if err := p.Check(); err == nil || !strings.Contains(err.Error(), "a plan with Flows has") {
			t.Errorf("%s: %v", name, err)
		}
	}
	p := load.Plan{Targets: []target.Target{{URL: "http://a.example/{{from \"a\" \"$.b\"}}"}}}
	if err := p.Check(); err == nil || !strings.Contains(err.Error(), "{{from}} is for the steps of --flows") {
		t.Errorf("{{from}} without flows: %v", err)
	}
}
