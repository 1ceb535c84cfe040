package config_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/internal/mistaketest"
)

func TestParseRedirectsOfRoutes(t *testing.T) {
	c := parse(t, "routes:\n- {match: '/c/{id}', redirect: {to: 'https://{request.host}/d/{id}'}}\n"+
		"- {match: /d, redirect: {to: /, status: 301, query: drop}}\n", nil)
	for i, want := range []*config.RouteRedirect{
		{To: "https://{request.host}/d/{id}", Status: 307}, {To: "/", Status: 301, Query: config.QueryDrop}} {
		if diff := cmp.Diff(want, c.Routes[i].Redirect); diff != "" {
			t.Errorf("redirect (-want +got):\n%s", diff)
		}
	}
}

// Each case is the keys of a route with the pattern "h.example/api/{id}/{path...}" from line 4
// on, and its mistakes.
func TestParseEditsMistakes(t *testing.T) {
	for _, c := range []struct {
		name, keys string
		want       []string
	}{
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
