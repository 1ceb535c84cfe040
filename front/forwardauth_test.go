package front_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/feature/basicauth"
	"github.com/weirhq/weir/front/feature/cors"
	"github.com/weirhq/weir/front/feature/edits"
	"github.com/weirhq/weir/front/feature/forwardauth"
	"github.com/weirhq/weir/front/feature/respond"
	"github.com/weirhq/weir/front/upstreams"
	"github.com/weirhq/weir/internal/testkit"
)

// asking returns a route that asks the upstream "auth".
func asking(match string) config.Route {
	route := config.DefaultRoute(match, "site")
	route.ForwardAuth = &forwardauth.Config{To: "auth", Path: "/verify?realm=x", Timeout: testTimeout,
		Copy: []string{"X-User", "X-Groups"}}
	return route
}

// authDoor starts a door with the upstreams "site" and "auth".
func authDoor(t *testing.T, site, auth string, adjust ...func(*config.Config)) *testDoor {
	t.Helper()
	return openDoor(t, site, append([]func(*config.Config){func(c *config.Config) {
		c.Upstreams = append(c.Upstreams, upstreams.Upstream{Name: "auth", Servers: []upstreams.Server{{URL: auth}}})
		c.Routes = []config.Route{asking("/{path...}"), config.DefaultRoute("/open", "site")}
	}}, adjust...)...)
}

// showRequest responds with the request: its line, Host and fields, sorted.
func showRequest(w http.ResponseWriter, r *http.Request) {
	lines := []string{r.Method + " " + r.RequestURI, "Host: " + r.Host, fmt.Sprint("Length: ", r.ContentLength)}
	for name, values := range r.Header {
		if name != "X-Request-Id" && name != "Traceparent" && name != "Forwarded" {
			lines = append(lines, name+": "+strings.Join(values, " | "))
		}
	}
	slices.Sort(lines)
	io.WriteString(w, strings.Join(lines, "\n"))
}

// TestForwardAuthAsksTheService checks the request that the service gets, and the one that the
// upstream gets then. Clients cannot set the fields of either.
func TestForwardAuthAsksTheService(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 10)
	auth := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		rec := new(strings.Builder)
		showRequest(responseText{w.Header(), rec}, r)
		asked <- rec.String()
		w.Header()["X-Groups"] = []string{"staff", "ops"}
		w.Header().Set("X-Secret", "of the service")
		if r.Header.Get("Cookie") == "s=alice" {
			w.Header().Set("x-user", "alice")
		}
		io.WriteString(w, strings.Repeat("ignored", 1000))
	})
	back := upstream(t, showRequest)
	d := authDoor(t, back.URL, auth.URL, func(c *config.Config) {
		few := asking("/few")
		few.ForwardAuth.Send = []string{"cookie"}
		c.Routes = append(c.Routes, few)
	})
	const spoof = "X-User: root\r\nx_user: root\r\nX-Groups: root\r\nX-Forwarded-Method: HEAD\r\n" +
		"X-Forwarded-Uri: /open\r\nX_Forwarded_Uri: /open\r\nX-Forwarded-For: 10.0.0.1\r\nX-Original-Url: /open\r\n"
	const forwarded = "X-Forwarded-For: 127.0.0.1\nX-Forwarded-Host: a.example\nX-Forwarded-Method: %s\n" +
		"X-Forwarded-Proto: http\nX-Forwarded-Uri: %s"
	for i, c := range []struct{ method, target, fields, body, asked, sent string }{
		{"GET", "/a?b=%0d%0aX-User:%20root", "Cookie: s=alice\r\n", "",
			"Cookie: s=alice\nGET /verify?realm=x\nHost: a.example\nLength: 0\n" +
				fmt.Sprintf(forwarded, "GET", "/a?b=%0d%0aX-User:%20root"),
			"Cookie: s=alice\nGET /a?b=%0d%0aX-User:%20root\nHost: a.example\nLength: 0\nX-Forwarded-For: 127.0.0.1\n" +
				"X-Forwarded-Host: a.example\nX-Forwarded-Proto: http\nX-Groups: staff | ops\nX-User: alice"},
		{"PUT", "/few", spoof + "Content-Length: 3\r\nContent-Type: text/plain\r\nCookie: s=x\r\n", "abc",
			"Cookie: s=x\nGET /verify?realm=x\nHost: a.example\nLength: 0\n" + fmt.Sprintf(forwarded, "PUT", "/few"),
			"Content-Length: 3\nContent-Type: text/plain\nCookie: s=x\nHost: a.example\nLength: 3\nPUT /few\n" +
				"X-Forwarded-For: 127.0.0.1\nX-Forwarded-Host: a.example\nX-Forwarded-Proto: http\nX-Groups: staff | ops\n" +
				"X-Original-Url: /open"},
		{"GET", "/y", spoof + "X_ORIGINAL_METHOD: HEAD\r\nX-Rewrite-URL: /open\r\nx-kept: 1\r\n", "",
			"GET /verify?realm=x\nHost: a.example\nLength: 0\n" + fmt.Sprintf(forwarded, "GET", "/y") + "\nX-Groups: root\n" +
				"X-Kept: 1\nX-User: root\nX_user: root",
			"GET /y\nHost: a.example\nLength: 0\nX-Forwarded-For: 127.0.0.1\nX-Forwarded-Host: a.example\n" +
				"X-Forwarded-Proto: http\nX-Groups: staff | ops\nX-Kept: 1\nX-Original-Url: /open\nX-Rewrite-Url: /open\n" +
				"X_original_method: HEAD"},
		{"POST", "/x", "Transfer-Encoding: chunked\r\nIf-None-Match: *\r\nRange: bytes=0-1\r\nTE: trailers\r\n",
			"3\r\nabc\r\n0\r\n\r\n",
			"GET /verify?realm=x\nHost: a.example\nLength: 0\n" + fmt.Sprintf(forwarded, "POST", "/x"),
			"Connection: TE\nHost: a.example\nIf-None-Match: *\nLength: -1\nPOST /x\nRange: bytes=0-1\nTe: trailers\n" +
				"X-Forwarded-For: 127.0.0.1\nX-Forwarded-Host: a.example\nX-Forwarded-Proto: http\nX-Groups: staff | ops"},
	} {
		resp, sent := ask(t, d.addr, c.method+" "+c.target+" HTTP/1.1\r\nHost: a.example\r\n"+c.fields+"\r\n"+c.body)
		if resp.StatusCode != 200 || sent != c.sent {
			t.Errorf("%d: %s; the upstream received\n%s\nwant\n%s", i, resp.Status, sent, c.sent)
		}
		if got := <-asked; got != c.asked {
			t.Errorf("%d: the service received\n%s\nwant\n%s", i, got, c.asked)
		}
		if resp.Header.Get("X-Secret") != "" {
			t.Errorf("%d: the client received a field of the service", i)
		}
	}
	if got := d.metric(t, `weir_upstream_duration_seconds_count{server="`+auth.URL+`",upstream="auth"}`); got != 4 {
		t.Errorf("%v durations of the service are measured, want 4", got)
	}
}

