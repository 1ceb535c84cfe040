package front_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/feature/access"
	"github.com/weirhq/weir/front/feature/edits"
	"github.com/weirhq/weir/front/feature/httpsredirect"
	"github.com/weirhq/weir/front/feature/redirects"
	"github.com/weirhq/weir/front/feature/respond"
	"github.com/weirhq/weir/internal/testkit"
)

// routing returns a function that adds a route to the upstream "site" to a configuration.
func routing(match string, adjust func(r *config.Route)) func(*config.Config) {
	return func(c *config.Config) {
		r := config.DefaultRoute(match, "site")
		adjust(&r)
		c.Routes = append(c.Routes, r)
	}
}

// recordTarget responds with the target and the Host of the request.
func recordTarget(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Got", r.RequestURI)
	w.Header().Set("X-Host", r.Host)
}

func TestTargetsAreRewritten(t *testing.T) {
	t.Parallel()
	back := upstream(t, recordTarget)
	d := openDoor(t, back.URL,
		routing("/api/{path...}", func(r *config.Route) { r.Rewrite.StripPrefix = "/api" }),
		routing("/exact", func(r *config.Route) { r.Rewrite.StripPrefix = "/exact" }),
		routing("/v1/{path...}", func(r *config.Route) { r.Rewrite.StripPrefix, r.Rewrite.AddPrefix = "/v1", "/v2" }),
		routing("/add/{path...}", func(r *config.Route) { r.Rewrite.AddPrefix = "/more" }),
		routing("/users/{id}/{page}", func(r *config.Route) { r.Rewrite.To = "/{page}?user={id}&{request.query}" }),
		routing("/wild/{path...}", func(r *config.Route) { r.Rewrite.To = "/new/{path}" }),
		routing("/short/v{id}", func(r *config.Route) { r.Rewrite.To = "/{id}?" }),
		routing("{tenant}.example.com/{path...}", func(r *config.Route) { r.Rewrite.To = "/tenants/{tenant}/{path}" }),
	)
	for _, c := range []struct {
		target, host, want string // want is "" for a refusal
	}{
		{"/api/a%2Fb/%E2%82%AC?x=%2F&y", "a", "/a%2Fb/%E2%82%AC?x=%2F&y"},
		{"/%61pi/x", "a", "/x"},
		{"/api/", "a", "/"},
		{"/api/?", "a", "/?"},
		{"/api/a//b/", "a", "/a//b/"},
		{"/exact?x", "a", "/?x"},
		{"/v1/a%20b?x", "a", "/v2/a%20b?x"},
		{"/add/%41", "a", "/more/add/%41"},
		{"/users/a&b=c%26/p%2fq?x=1", "a", "/p%2fq?user=a%26b%3Dc%26&x=1"},
		{"/wild/a/b?x", "a", "/new/a/b?x"},
		{"/wild/", "a", "/new/"},
		{"/short/vx?y", "a", "/x"},
		{"/a%2Fb", "blue.example.com", "/tenants/blue/a%2Fb"},
		{"/unchanged?x", "a", "/unchanged?x"},

		{"/api//admin", "a", ""},
		{"/api/%2Fadmin", "a", ""},
		{"/api/%2fadmin", "a", ""},
		{"/wild//admin", "a", ""},
		{"/short/v..", "a", ""},
		{"/short/v%2e%2E", "a", ""},
		{"/users/x/%0d%0aX:y", "a", ""},
		{"/users/x%00/y", "a", ""},
		{"/api/../x", "a", ""},
		{"/api/..%2fx", "a", ""},
	} {
		for _, client := range []*http.Client{nil, h2cClient(t)} {
			var resp *http.Response
			if client == nil {
				resp, _ = ask(t, d.addr, "GET "+c.target+" HTTP/1.1\r\nHost: "+c.host+"\r\n\r\n")
			} else {
				req, err := http.NewRequest("GET", d.url("/"), nil)
				if err != nil {
					t.Fatal(err)
				}
				req.Host, req.URL.Opaque = c.host, c.target
				if strings.HasPrefix(c.target, "//") {
					continue
				}
				resp, _ = do(t, client, req)
			}
			status := 200
			if c.want == "" {
				status = 400
			}
			if got := resp.Header.Get("X-Got"); got != c.want || resp.StatusCode != status {
				t.Errorf("%s of %s reaches the upstream as %q, status %d, want %q, %d", c.target, c.host, got, resp.StatusCode,
					c.want, status)
			}
			id := resp.Header.Get("X-Request-Id")
			e := d.log.find(t, func(e event) bool { return e.TraceID == id && e.Event == "http request completed" })
			path, _, _ := strings.Cut(c.target, "?")
			want, _, _ := strings.Cut(c.want, "?")
			if want == path {
				want = ""
			}
			if got, _ := e.Data["upstream_path"].(string); e.HTTP.Path != path || got != want {
				t.Errorf("%s: the event has the path %q and the upstream_path %q, want %q", c.target, e.HTTP.Path, got, want)
			}
		}
	}
}

