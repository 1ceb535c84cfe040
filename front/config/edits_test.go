package config_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/internal/mistaketest"
)

func TestParseEdits(t *testing.T) {
	c := parse(t, `
upstreams: {a: {servers: http://a}}
routes:
- match: "{tenant}.example.com/api/{path...}"
  to: a
  strip_prefix: /api
  add_prefix: /v2
  request_headers:
    set: {X-Env: prod, Host: "{tenant}.internal:8080", X-Real-IP: "{client.address}", X-Forwarded-Prefix: /api}
    add: {Via: [one, "{{two}}"], Link: "{path}"}
    remove: [X-Debug, user-agent]
  response_headers: {set: {X-Door: weir}, add: {Vary: Origin}, remove: Server}
- {match: "/b/{id}", to: a, rewrite: "/c?id={id}"}
- {match: "/c/{id}", redirect: {to: "https://{request.host}/d/{id}"}}
- {match: "/d", redirect: {to: /, status: 301, query: drop}, response_headers: {set: {X-A: b}}}
`, nil)
	route := func(match, to string, adjust func(*config.Route)) config.Route {
		r := config.DefaultRoute(match, to)
		adjust(&r)
		return r
	}
	want := []config.Route{
		route("{tenant}.example.com/api/{path...}", "a", func(r *config.Route) {
			r.StripPrefix, r.AddPrefix = "/api", "/v2"
			r.RequestHeaders = config.FieldEdits{
				Set: []config.Field{{Name: "X-Env", Value: "prod"}, {Name: "Host", Value: "{tenant}.internal:8080"},
					{Name: "X-Real-IP", Value: "{client.address}"}, {Name: "X-Forwarded-Prefix", Value: "/api"}},
				Add: []config.Field{{Name: "Via", Value: "one"}, {Name: "Via", Value: "{{two}}"}, {Name: "Link",
					Value: "{path}"}},
				Remove: []string{"X-Debug", "user-agent"},
			}
			r.ResponseHeaders = config.FieldEdits{Set: []config.Field{{Name: "X-Door", Value: "weir"}},
				Add: []config.Field{{Name: "Vary", Value: "Origin"}}, Remove: []string{"Server"}}
		}),
		route("/b/{id}", "a", func(r *config.Route) { r.Rewrite = "/c?id={id}" }),
		route("/c/{id}", "", func(r *config.Route) {
			r.Redirect = &config.RouteRedirect{To: "https://{request.host}/d/{id}", Status: 307}
		}),
		route("/d", "", func(r *config.Route) {
			r.Redirect = &config.RouteRedirect{To: "/", Status: 301, Query: config.QueryDrop}
			r.ResponseHeaders.Set = []config.Field{{Name: "X-A", Value: "b"}}
		}),
	}
	if diff := cmp.Diff(want, c.Routes, compareNetworks); diff != "" {
		t.Errorf("Parse (-want +got):\n%s", diff)
	}
}