// TestForwardAuthSetsCookies checks that the client gets the cookies of a service that admits the request, beside those of
// the response, and that the upstream does not get them.
func TestForwardAuthSetsCookies(t *testing.T) {
	t.Parallel()
	auth := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Set-Cookie"] = []string{"session=2", "csrf=" + r.Header.Get("X-Forwarded-Uri")}
		w.Header().Set("X-User", "alice")
	})
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Set-Cookie", "cart=1")
		showRequest(w, r)
	})
	d := authDoor(t, back.URL, auth.URL, func(c *config.Config) {
		fixed := asking("/fixed")
		fixed.To, fixed.Respond = "", &respond.Config{Status: 200}
		c.Routes = append(c.Routes, fixed)
		for i := range c.Routes {
			if a := c.Routes[i].ForwardAuth; a != nil {
				a.Copy = []string{"X-User", "set-cookie"}
			}
		}
		c.Routes = append(c.Routes, asking("/without"))
	})
	for _, c := range []struct{ path, want string }{
		{"/a", "cart=1 session=2 csrf=/a"},
		{"/fixed", "session=2 csrf=/fixed"},
		{"/without", "cart=1"},
		{"/open", "cart=1"},
	} {
		resp, sent := ask(t, d.addr, "GET "+c.path+" HTTP/1.1\r\nHost: a.example\r\nSet-Cookie: a=client\r\n\r\n")
		if got := strings.Join(resp.Header["Set-Cookie"], " "); resp.StatusCode != 200 || got != c.want {
			t.Errorf("%s: %s, cookies %q, want %q", c.path, resp.Status, got, c.want)
		}
		if c.path == "/a" && (strings.Contains(sent, "Cookie") || !strings.Contains(sent, "X-User: alice")) {
			t.Errorf("%s: the upstream received\n%s", c.path, sent)
		}
	}
}