// TestTextsAreBounded checks that a request cannot multiply its path in a target, a field or a
// redirect.
func TestTextsAreBounded(t *testing.T) {
	t.Parallel()
	back := upstream(t, hello)
	many := strings.Repeat("{path}", 20)
	d := openDoor(t, back.URL,
		routing("/a/{path...}", func(r *config.Route) { r.Rewrite.To = "/" + many }),
		routing("/b/{path...}", func(r *config.Route) { r.Rewrite.To = "/x?" + many }),
		routing("/c/{path...}", func(r *config.Route) {
			r.RequestHeaders.Add = []edits.Field{{Name: "X-Path", Value: many}}
		}),
		routing("/d/{path...}", func(r *config.Route) {
			r.ResponseHeaders.Set = []edits.Field{{Name: "X-Path", Value: many}}
		}),
		routing("/e/{path...}", func(r *config.Route) {
			r.To, r.Redirect = "", &redirects.Config{To: "/x/" + many, Status: 307}
		}),
	)
	for _, path := range []string{"/a/", "/b/", "/c/", "/d/", "/e/"} {
		resp, _ := ask(t, d.addr, "GET "+path+strings.Repeat("x", 8<<10)+" HTTP/1.1\r\nHost: a\r\n\r\n")
		if resp.StatusCode != 414 {
			t.Errorf("%s...: status %d, want 414", path, resp.StatusCode)
		}
	}
}

func editFields(r *config.Route) {
	r.RequestHeaders = edits.Config{
		Set: []edits.Field{{Name: "X-Env", Value: "prod"}, {Name: "X-Tenant", Value: "{id}"}, {Name: "Host",
			Value: "inner:81"},
			{Name: "X-Real-IP", Value: "{client.address}"}, {Name: "X-Id", Value: "{request.id}"},
			{Name: "X-Line", Value: "{request.method} {request.path}?{request.query} {request.host}"}},
		Add:    []edits.Field{{Name: "Via", Value: "weir"}, {Name: "Via", Value: "door"}},
		Remove: []string{"X-Debug", "x-sum"},
	}
	r.ResponseHeaders = edits.Config{
		Set:    []edits.Field{{Name: "X-Door", Value: "weir"}, {Name: "X-Got-Id", Value: "{id}"}},
		Add:    []edits.Field{{Name: "Vary", Value: "Origin"}},
		Remove: []string{"server", "X-Sum"},
	}
}

