package routetable_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/internal/configtest"
	"github.com/weirhq/weir/internal/mistaketest"
)

// TestUnreachableRoutesAreReported checks routes that differ only in their conditions.
func TestUnreachableRoutesAreReported(t *testing.T) {
	for _, c := range []struct {
		name, src string
		want      []string
	}{
		{"unreachable", configtest.When("{headers: {X-A: true}}", "{headers: {x-a: 1}, query: {b: false}}",
			"{headers: {X-A: true}}", "", "{headers: {X-B: 1}}", "{headers: {X-B: 1, X-C: false}}", "{headers: {X-B: 2}}"),
			[]string{`4:11 no request reaches this route|on line 3|move it before`, `5:11 no request reaches|on line 3`,
				`8:11 no request reaches|on line 7`}},
		{"different names",
			strings.Replace(configtest.When("{headers: {X-A: 1}}", "{headers: {X-A: 2}}"), "{x...}", "{y...}", 1),
			[]string{`4:11 conflicts|more specific, or write the same pattern in both`}},
		{"two without conditions", configtest.When("{headers: {X-A: 1}}", "", ""), []string{`5:11 conflicts|line 4`}},
	} {
		configtest.WantMistakes(t, c.name, c.src, c.want)
	}
}

// A condition is not a reason why a redirect would be shadowed.
func TestRouteWithConditionAllowsRedirect(t *testing.T) {
	src := "redirects: r.csv\n" + configtest.When("{headers: {X-A: 1}}")
	if _, err := configtest.ParseBeside(t, src, "r.csv", "/old,/new\n/a/*,/b/*\n"); err != nil {
		t.Error(err)
	}
}

// Each case is a file of redirects and its mistakes in the table: the position, then
// parts of the message. The configuration has the routes "/taken", "GET /get/{x...}",
// "/{id}/page" and "/{path...}".
func TestConflictingRedirectsAreReported(t *testing.T) {
	const yaml = `redirects: r.csv
upstreams: {a: {servers: http://a}}
routes:
  - {to: a, match: /taken}
  - {to: a, match: "GET /get/{x...}"}
  - {to: a, match: "/{id}/page"}
  - {to: a, match: "/{path...}"}
`
	for _, c := range []struct {
		name, lines string
		want        []string
	}{
		{"twice", "/a,/b\n/x,/y\n/a,/c\n", []string{`3:1 "/a" is given twice, first on line 1`}},
		{"twice, as the same line", "/a,/b\n/a,/b\n", []string{`2:1 given twice`}},
		{"twice, escaped", "/ü,/b\n/%c3%bc,/c\n", []string{`2:1 "/%c3%bc" is the same as "/ü" on line 1`}},
		{"a prefix twice", "/a/*,/b\n/a/*,/c\n", []string{`2:1 "/a/*" is given twice`}},
		{"shadowed by a route", "/b,/c\n/taken,/b2\n",
			[]string{`2:1 "/taken" is shadowed by the route "/taken" on line 4 of`}},
		{"a prefix shadowed by a route", "/*,/b\n", []string{`1:1 "/*" is shadowed by the route "/{path...}" on line 7`}},
		{"shadowed for GET", "/get/*,/b/*\n", []string{`1:1 "/get/*" is shadowed by the route "GET /get/{x...}" on line 5`}},

		{"a chain", "/a,/b\n/b,/c\n/c,/d?x=1\n",
			[]string{`1:4 "/b" is redirected again on line 2|write /d?x=1`,
				`2:4 "/c" is redirected again on line 3|write /d?x=1`}},
		{"a chain with a query and a fragment", "/a,/b?x=1#y\n/b,https://example.com\n",
			[]string{`1:4 again on line 2|write https://example.com`}},
		{"a chain of escapes", "/a,/ü\n/%C3%BC,/c\n", []string{`1:4 again on line 2`}},
		{"a chain of prefixes", "/a/*,/b/*\n/b/*,/c/*\n", []string{`1:6 "/b/*" is redirected again on line 2|write /c/*`}},
		{"a chain to one address", "/a/*,/b/x\n/b/*,/c\n", []string{`1:6 again on line 2|write /c`}},
		{"a chain that leaves a prefix again", "/b/*,/c/*\n/c/*,/b/z\n/b/z,/d\n",
			[]string{`1:6 again on line 2|write /d`, `2:6 again on line 3|write /d`}},
		{"a chain on a host", "a.example/x,/y\na.example/y,/z\nb.example/y,/y2\n", []string{`1:13 again on line 2|write /z`}},

		{"a loop of one", "/a,/a\n", []string{`1:4 loop: /a -> /a`}},
		{"a loop with a query", "/a,/a?x=1\n", []string{`1:4 loop: /a -> /a`}},
		{"a loop of two", "/a,/b\n/b,/a\n", []string{`1:4 loop: /a -> /b -> /a`, `2:4 loop: /b -> /a -> /b`}},
		{"into a loop", "/z,/a\n/a,/b\n/b,/a\n", []string{`1:4 "/z" leads into a loop`, `2:4 loop`, `3:4 loop`}},
		{"a loop of a prefix", "/a/*,/a/b\n", []string{`1:6 loop: /a/* -> /a/b -> /a/b`}},
		{"a loop of prefixes", "/a/*,/b/*\n/b/*,/a/*\n", []string{`1:6 loop: /a/* -> /b/* -> /a/*`, `2:6 loop`}},
		{"a loop that grows", "/a/*,/a/b/*\n", []string{`1:6 more than 20 redirects: /a/* -> /a/b/* -> /a/b/b/*`}},
		{"a loop of a prefix and a path", "/a/*,/b/*\n/b/x,/a/x\n", []string{`2:6 loop: /b/x -> /a/x -> /b/x`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := configtest.ParseBeside(t, yaml, "r.csv", c.lines)
			var ms config.Mistakes
			if !errors.As(err, &ms) {
				t.Fatalf("the error is %v", err)
			}
			mistaketest.Want(t, ms, c.want)
			for _, m := range ms {
				if filepath.Base(m.File) != "r.csv" {
					t.Errorf("%v\nis not said of r.csv", m)
				}
			}
		})
	}
}

func TestRedirectsBesideRoutesAreAccepted(t *testing.T) {
	const yaml = `redirects: r.csv
upstreams: {a: {servers: http://a}}
routes:
  - {to: a, match: "/a/{id}"}
  - {to: a, match: "/a/index.html"}
  - {to: a, match: "h.example/{path...}"}
`
	for name, lines := range map[string]string{
		"nothing":                                "",
		"a header and nothing":                   "from,to\n",
		"the end of a prefix that a route takes": "/a/*,/a/index.html\n",
		"a path and the paths below":             "/b,/x\n/b/,/y\n/b/*,/z\n",
		"a prefix within a prefix":               "/b/*,/x/*\n/b/c/*,/y/*\n",
		"escaped characters":                     "/%2A,/x\n/b%3Fc,/y\n/%7Bid%7D,/z\n/%3Aid,/w\n/a:b,/v\n",
		"the same path of a host":                "h.example/b,/x\n/b,/y\nm\u00fcnchen.example/b,/z\n",
		"another host":                           "/b,https://example.com/b\n",
		"a prefix to the root":                   "/old/*,/*\n",
	} {
		if _, err := configtest.ParseBeside(t, yaml, "r.csv", lines); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Each case is routes, lines of the file of redirects, and the mistakes about chains and loops
// of both.
func TestRedirectChainsAndLoopsAreReported(t *testing.T) {
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
			_, err := configtest.ParseBeside(t, yaml, "r.csv", c.lines)
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