// TestRemovedFieldsStayRemovedWithEdits checks that fields that authentication and CORS remove stay removed in a
// route with edits, and that the service gets the request without the edits.
func TestRemovedFieldsStayRemovedWithEdits(t *testing.T) {
	t.Parallel()
	auth := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		if uri := r.Header.Get("X-Forwarded-Uri"); uri != "/a/b?c" || r.Header.Get("X-Env") != "client" {
			t.Errorf("the service received %q, %v", uri, r.Header)
		}
	})
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.Header().Set("Server", "bare")
		showRequest(w, r)
	})
	d := authDoor(t, back.URL, auth.URL, func(c *config.Config) {
		r := &c.Routes[0]
		r.BasicAuth = &basicauth.Config{Realm: "x", Users: []basicauth.User{{Name: "a", Hash: bcryptHash(t, "b", 4)}}}
		r.CORS = &cors.Config{Origins: []string{"https://app.example"}}
		r.Match, r.Rewrite.StripPrefix = "/a/{path...}", "/a"
		r.RequestHeaders = edits.Config{Set: []edits.Field{{Name: "X-Env", Value: "door"}}, Remove: []string{"X-Debug"}}
		r.ResponseHeaders = edits.Config{Remove: []string{"Server"}}
	})
	resp, sent := ask(t, d.addr, "GET /a/b?c HTTP/1.1\r\nHost: a.example\r\nX-User: root\r\nX-Env: client\r\nX-Debug: 1\r\n"+
		basic("a:b")+"\r\n")
	const want = "GET /b?c\nHost: a.example\nLength: 0\nX-Env: door\nX-Forwarded-For: 127.0.0.1\n" +
		"X-Forwarded-Host: a.example\n"
	if resp.StatusCode != 200 || !strings.HasPrefix(sent, want) || strings.Contains(sent, "root") {
		t.Errorf("%s; the upstream received\n%s\nwant\n%s", resp.Status, sent, want)
	}
	if resp.Header.Get("Access-Control-Allow-Origin") != "" || resp.Header.Get("Server") != "" {
		t.Errorf("the client received %v", resp.Header)
	}
}

// responseText is a ResponseWriter that keeps the body.
type responseText struct {
	header http.Header
	io.Writer
}

func (r responseText) Header() http.Header { return r.header }
func (r responseText) WriteHeader(int)     {}

// unreachable returns the handler of an upstream that gets no request.
func unreachable(t *testing.T) http.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) { t.Errorf("%s reached the upstream", r.RequestURI) }
}

// TestForwardAuthReturnsTheRefusal checks that the client gets the response of the service, that the
// upstream gets nothing, and that the body is not read.
func TestForwardAuthReturnsTheRefusal(t *testing.T) {
	t.Parallel()
	auth := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.Header.Get("X-Want") {
		case "login":
			w.Header().Add("Set-Cookie", "a=1")
			w.Header().Add("Set-Cookie", "b=2")
			w.Header().Set("Location", "https://login.example/?to="+r.Header.Get("X-Forwarded-Uri"))
			w.WriteHeader(302)
		case "unchanged":
			w.WriteHeader(304)
		default:
			w.Header().Set("Www-Authenticate", "Bearer")
			w.Header().Set("Content-Type", "text/html")
			w.Header().Set("X-Request-Id", "of-the-service")
			w.WriteHeader(401)
			io.WriteString(w, "<p>no")
			w.(http.Flusher).Flush()
			io.WriteString(w, "</p>")
		}
	})
	back := upstream(t, unreachable(t))
	d := authDoor(t, back.URL, auth.URL)
	for name, client := range map[string]*http.Client{"HTTP/1.1": httpClient(t), "HTTP/2": h2cClient(t)} {
		for _, c := range []struct {
			method, want, body string
			status             int
			text               string
			fields             http.Header
		}{
			{"GET", "", "", 401, "<p>no</p>", http.Header{"Www-Authenticate": {"Bearer"}, "Content-Type": {"text/html"}}},
			{"HEAD", "", "", 401, "", http.Header{"Www-Authenticate": {"Bearer"}}},
			{"POST", "", strings.Repeat("x", 5<<20), 401, "<p>no</p>", nil},
			{"GET", "login", "", 302, "",
				http.Header{"Set-Cookie": {"a=1", "b=2"}, "Location": {"https://login.example/?to=/x?%0d%0a"}}},
			{"GET", "unchanged", "", 304, "", nil},
		} {
			r, err := http.NewRequest(c.method, d.url("/x?%0d%0a"), strings.NewReader(c.body))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("X-Want", c.want)
			resp, text := do(t, client, r)
			if resp.StatusCode != c.status || text != c.text {
				t.Errorf("%s, %s %s: %s %q, want %d %q", name, c.method, c.want, resp.Status, text, c.status, c.text)
			}
			for field, values := range c.fields {
				if !slices.Equal(resp.Header[field], values) {
					t.Errorf("%s, %s %s: %s is %q, want %q", name, c.method, c.want, field, resp.Header[field], values)
				}
			}
			id := resp.Header.Values("X-Request-Id")
			if len(id) != 1 || id[0] == "of-the-service" {
				t.Fatalf("%s, %s %s: X-Request-Id is %q", name, c.method, c.want, id)
			}
			e := d.log.find(t, func(e event) bool { return e.TraceID == id[0] && e.HTTP.StatusCode != 0 })
			why := fmt.Sprint("forward_auth: auth responded with ", c.status)
			if e.Data["refused"] != why || e.Data["proxy_name"] != "auth" {
				t.Errorf("%s, %s %s: the log has %s", name, c.method, c.want, e.raw)
			}
		}
	}
	if got := d.metric(t, `weir_access_refusals_total{by="forward_auth",route="/{path...}"}`); got != 10 {
		t.Errorf("%v refusals are counted, want 10", got)
	}
}