// TestFieldEditsApplyInBothDirections checks the fields that the upstream and the client receive, over HTTP/1 and
// HTTP/2, and that the log has the fields that the client sent and received.
func TestFieldEditsApplyInBothDirections(t *testing.T) {
	t.Parallel()
	got := make(chan *http.Request, 1)
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		h := w.Header()
		h.Set("Server", "bare")
		h.Set("X-Door", "other")
		h.Set("Vary", "Accept")
		h.Set("Trailer", "X-Sum, X-Other")
		io.WriteString(w, "hello")
		http.NewResponseController(w).Flush()
		h.Set("X-Sum", "1")
		h.Set("X-Other", "2")
		got <- r
	})
	d := openDoor(t, back.URL, routing("/t/{id}", editFields), func(c *config.Config) {
		c.Log.RequestFields, c.Log.ResponseFields = []string{"x-env", "x-debug"}, []string{"x-door", "server", "vary"}
	})
	for name, client := range map[string]*http.Client{"HTTP/1.1": httpClient(t), "HTTP/2": h2cClient(t)} {
		req, err := http.NewRequest("POST", d.url("/t/a%20b?x=%0a"), io.MultiReader(strings.NewReader("body")))
		if err != nil {
			t.Fatal(err)
		}
		req.Host = "shop.example:80"
		req.Header = http.Header{"X-Env": {"mine"}, "X_env": {"spoofed"}, "X-Debug": {"1"}, "Via": {"client"},
			"X-Real-Ip": {"6.6.6.6"}}
		req.Trailer = http.Header{"X-Sum": {"1"}, "X-More": {"2"}}
		resp, _ := do(t, client, req)
		r := <-got
		id := resp.Header.Get("X-Request-Id")
		for field, want := range map[string][]string{
			"X-Env": {"prod"}, "X_env": nil, "X-Debug": nil, "Via": {"client", "weir", "door"}, "X-Tenant": {"a%20b"},
			"X-Real-Ip": {"127.0.0.1"}, "X-Id": {id}, "X-Line": {"POST /t/a%20b?x=%0a shop.example"},
			"X-Forwarded-Host": {"shop.example:80"},
		} {
			if !slices.Equal(r.Header[field], want) {
				t.Errorf("%s: the upstream received %s: %q, want %q", name, field, r.Header[field], want)
			}
		}
		if r.Host != "inner:81" || r.Trailer.Get("X-Sum") != "" || r.Trailer.Get("X-More") != "2" {
			t.Errorf("%s: the upstream received the Host %q and the trailers %v", name, r.Host, r.Trailer)
		}
		for field, want := range map[string][]string{"X-Door": {"weir"}, "X-Got-Id": {"a%20b"}, "Vary": {"Accept", "Origin"},
			"Server": nil} {
			if !slices.Equal(resp.Header[field], want) {
				t.Errorf("%s: the client received %s: %q, want %q", name, field, resp.Header[field], want)
			}
		}
		if resp.Trailer.Get("X-Sum") != "" || resp.Trailer.Get("X-Other") != "2" {
			t.Errorf("%s: the client received the trailers %v", name, resp.Trailer)
		}
		e := d.log.find(t, func(e event) bool { return e.TraceID == id && e.Event == "http request completed" })
		if sent, received := fmt.Sprint(e.Data["request_headers"]), fmt.Sprint(e.Data["response_headers"]); sent !=
			"map[x-debug:1 x-env:mine]" || received != "map[vary:Accept, Origin x-door:weir]" {
			t.Errorf("%s: the event has %s and %s", name, sent, received)
		}
	}
}