// Each case is the keys of a route with the pattern "h.example/api/{id}/{path...}" from line 4
// on, and its mistakes.
func TestParseEditsMistakes(t *testing.T) {
	for _, c := range []struct {
		name, keys string
		want       []string
	}{
		{"a prefix that is not there", "  to: a\n  strip_prefix: /ap\n",
			[]string{`5:17 also matches paths that do not begin with "/ap"|/ap/{path...}`}},
		{"a prefix that ends in a slash", "  to: a\n  strip_prefix: /api/\n  add_prefix: v2\n",
			[]string{`5:17 "/api/" is not a prefix|/api`, `6:15 "v2" is not a prefix`}},
		{"prefixes with parameters", "  to: a\n  strip_prefix: /api/{id}\n  add_prefix: /{id}\n",
			[]string{`5:22 no parameters|rewrite: /new/{id}`, `6:16 no parameters`}},
		{"ambiguous prefixes", "  to: a\n  strip_prefix: /api/..\n  add_prefix: //a\n",
			[]string{`5:17 dot segment`, `6:15 "//a" is not a prefix`}},
		{"empty texts", "  to: a\n  strip_prefix: ''\n  add_prefix: ''\n  rewrite: ''\n",
			[]string{`5:17 empty`, `6:15 empty`, `7:12 empty`}},
		{"a rewrite and a prefix", "  to: a\n  rewrite: /x\n  add_prefix: /v2\n",
			[]string{`5:12 prefixes or a rewrite|one of them`}},
		{"rewrites", "  to: a\n  rewrite: '{path}'\n", []string{`5:12 does not begin with a slash|/new/{id}`}},
		{"a rewrite to a host", "  to: a\n  rewrite: '//{path}'\n", []string{`5:12 empty segment`}},
		{"a rewrite with dots", "  to: a\n  rewrite: '/{id}/../x'\n", []string{`5:12 dot segment`}},
		{"a rewrite with a fragment", "  to: a\n  rewrite: '/{id}#x'\n", []string{`5:18 fragment|%23`}},
		{"a rewrite with a star", "  to: a\n  rewrite: /x/*\n", []string{`5:15 "*"|{name}`}},
		{"variables of nginx", "  to: a\n  rewrite: /x/$1\n" +
			"  request_headers: {set: {A: 'from $remote_addr', B: '$ $$$$x $5 %24'}}\n  response_headers: {add: {C: $host}}\n",
			[]string{`5:15 $1 is text|{name}|%24`, `6:36 $remote_addr is text|{client.address}`, `7:31 $host|{request.host}`}},
		{"a rewrite with an unknown parameter", "  to: a\n  rewrite: '/x/{it}?y={paht}'\n",
			[]string{`5:16 no parameter "it"`}},
		{"a rewrite with a misspelt parameter", "  to: a\n  rewrite: '/x?y={paht}'\n",
			[]string{`5:18 no parameter "paht"|did you mean {path}?`}},
		{"a rewrite of no upstream", "  respond: {status: 200}\n  rewrite: /x\n  request_headers: {set: {A: b}}\n",
			[]string{`5:3 "rewrite" applies only to requests that are forwarded|with to`}},

		{"a name", "  to: a\n  request_headers: {set: {'A B': c}, remove: ['']}\n",
			[]string{`5:27 "A B" is not the name of a header field`, `5:47 empty`}},
		{"values", "  to: a\n  request_headers: {set: {A: \"b\\nc\", B: \"\", C: ' d', D: [e, f]}}\n",
			[]string{`5:30 "b\nc" is not the value`, `5:41 "" is not`, `5:48 " d" is not`, `5:57 must be a single value`}},
		{"fields of weir", "  to: a\n" +
			"  request_headers: {set: {Connection: a, content_length: b, X-Forwarded-For: c, X-Request-ID: d, " +
			"Forwarded: e, traceparent: f, expect: g}, add: {Host: h}, remove: [host, Transfer-Encoding]}\n",
			[]string{`5:27 "Connection" cannot be changed`, `5:42 "content_length"`, `5:61 "X-Forwarded-For"|trusted_proxies`,
				`5:81 "X-Request-ID"|the id of the request`, `5:98 "Forwarded"`, `5:112 "traceparent"`, `5:128 "expect"`,
				`5:146 "Host"|exactly one`, `5:165 "host"`, `5:171 "Transfer-Encoding"`}},
		{"fields of weir in responses", "  to: a\n" +
			"  response_headers: {set: {Content-Length: 1, Host: x}, remove: [x-request-id, Trailer]}\n",
			[]string{`5:28 "Content-Length" cannot be changed`, `5:66 "x-request-id"`, `5:80 "Trailer"`}},
		{"a name twice", "  to: a\n  request_headers: {set: {A: b, a: c, B: d}, add: {C: [e, f], b: g}, remove: [c, D, d]}\n",
			[]string{`5:33 "a" is in set and in set|one of the two`, `5:63 "b" is in set and in add`,
				`5:79 "c" is in add and in remove`,
				`5:85 "d" is in remove and in remove`}},
		{"fields of other keys", "  to: a\n  basic_auth: {users: {}, user_header: X-User}\n  cors: {origins: ['*']}\n" +
			"  request_headers: {set: {x-user: b}}\n  response_headers: {remove: [access-control-allow-origin]}\n",
			[]string{`5:23 "users" is empty`, `7:27 "x-user" is written by basic_auth`,
				`8:31 "access-control-allow-origin" is written by cors`}},
		{"fields of basic_auth in other spellings", "  to: a\n  basic_auth: {users: {}, user_header: X-User}\n" +
			"  forward_auth: {to: a, path: /v, copy: [X-Group, x_user]}\n  request_headers: {set: {X_USER: b}}\n",
			[]string{`5:23 "users" is empty`, `6:3 "x_user"|user_header of basic_auth`, `7:27 "X_USER" is written by basic_auth`}},
		{"keys of an upstream without one", "  respond: {status: 200}\n  timeout: 3s\n  upgrade: []\n",
			[]string{`5:3 "timeout" applies only to requests that are forwarded`}},
		{"fields of forward_auth", "  to: a\n  forward_auth: {to: a, path: /v, copy: [X-Group]}\n" +
			"  request_headers: {add: {X-Group: b}}\n",
			[]string{`6:27 "X-Group" is written by forward_auth`}},
		{"a cookie of a request", "  to: a\n  request_headers: {add: {set-cookie: a=b}}\n",
			[]string{`5:27 a request has no "set-cookie"|response_headers`}},
		{"an unknown variable", "  to: a\n  response_headers: {add: {A: ['{id}', '{host}', '{path...}']}}\n",
			[]string{`5:40 no parameter "host"|{request.host}`, `5:50 no parameter "path..."|{path}`}},
		{"a brace", "  to: a\n  response_headers: {add: {A: 'x{', B: 'y}'}}\n", []string{`5:33 without }|{{`,
			`5:42 without {|}}`}},
		{"a Host of a parameter", "  to: a\n  request_headers: {set: {Host: '{id}.example'}}\n",
			[]string{`5:33 let a request choose the host|{request.host}`}},
		{"a Host", "  to: a\n  request_headers: {set: {Host: 'a b'}}\n", []string{`5:33 "a b" is not a host`}},
		{"unknown keys", "  to: a\n  request_headers: {put: {A: b}}\n  response_headers: [a]\n",
			[]string{`5:21 unknown key "put"|set`, `6:21 "response_headers" must be a mapping`}},

		{"no address", "  redirect: {status: 301}\n", []string{`4:3 "redirect" has no "to"|redirect: {to: /new}`}},
		{"a status", "  redirect: {to: /x, status: 303}\n", []string{`4:30 "303"|301, 302, 307 or 308`}},
		{"a query", "  redirect: {to: /x, query: yes}\n", []string{`4:29 "yes"|keep`}},
		{"a redirect and an upstream", "  to: a\n  redirect: {to: /x}\n", []string{`5:3 second action|after "to"`}},
		{"an address of another host", "  redirect: {to: //evil.example}\n", []string{`4:18 another host`}},
		{"an address without a slash", "  redirect: {to: 'new/{id}'}\n", []string{`4:18 neither a path nor a URL`}},
		{"a parameter as a host", "  redirect: {to: 'https://{id}/x'}\n", []string{`4:27 let a request choose the host`}},
		{"a host", "  redirect: {to: 'https://u:hunter2@a/'}\n", []string{`4:18 no valid host`}},
		{"an address with a star", "  redirect: {to: '/x/*'}\n", []string{`4:22 "*"|{name}`}},
		{"an address with an unknown parameter", "  redirect: {to: '/x/{no}?a={id}&b={non}'}\n",
			[]string{`4:22 no parameter "no"`}},
		{"an address with dots", "  redirect: {to: '/x/../{id}'}\n", []string{`4:18 dot segment`}},
		{"paths of a redirect", "  redirect: {to: /x}\n  strip_prefix: /api\n",
			[]string{`5:3 only to requests that are forwarded`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := "upstreams: {a: {servers: http://a}}\nroutes:\n- match: h.example/api/{id}/{path...}\n" + c.keys
			mistaketest.Want(t, mistakes(t, src, nil), c.want)
		})
	}
}