// TestForwardAuthFailsClosed checks that no request is admitted if the service does not
// response completely.
func TestForwardAuthFailsClosed(t *testing.T) {
	t.Parallel()
	const head = "HTTP/1.1 200 OK\r\nX-User: root\r\n"
	end := newGate(t)
	auth := rawUpstream(t, func(c *rawConn) {
		r := c.request()
		if r == nil {
			return
		}
		switch strings.TrimPrefix(r.Header.Get("X-Forwarded-Uri"), "/") {
		case "silent":
			end.await(t)
		case "stalled-body":
			c.send(head + "Content-Length: 10\r\n\r\n12345")
			end.await(t)
		case "dripping":
			io.WriteString(c, head+"Content-Length: 100000\r\n\r\n")
			for range 10_000 {
				if _, err := io.WriteString(c, "x"); err != nil {
					return
				}
				select {
				case <-end.ch:
					return
				case <-time.After(50 * time.Millisecond):
				}
			}
		case "reset":
			c.SetLinger(0)
		case "closed":
		case "truncated":
			c.send(head + "Content-Length: 10\r\n\r\n12345")
		case "malformed":
			c.send("HTTP/1.1 2x0 OK\r\n\r\n")
		case "long", "long-refusal":
			status := "200"
			if r.Header.Get("X-Forwarded-Uri") != "/long" {
				status = "403"
			}
			io.WriteString(c, "HTTP/1.1 "+status+" OK\r\nContent-Length: 1073741824\r\n\r\n")
			io.Copy(c, endless{})
		case "endless":
			io.WriteString(c, "HTTP/1.1 403 No\r\n\r\n")
			io.Copy(c, endless{})
		case "switching":
			c.send("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
		case "informational":
			for range 10 {
				io.WriteString(c, "HTTP/1.1 103 Early Hints\r\nX-User: root\r\n\r\n")
			}
		}
	})
	back := upstream(t, unreachable(t))
	d := authDoor(t, back.URL, "http://"+auth, func(c *config.Config) {
		for _, path := range []string{"/silent", "/stalled-body", "/dripping"} {
			slow := asking(path)
			slow.ForwardAuth.Timeout = 300 * time.Millisecond
			c.Routes = append(c.Routes, slow)
		}
		c.Upstreams = append(c.Upstreams, upstreams.Upstream{Name: "dead", Servers: []upstreams.Server{{URL: "http://" + testkit.ClosedAddress(t)}}})
		dead := asking("/dead")
		dead.ForwardAuth.To = "dead"
		c.Routes = append(c.Routes, dead)
	})
	clients := map[string]*http.Client{"HTTP/1.1": httpClient(t), "HTTP/2": h2cClient(t)}
	for path, want := range map[string]struct {
		status int
		kind   string
	}{
		"silent": {504, "timeout"}, "stalled-body": {504, "timeout"}, "dripping": {504, "timeout"},
		"reset": {502, "reset"}, "closed": {502, "closed"}, "truncated": {502, "truncated"},
		"malformed": {502, "bad_answer"}, "long": {502, "bad_answer"}, "long-refusal": {502, "bad_answer"},
		"endless": {502, "bad_answer"}, "switching": {502, "bad_answer"}, "informational": {502, "bad_answer"},
		"dead": {502, "refused"},
	} {
		for name, client := range clients {
			t.Run(path+", "+name, func(t *testing.T) {
				r, err := http.NewRequest("POST", d.url("/"+path), strings.NewReader(strings.Repeat("x", 100_000)))
				if err != nil {
					t.Fatal(err)
				}
				resp, _ := do(t, client, r)
				id := resp.Header.Get("X-Request-Id")
				e := d.log.find(t, func(e event) bool { return e.TraceID == id && e.HTTP.StatusCode != 0 })
				if resp.StatusCode != want.status || e.Data["failure"] != want.kind {
					t.Errorf("%s with the failure %v, want %d, %s:\n%s", resp.Status, e.Data["failure"], want.status, want.kind,
						e.raw)
				}
				if e.Data["proxy_name"] != "auth" && path != "dead" ||
					!strings.HasPrefix(fmt.Sprint(e.Data["refused"]), "forward_auth: no response of ") {
					t.Errorf("the log does not name the service:\n%s", e.raw)
				}
			})
		}
	}
	end.open()
	if got := d.metric(t, `weir_upstream_errors_total{kind="timeout",upstream="auth"}`); got != 6 {
		t.Errorf("%v timeouts of the service are counted, want 6", got)
	}
}

// endless is a Reader that never ends.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

// TestForwardAuthEndsWithClient disconnects a client while the service is asked.
func TestForwardAuthEndsWithClient(t *testing.T) {
	t.Parallel()
	for name, client := range map[string]*http.Client{"HTTP/1.1": httpClient(t), "HTTP/2": h2cClient(t)} {
		t.Run(name, func(t *testing.T) {
			inside, left := newGate(t), newGate(t)
			auth := upstream(t, func(w http.ResponseWriter, r *http.Request) {
				inside.open()
				<-r.Context().Done()
				left.open()
			})
			d := authDoor(t, upstream(t, hello).URL, auth.URL)
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			r, err := http.NewRequestWithContext(ctx, "GET", d.url("/left"), nil)
			if err != nil {
				t.Fatal(err)
			}
			var asking sync.WaitGroup
			asking.Go(func() {
				if resp, err := client.Do(r); err == nil {
					resp.Body.Close()
					t.Errorf("a client that has left got %s", resp.Status)
				}
			})
			inside.await(t)
			leave()
			left.await(t)
			asking.Wait()
			if e := d.completed(t, "/left"); e.HTTP.StatusCode != 499 || e.Data["failure"] != "client_gone" {
				t.Errorf("the log has %s", e.raw)
			}
		})
	}
}

// TestForwardAuthDoesNotBlock has the service wait for another request of the same door, on
// any loop.
func TestForwardAuthDoesNotBlock(t *testing.T) {
	t.Parallel()
	var d *testDoor
	auth := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		for range 8 {
			resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Get(d.url("/open"))
			if err != nil {
				t.Error(err)
				return
			}
			resp.Body.Close()
		}
	})
	d = authDoor(t, upstream(t, hello).URL, auth.URL)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			c, err := net.Dial("tcp", d.addr)
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			c.SetDeadline(time.Now().Add(testTimeout))
			io.WriteString(c, "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
			if b, err := io.ReadAll(c); err != nil || !strings.HasPrefix(string(b), "HTTP/1.1 200") {
				t.Errorf("%q, %v", b, err)
			}
		})
	}
	all.Wait()
}