// TestHostileValuesAddNoField sends parameters that would end a line, a parameter of a query or a host.
func TestHostileValuesAddNoField(t *testing.T) {
	t.Parallel()
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, "%q", r.Header) })
	d := openDoor(t, back.URL,
		routing("/set/{id}", editFields),
		routing("/go/{path...}", func(r *config.Route) {
			r.To, r.Redirect = "", &redirects.Config{To: "/{path}", Status: 302}
		}),
		routing("/away/{id}/{path...}", func(r *config.Route) {
			r.To, r.Redirect = "", &redirects.Config{To: "https://{request.host}/{id}/{path}?id={id}", Status: 302}
		}),
	)
	for _, c := range []struct{ target, status, location string }{
		{"/go//evil.example", "302", "/evil.example"},
		{"/go///evil.example/x", "302", "/evil.example/x"},
		{"/go/%2Fevil.example", "302", "/%2Fevil.example"},
		{"/go/https://evil.example", "302", "/https://evil.example"},
		{"/go/@evil.example", "302", "/@evil.example"},
		{"/go/\\evil.example", "400", ""},
		{"/go/%5cevil.example", "400", ""},
		{"/go/%0d%0aSet-Cookie:a=b", "400", ""},
		{"/go/..", "400", ""},
		{"/go/%2e%2e/x", "400", ""},
		{"/go/x%00", "400", ""},
		{"/go/a?x=%0d%0aA:b", "302", "/a?x=%0d%0aA:b"},
		{"/go/\xc3\xbc?\xc3\xbc", "302", "/%C3%BC?%C3%BC"},
		{"/away/@evil.example/x", "302", "https://a.example/@evil.example/x?id=@evil.example"},
		{"/away/a&b=c/", "302", "https://a.example/a&b=c/?id=a%26b%3Dc"},
		{"/away/%2F/x", "302", "https://a.example/%2F/x?id=%2F"},
		{"/set/%0d%0aX-Admin:1", "400", ""},
		{"/set/x%00", "400", ""},
		{"/set/\xff\xc3", "200", ""},
		{"/set/x?%0d%0aX-Admin:1", "200", ""},
	} {
		resp, body := ask(t, d.addr, "GET "+c.target+" HTTP/1.1\r\nHost: a.example\r\n\r\n")
		if got := fmt.Sprint(resp.StatusCode); got != c.status || resp.Header.Get("Location") != c.location {
			t.Errorf("%q: %s, Location %q, want %s, %q", c.target, got, resp.Header.Get("Location"), c.status, c.location)
		}
		if resp.Header.Get("Set-Cookie") != "" || strings.Contains(body, "X-Admin\"") {
			t.Errorf("%q adds a field: %v, %s", c.target, resp.Header, body)
		}
		if id := resp.Header.Get("X-Got-Id"); strings.IndexFunc(id, func(c rune) bool { return c <= ' ' || c >= 0x7f }) >= 0 {
			t.Errorf("%q: the client received the value %q", c.target, id)
		}
	}
	for _, host := range []string{"evil.example/x", "evil.example#", "evil.example@a", "a\\b", "evil.example?x"} {
		if resp, _ := ask(t, d.addr, "GET /away/a/b HTTP/1.1\r\nHost: "+host+"\r\n\r\n"); resp.StatusCode != 400 {
			t.Errorf("the Host %q leads to %q", host, resp.Header.Get("Location"))
		}
	}
}

// TestOwnResponsesAreEdited checks that the edits of a route apply to the responses that weir
// makes itself.
func TestOwnResponsesAreEdited(t *testing.T) {
	t.Parallel()
	d := openDoor(t, "http://"+testkit.ClosedAddress(t),
		routing("/limit/{id}", func(r *config.Route) { editFields(r); r.Limits.Body = 1 }),
		routing("/rate/{id}", func(r *config.Route) {
			editFields(r)
			r.Limits.Rate = config.Rate{Per: config.RatePerRoute, Every: testTimeout, Burst: 1}
		}),
		routing("/access/{id}", func(r *config.Route) {
			editFields(r)
			r.Access = []*access.Config{{Deny: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}}
		}),
		routing("/gone/{id}", func(r *config.Route) {
			editFields(r)
			r.To, r.RequestHeaders, r.Respond = "", edits.Config{}, &respond.Config{Status: 410}
		}),
		routing("/typed/{id}", func(r *config.Route) {
			editFields(r)
			r.ResponseHeaders.Set = append(r.ResponseHeaders.Set, edits.Field{Name: "content-type", Value: "text/html"})
			r.To, r.RequestHeaders, r.Respond = "", edits.Config{}, &respond.Config{Status: 410, Text: "<p>",
				Type: "a/b"}
		}),
		routing("/to/{id}", func(r *config.Route) {
			editFields(r)
			r.To, r.RequestHeaders, r.Redirect = "", edits.Config{}, &redirects.Config{To: "/new/{id}", Status: 308}
		}),
		func(c *config.Config) { c.Upstreams[0].ConnectWait = 0 },
	)
	const post = "POST %s HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi"
	ask(t, d.addr, fmt.Sprintf(post, "/rate/x"))
	for path, status := range map[string]int{"/limit/x": 413, "/rate/x": 429, "/access/x": 403, "/gone/x": 410,
		"/typed/x": 410,
		"/to/x":    308} {
		resp, _ := ask(t, d.addr, fmt.Sprintf(post, path))
		if resp.StatusCode != status || resp.Header.Get("X-Door") != "weir" || resp.Header.Get("X-Got-Id") != "x" ||
			resp.Header.Get("Vary") != "Origin" {
			t.Errorf("%s: %d with %v, want %d", path, resp.StatusCode, resp.Header, status)
		}
		if path == "/typed/x" && !slices.Equal(resp.Header["Content-Type"], []string{"text/html"}) {
			t.Errorf("%s has the types %q", path, resp.Header["Content-Type"])
		}
	}
	resp, _ := ask(t, d.addr, "GET /limit/x HTTP/1.1\r\nHost: a\r\n\r\n")
	if resp.StatusCode != 502 || resp.Header.Get("X-Door") != "weir" {
		t.Errorf("no upstream: %d with %v", resp.StatusCode, resp.Header)
	}
	if resp, _ := ask(t, d.addr, "GET /limit HTTP/1.1\r\nHost: a\r\n\r\n"); resp.Header.Get("X-Door") != "" {
		t.Errorf("another route: %d with %v", resp.StatusCode, resp.Header)
	}
}