// Each case is routes, lines of the file of redirects, and the mistakes about chains and loops
// of both.
func TestRedirectsOfRoutesAndFile(t *testing.T) {
	for _, c := range []struct {
		name, routes, lines string
		want                []string
	}{
		{"a loop of one", "- {match: '/a/{id}', redirect: {to: '/a/{id}'}}\n", "",
			[]string{`5:37 "/a/{id}" leads into a loop: /a/* -> /a/*`}},
		{"a loop with a constraint", "- {match: '/a/{id:int}', redirect: {to: '/a/{id}?x'}}\n", "",
			[]string{`5:41 "/a/{id:int}" leads into a loop: /a/1 -> /a/1`}},
		{"a loop of a host", "- {match: 'POST {t}.example.com/a', redirect: {to: /a}}\n", "",
			[]string{`5:52 loop: /a -> /a`}},
		{"a loop with values in the query", "- {match: '/a/{id}', redirect: {to: '/a/x?id={id}#{id}'}}\n", "",
			[]string{`5:37 "/a/{id}" leads into a loop: /a/* -> /a/x -> /a/x`}},
		{"values in the host", "- {match: '{t}.example.com/a', redirect: {to: 'https://{t}.example.org/a'}}\n", "", nil},
		{"a loop that grows", "- {match: '/a/{p...}', redirect: {to: '/a/b/{p}'}}\n", "",
			[]string{`5:39 more than 20 redirects`}},
		{"a loop through both", "- {match: '/a/{id}', redirect: {to: '/b/{id}'}}\n", "/b/*,/a/*\n",
			[]string{`5:37 loop: /a/* -> /b/* -> /a/*`}},
		{"a loop of lines and a route", "- {match: /b, redirect: {to: /a}}\n", "/a,/b\n",
			[]string{`5:30 loop: /b -> /a -> /b`, `r.csv 1:4 loop: /a -> /b -> /a`}},
		{"a chain through both", "- {match: '/a/{id}', redirect: {to: '/b/{id}'}}\n", "/b/*,/c/*\n",
			[]string{`5:37 "/b/{id}" is redirected again on line 1|/c/*`}},
		{"a chain to a route", "- {match: /b, redirect: {to: 'https://{request.host}/c'}}\n", "/a,/b\n",
			[]string{`r.csv 1:4 "/b" is redirected again on line 5 of`}},
		{"the same path", "- {match: /a, redirect: {to: /b}}\n", "/a,/c\n",
			[]string{`r.csv 1:1 "/a" is shadowed by the route "/a" on line 5`}},
		{"an end", "- {match: '/a/{id}', redirect: {to: '/c/{id}'}}\n" +
			"- {match: '/x/{x...}', redirect: {to: 'https://{request.host}/{x}'}}\n",
			"/b/*,/a\n", nil},
		{"a chain to another host", "- {match: '/a/{id}', redirect: {to: '/c/{id}'}}\n" +
			"- {match: '/{x...}', redirect: {to: 'https://{request.host}/{x}'}}\n", "",
			[]string{`5:37 "/c/{id}" is redirected again on line 6|https://{request.host}/{x}`}},
		{"conditions", "- {match: '/a', when: {query: {x: true}}, redirect: {to: /a}}\n- {match: '/a', to: a}\n", "/b,/a\n",
			nil},
		{"another host", "- {match: 'a.example/x', redirect: {to: 'https://b.example/x'}}\n",
			"b.example/x,https://a.example/x\n", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			yaml := "redirects: r.csv\nupstreams: {a: {servers: http://a}}\n# a line\nroutes:\n" + c.routes
			_, err := parseRedirects(t, yaml, c.lines)
			if err == nil && c.want == nil {
				return
			}
			var ms config.Mistakes
			if !errors.As(err, &ms) {
				t.Fatalf("the error is %v", err)
			}
			for i := range ms {
				if filepath.Base(ms[i].File) == "r.csv" {
					if i >= len(c.want) || len(c.want[i]) < 6 || c.want[i][:6] != "r.csv " {
						t.Errorf("%v\nis said of r.csv", ms[i])
					} else {
						c.want[i] = c.want[i][6:]
					}
				}
			}
			mistaketest.Want(t, ms, c.want)
		})
	}
}