// TestForwardAuthDoesNotGetThePassword checks a route with both kinds of authentication: the
// service does not get the password. Bodies of admitted requests arrive completely.
func TestForwardAuthDoesNotGetThePassword(t *testing.T) {
	t.Parallel()
	auth := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" || r.Header.Get("X-Name") != "alice" {
			t.Errorf("the service received %v", r.Header)
		}
		w.WriteHeader(204)
	})
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		n, err := io.Copy(io.Discard, r.Body)
		fmt.Fprintln(w, n, err, r.Header["Authorization"])
	})
	d := authDoor(t, back.URL, auth.URL, func(c *config.Config) {
		c.Routes[0].BasicAuth = &basicauth.Config{Realm: "x", UserHeader: "X-Name",
			Users: []basicauth.User{{Name: "alice", Hash: bcryptHash(t, "swordfish", 4)}}}
	})
	for name, client := range map[string]*http.Client{"HTTP/1.1": httpClient(t), "HTTP/2": h2cClient(t)} {
		for _, size := range []int{0, 3, 100_000, 3 << 20} {
			r, err := http.NewRequest("POST", d.url("/"), strings.NewReader(strings.Repeat("x", size)))
			if err != nil {
				t.Fatal(err)
			}
			r.SetBasicAuth("alice", "swordfish")
			if resp, text := do(t, client, r); resp.StatusCode != 200 || text != fmt.Sprintln(size, nil, "[]") {
				t.Errorf("%s, %d bytes: %s %q", name, size, resp.Status, text)
			}
		}
	}
}