// TestEditsReplaceFieldsOfWeir checks that the edits of a route replace and remove the fields that weir adds because of
// its listeners, in responses of the upstream and of weir.
func TestEditsReplaceFieldsOfWeir(t *testing.T) {
	t.Parallel()
	const hsts = "Strict-Transport-Security"
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(hsts, "max-age=1")
		w.Header().Set("Alt-Svc", `h3=":1"`)
	})
	edited := func(match string, e edits.Config) func(*config.Config) {
		return func(c *config.Config) {
			forwarded, fixed := config.DefaultRoute(match, "site"), config.DefaultRoute(match+"/fixed", "")
			forwarded.ResponseHeaders, fixed.ResponseHeaders = e, e
			fixed.Respond = &respond.Config{Status: 410}
			c.Routes = append(c.Routes, forwarded, fixed)
		}
	}
	field := []edits.Field{{Name: strings.ToLower(hsts), Value: "max-age=300"}}
	d := openHTTP3Door(t, back.URL, func(c *config.Config) {
		c.TLS.HTTPS.HSTS = &httpsredirect.HSTS{MaxAge: 365 * 24 * time.Hour}
	}, edited("/none", edits.Config{}), edited("/set", edits.Config{Set: field}), edited("/add", edits.Config{Add: field}),
		edited("/remove", edits.Config{Remove: []string{strings.ToLower(hsts), "alt-svc"}}))
	const own = "max-age=31536000"
	for match, want := range map[string][]string{
		"/none": {own}, "/set": {"max-age=300"}, "/add": {own, "max-age=300"}, "/remove": nil,
	} {
		for _, path := range []string{match, match + "/fixed"} {
			resp, _ := d.ask(t, d.client("localhost"), "GET "+path+" HTTP/1.1\r\nHost: localhost\r\n\r\n")
			if got := resp.Header[hsts]; !slices.Equal(got, want) {
				t.Errorf("%s: %d, %s: %q, want %q", path, resp.StatusCode, hsts, got, want)
			}
			if got := resp.Header["Alt-Svc"]; (len(got) == 1) != (match != "/remove") {
				t.Errorf("%s: %d, Alt-Svc: %q", path, resp.StatusCode, got)
			}
		}
	}
}

// TestUpgradesAreEdited checks the request and the 101 response of an upgrade.
func TestUpgradesAreEdited(t *testing.T) {
	t.Parallel()
	heads := make(chan *http.Request, 1)
	back := rawUpstream(t, func(c *rawConn) {
		req, err := http.ReadRequest(c.r)
		if err != nil {
			return
		}
		heads <- req
		io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
			"Server: bare\r\n\r\n")
		io.Copy(c, c.r)
	})
	d := openDoor(t, "http://"+back, routing("/ws/{id}", func(r *config.Route) { editFields(r); r.Rewrite.StripPrefix = "/ws" }))
	conn, err := net.Dial("tcp", d.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	io.WriteString(conn, "GET /ws/7?x HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"X-Env: mine\r\n\r\n")
	r := bufio.NewReader(conn)
	resp, err := http.ReadResponse(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	if req := <-heads; req.RequestURI != "/7?x" || req.Header.Get("X-Env") != "prod" || req.Host != "inner:81" {
		t.Errorf("the upstream received %s with %v", req.RequestURI, req.Header)
	}
	if resp.StatusCode != 101 || resp.Header.Get("X-Door") != "weir" || resp.Header.Get("Server") != "" {
		t.Errorf("the client received %d with %v", resp.StatusCode, resp.Header)
	}
	io.WriteString(conn, "echo")
	echo := make([]byte, 4)
	if _, err := io.ReadFull(r, echo); err != nil || string(echo) != "echo" {
		t.Errorf("the tunnel sends %q, %v", echo, err)
	}
}

// TestReloadReplacesRouteRedirects checks the redirects of routes, and that a reload replaces them.
func TestReloadReplacesRouteRedirects(t *testing.T) {
	t.Parallel()
	back := upstream(t, hello)
	to := func(match, to string, status int, query string) func(*config.Config) {
		return routing(match, func(r *config.Route) {
			r.To, r.Redirect = "", &redirects.Config{To: to, Status: status, Query: query}
		})
	}
	d := openDoor(t, back.URL,
		to("/old/{id}", "/new/{id}", 308, ""),
		to("GET /get/{id}", "/new?id={id}", 301, ""),
		to("/keep", "/new?a=b", 302, redirects.QueryKeep),
		to("/drop", "https://example.com/x#part", 307, redirects.QueryDrop),
		to("{tenant}.example.com/{path...}", "https://{tenant}.example.org/{path}", 308, ""),
		to("/v6/{path...}", "https://{request.host}:8443/{path}", 308, ""),
	)
	for _, c := range []struct{ method, target, host, want string }{
		{"GET", "/old/a%2Fb?x=1", "a", "308 /new/a%2Fb?x=1"},
		{"POST", "/old/a", "a", "308 /new/a"},
		{"GET", "/get/a?x=1", "a", "301 /new?id=a"},
		{"POST", "/get/a", "a", "200 "},
		{"GET", "/keep?x=1", "a", "302 /new?a=b&x=1"},
		{"GET", "/keep", "a", "302 /new?a=b"},
		{"GET", "/drop?x=1", "a", "307 https://example.com/x#part"},
		{"GET", "/x?y", "Blue.example.com:80", "308 https://blue.example.org/x?y"},
		{"GET", "/v6/x", "[::1]:80", "308 https://[::1]:8443/x"},
	} {
		resp, _ := ask(t, d.addr, c.method+" "+c.target+" HTTP/1.1\r\nHost: "+c.host+"\r\n\r\n")
		if got := fmt.Sprintf("%d %s", resp.StatusCode, resp.Header.Get("Location")); got != c.want {
			t.Errorf("%s %s of %s: %s, want %s", c.method, c.target, c.host, got, c.want)
		}
	}
	if e := d.completed(t, "/old/a"); e.HTTP.Route != "/old/{id}" || e.Data["redirect"] != "/new/{id}" {
		t.Errorf("the event has the route %q and the redirect %v", e.HTTP.Route, e.Data["redirect"])
	}
	for want, change := range map[string]func(*config.Config){"/newer/a": to("/old/{id}", "/newer/{id}", 308, "")} {
		if _, err := d.Reload(doorConfig(back.URL, change)); err != nil {
			t.Fatal(err)
		}
		if resp, _ := ask(t, d.addr, "GET /old/a HTTP/1.1\r\nHost: a\r\n\r\n"); resp.Header.Get("Location") != want {
			t.Errorf("after a reload, the Location is %q, want %q", resp.Header.Get("Location"), want)
		}
	}
	for _, invalid := range []func(*config.Config){
		to("/old/{id}", "//evil", 308, ""), to("/old/{id}", "/{no}", 308, ""),
		routing("/x", func(r *config.Route) { r.Rewrite.StripPrefix = "/y" }),
		routing("/x", func(r *config.Route) { r.ResponseHeaders.Set = []edits.Field{{Name: "A", Value: "{no}"}} }),
		routing("/x", func(r *config.Route) { r.RequestHeaders.Add = []edits.Field{{Name: "A", Value: "{no}"}} }),
		routing("/x", func(r *config.Route) {
			r.RequestHeaders.Set = []edits.Field{{Name: "Host",
				Value: "{request.path}"}}
		}),
	} {
		if _, err := d.Reload(doorConfig(back.URL, invalid)); err == nil {
			t.Error("an invalid configuration is accepted")
		}
	}
}

// TestEditsAllocateNothing checks that edits of a request that is proxied allocate nothing,
// whether they are fixed or made of the request.
func TestEditsAllocateNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	back := rawUpstream(t, answerWithoutAllocating)
	for name, adjust := range map[string]func(*config.Route){
		"fixed": func(r *config.Route) {
			r.Rewrite.StripPrefix = "/embed"
			r.RequestHeaders = edits.Config{Set: []edits.Field{{Name: "X-Env", Value: "prod"}},
				Add: []edits.Field{{Name: "Via", Value: "weir"}}, Remove: []string{"Accept"}}
			r.ResponseHeaders = edits.Config{Set: []edits.Field{{Name: "X-Door", Value: "weir"}},
				Add: []edits.Field{{Name: "Vary", Value: "Origin"}}, Remove: []string{"Server"}}
		},
		"made": func(r *config.Route) {
			editFields(r)
			r.Rewrite.To = "/a/{id}?b={id}&{request.query}"
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := discardingDoor(t, "http://"+back, config.EventsAll, routing("/embed/{id}", adjust))
			const request = "GET /embed/visualisations?x=1 HTTP/1.1\r\nHost: www.example.com\r\nUser-Agent: tester\r\n" +
				"Accept: */*\r\n\r\n"
			if n := mallocsPerRequest(t, d, request); n >= 0.1 {
				t.Errorf("%.2f allocations for a proxied request, want none", n)
			}
		})
	}
}

func TestEditsAreExplained(t *testing.T) {
	t.Parallel()
	back := upstream(t, hello)
	d := openDoor(t, back.URL, routing("/api/{id}/{path...}", func(r *config.Route) {
		r.Rewrite.StripPrefix = "/api"
		r.RequestHeaders = edits.Config{Set: []edits.Field{{Name: "Host", Value: "inner"}, {Name: "X-Id",
			Value: "{id}"}},
			Add: []edits.Field{{Name: "Via", Value: "weir"}}, Remove: []string{"X-Debug"}}
		r.ResponseHeaders = edits.Config{Set: []edits.Field{{Name: "X-Door", Value: "weir"}},
			Remove: []string{"Server"}}
	}))
	for request, want := range map[string]string{
		"GET a /api/7/x?y": "changes the target to /7/x?y, changes the host to inner, removes X-Debug from the request, " +
			"sets X-Id of the request to 7, adds Via: weir to the request, forwards to the upstream site: " + back.URL +
			", removes Server from the response, sets X-Door of the response to weir",
		"GET a /api//x": "forwards to the upstream site: " + back.URL, // of another route
		"GET a /api/%2F/": "responds with 400: the path has an empty segment after the prefix that is removed, " +
			"removes Server from the response, sets X-Door of the response to weir",
	} {
		if got := strings.Join(d.explain(t, request).Routes[0].Steps, ", "); got != want {
			t.Errorf("%s: %s\nwant %s", request, got, want)
		}
	}
}
