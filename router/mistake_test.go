package router_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/weirhq/weir/router"
)

// The panic of Mount is an error with the mistakes of both patterns.
func TestPanicsAreErrors(t *testing.T) {
	h := http.NotFoundHandler()
	recovered := func(f func(r *router.Router)) (err error) {
		defer func() { err, _ = recover().(error) }()
		f(newRouter("/a", "/a/{rest...}"))
		return nil
	}
	err := recovered(func(r *router.Router) { r.Mount("/a", h) })
	for _, want := range []string{`conflicts with pattern "/a" `, `conflicts with pattern "/a/{rest...}" `} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error of Mount lacks %s: %v", want, err)
		}
	}
	var m *router.Mistake
	if !errors.As(err, &m) || m.OtherPattern != "/a" || m.Example != "GET /a" {
		t.Errorf("no mistake in %v: %+v", err, m)
	}
	for name, f := range map[string]func(r *router.Router){
		"unreadable":  func(r *router.Router) { r.Handle("/b/{", h) },
		"group":       func(r *router.Router) { r.Group("/b/") },
		"middleware":  func(r *router.Router) { r.With(nil) },
		"media type":  func(r *router.Router) { r.Accept("text") },
		"constraint":  func(r *router.Router) { r.Constrain("", router.UUID) },
		"no handler":  func(r *router.Router) { r.Handle("/b", nil) },
		"second name": func(r *router.Router) { r.Name("n").Handle("/b", h); r.Name("n").Handle("/c", h) },
	} {
		if err := recovered(f); err == nil || !strings.HasPrefix(err.Error(), "router: ") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestUnreadablePatternsAreRejected(t *testing.T) {
	for _, c := range []struct {
		pattern string
		offset  int
		says    string // part of the message
	}{
		{"", 0, "no path"},
		{"GET", 0, "no path"},
		{"example.com", 0, "no path"},
		{"get /a", 0, "write GET"},
		{"GET,,POST /a", 4, "method is missing"},
		{"GET, POST /a", 4, "GET,HEAD /path"},
		{"GET,GET /a", 4, "duplicate method GET"},
		{"G:T /a", 0, `"G:T"`},
		{" /a", 0, "begins with a blank; leave it out"},
		{"GET,POST/a", 3, "write a blank after the methods"},
		{"GET https://example.com/a", 4, "leave https:// out"},
		{"[::1]:80/a", 0, "write [::1]:"},
		{"GET  {x}/a", 5, "no parameters"},
		{"*/a", 0, "leave it out to match every host, or write *.example.com"},
		{"{x}/a", 0, "no parameters, except in place of its first label; a path begins with a slash"},
		{"users{x}/a", 5, "a path begins with a slash"},
		{".example.com/a", 0, "write *.example.com for its subdomains"},
		{"GET *example.com/a", 5, "whole first label of a host; write *.example.com"},
		{"*-x.example.com/a", 1, "write *.x.example.com"},
		{"{x}-{y}.example.com/a", 4, "write {name...}.example.com"},
		{"**.example.com/a", 1, "write {name...}.example.com for several labels"},
		{"*.*.example.com/a", 2, "write {name...}.example.com for several labels"},
		{"{x}.{y}.example.com/a", 4, "write {name...}.example.com for several labels"},
		{"www.*.example.com/a", 4, "only the first label of a host can be a wildcard"},
		{"www-{x}.example.com/a", 4, "write *.example.com or {name}.example.com"},
		{"example.*/a", 8, "only the first label"},
		{"{x.example.com/a", 0, "ends with }"},
		{"{}.example.com/a", 1, "no name"},
		{"{$}.example.com/a", 0, "end of a path"},
		{"{x:itn}.example.com/a", 3, "did you mean int"},
		{"{x...:int}.example.com/a", 6, "takes no constraint"},
		{"GET {x}.example.com/{x}", 20, "duplicate name"},
		{"*.example.com:80/a", 2, "write *.example.com: it is matched on every port"},
		{"{x}.example.com./a", 4, "write {x}.example.com"},
		{"*./a", 1, "no name after *."},
		{"*..example.com/a", 2, "is empty"},
		{"*.2.1/a", 2, "part of an address"},
		{"*.[::1]/a", 2, "part of an address"},
		{"*.exa!mple.com/a", 5, `"!"`},
		{"*.a..b../a", 2, "not a host"},
		{"example!/a", 7, `"!"`},
		{"GET ex☃mple.com/a", 6, "host"},
		{"GET example.com:80/a", 4, "write example.com"},
		{"GET []/a", 4, "not a host"}, // "" would be all hosts
		{"[.]/a", 0, "not a host"},
		{"[a:1]/a", 0, "not a host"},
		{"/a//b", 3, "cleaned"},
		{"/a/../b", 3, `".."`},
		{"/a/%2e%2E/b", 3, "cleaned"},
		{"/a/{x", 3, "ends with }"},
		{"/a/b{x/c}", 4, "ends with }"},
		{"/a/{x}{y}", 6, "one parameter for the whole segment, with a constraint made by Regexp"},
		{"/a/b{x}-{y:int}.c", 8, "two parameters"},
		{"/a/{x:int}-{", 11, "two parameters"},
		{"/a/b}c{x}", 4, "%7D"},
		{"/a/{x}}", 6, "%7D"},
		{"/a/{x{y}}", 4, `"x{y"`},
		{"/a/{x{y}", 4, `"x{y"`},
		{"/a/b{x...}", 3, "text around it; put a slash between"},
		{"/a/{x...}.json", 3, "text around it"},
		{"/a/{x...}.json/b", 3, "text around it"},
		{"/a/b{$}", 3, "{$} has text around it; put a slash between"},
		{"/a/{$}b", 3, "text around it"},
		{"/a/{}", 4, "no name"},
		{"/a/{...}", 4, "no name"},
		{"/a/{1x}", 4, `"1x"`},
		{"/a/{x y}", 5, "between braces; leave it out"},
		{"GET /a/{x: int}", 10, "did you mean int"},
		{"/a/b c", 4, "write %20"},
		{"/a/{x}/b c", 8, "write %20"},
		{"/a/{x}/{x}", 7, "duplicate name"},
		{"/a/{$}/b", 3, "end of a path"},
		{"/a/{x:uid}", 6, "did you mean uuid"},
		{"/a/{x:nothing}", 6, "there are base64url, date, hex"},
		{"/a/{x:[0-9]+}", 6, "a constraint with Regexp and use its name: {x:name}"},
		{"/a/{x:[0-9]{3}}", 6, "with Regexp"},
		{"/a/{x:.*}", 6, "write {x...}"},
		{"/a/{x:*}", 6, "write {x...}"},
		{"/a/{*x}", 4, "write {x...}"},
		{"/a/{x..}", 4, "write {x...}"},
		{"/a/{x:}", 6, "no name; write {x}"},
		{"/a/v{x:itn}.json", 7, "did you mean int"},
		{"/a/{x...:int}", 9, "takes no constraint"},
		{"/a/{x:int...}", 6, "takes no constraint"},
		{"/{a...}/{b...}/c", 8, "directly after"},
		{"/{a...}/{b...}", 8, "directly after"},
		{"/{a...}/", 8, "directly after"},
	} {
		_, err := router.NewTable(nil, []router.Entry[int]{{Pattern: "/ok"}, {Pattern: c.pattern}})
		var m *router.Mistake
		if !errors.As(err, &m) {
			t.Errorf("%q is accepted", c.pattern)
			continue
		}
		if m.Entry != 1 || m.Pattern != c.pattern || m.Offset != c.offset || m.Other != -1 ||
			!strings.Contains(m.Error(), c.says) {
			t.Errorf("%q: got %+v, want offset %d and %q", c.pattern, m, c.offset, c.says)
		}
	}
}

func TestConflictsAreFoundWithExamples(t *testing.T) {
	for _, c := range []struct {
		a, b    string
		example string // "": no conflict
	}{
		{"/a", "/a", "GET /a"},
		{"/{a}/b", "/{c}/b", "GET /c/b"},
		{"/a/", "/a/{rest...}", "GET /a/"},
		{"/a/{$}", "/a/{$}", "GET /a/"},
		{"/a%2Fb/{x}", "/a%2fb/{y}", "GET /a%2Fb/y"},
		{"GET,POST /a", "POST,PUT /a", "POST /a"},
		{"HEAD,PUT /a", "GET,PUT /a", "PUT /a"},
		{"PUT example.com/a", "PUT EXAMPLE.com/a", "PUT example.com/a"},
		{"/{a:int}", "/{b:hex}", "GET /1"},
		{"/{a:slug}", "/{b:date}", "GET /2024-02-29"},
		{"/{p}/{a:int}/{r...}", "/{q}/{b:hex}/{s...}", "GET /q/1/"},
		{"/{a:int}/{r...}", "/{b:hex}/{c...}/y", "GET /1/c/y"},
		{"/{w...}/{a:int}/x/{r...}", "/{w...}/{b:hex}/{y}/{z}/x", "GET /w/1/x/z/x"},
		{"GET /{a:int}", "HEAD /{b:hex}", "HEAD /1"},
		{"/{a:code}", "/{b:word}", "GET /AAA1"},
		{"/{a:code}", "/{b:any}", "GET /AAA1"},

		{"/report-{a}.pdf", "/report-{b}.pdf", "GET /report-b.pdf"},
		{"/v{a:int}", "/v{b:hex}", "GET /v1"},
		{"/%7Bv{a:int}.c/{r...}", "/%7bv{b:slug}.c/x", "GET /%7Bv1.c/x"},
		{"/{a:long}/%2Fv{x:long}", "/{b:long}/%2Fv{x:long}", "GET /{b:long}/%2Fv{x:long}"}, // no value is known
		{"/{a:int}/v{x}", "/{b:hex}/v1", "GET /1/v1"},                                      // a literal
		{"/{a:int}/v{x:int}", "/{b:hex}/{y}2", "GET /1/v42"},                               // text at different ends
		{"/{a:int}/ab{x}", "/{b:hex}/{y}bc", "GET /1/abybc"},                               // text that may overlap
		{"/{a:int}/{x:slug}", "/{b:hex}/{y}-title", "GET /1/y-title"},
		{"/{a:int}/{x:date}", "/{b:hex}/{y}-01", "GET /1/2024-02-01"},          // replaces the end of an example
		{"/{a:int}/a{x:int}", "/{b:hex}/a1{y}.", ""},                           // no integer has this end
		{"/{a:int}/report-{x:int}", "/{b:hex}/rep{y:slug}", "GET /1/report-1"}, // nested prefixes
		{"/{a:int}/{x}.tar.gz", "/{b:hex}/{y}.gz", "GET /1/x.tar.gz"},          // nested suffixes
		{"/{w...}/v{a:int}/x", "/{w...}/v{b:hex}/{y}", "GET /w/v1/x"},

		{"/v{a:int}", "/{b:hex}", ""},
		{"/v{a:int}", "/v{b:hex}.c", ""},
		{"/v{a:int}", "/v{b}", ""},
		{"/v{a:int}", "/v1", ""},
		{"/{a}.json", "/{b}.jso", ""},
		{"/v{a:int}", "/w{b:int}", ""},
		{"/v{a:int}/x{c}", "/v{b:hex}/y{c}", ""},
		{"/v{a:int}/ab", "/v{b:hex}/ab{c}", ""},
		{"/v{a:int}/aba", "/v{b:hex}/ab{c}ba", ""},
		{"/{a:code}", "/{b:lower}", ""},
		{"GET /a", "HEAD /a", ""},
		{"GET /a", "/a", ""},
		{"GET /a", "POST /a", ""},
		{"/a", "/{a}", ""},
		{"/{a}/b", "/a/{b}", ""},
		{"/{a:int}", "/{b}", ""},
		{"/{a:int}/x", "/{b:hex}/y", ""},
		{"/{a:int}", "/{b:hex}/y", ""},
		{"/{a:int}/{r...}", "/{b:date}/{r...}", ""},
		{"GET /{a:int}", "POST /{b:hex}", ""},
		{"/{a:int}", "example.com/{b:hex}", ""},
		{"/{a...}/x", "/{b}/{c...}", ""},
		{"/{a...}/x/{b...}", "/{a...}/y/{b...}", ""},
		{"/a/{$}", "/a/{rest...}", ""},

		{"*.h.com/a", "{t}.h.com/a", "GET t.h.com/a"},
		{"*.h.com/a", "*.H.com/a", "GET x.h.com/a"},
		{"{t...}.h.com/{a}", "{s...}.h.com/{b}", "GET s.h.com/b"},
		{"{T}.h.com/a", "{Élan}.h.com/a", "GET x.h.com/a"},
		{"{a:int}.h.com/x", "{b:hex}.h.com/{y}", "GET 1.h.com/x"},
		{"{a:lower}.h.com/{x:int}", "{b:any}.h.com/{y}", "GET a.h.com/1"},
		{"{a:int}.h.com/x", "{b:hex}.h.com/y", ""},
		{"{a:int}.h.com/x", "{b:hex}.org/x", ""},
		{"{a:int}.h.com/x", "{b}.h.com/x", ""},
		{"{a:code}.h.com/x", "{b:word}.h.com/x", ""}, // hosts have no capital letters
		{"*.h.com/x", "{b...}.h.com/x", ""},
		{"*.h.com/x", "*.a.h.com/x", ""},
		{"*.h.com/x", "a.h.com/x", ""},
		{"*.h.com/x", "/x", ""},
	} {
		for _, swapped := range []bool{false, true} {
			a, b := c.a, c.b
			if swapped {
				a, b = b, a
			}
			_, err := router.NewTable(
				router.Constraints{"code": router.Regexp(`[A-Z]{3}[0-9]+`), "any": router.Regexp(`.+`),
					"lower": router.Regexp(`[a-z]+`), "long": router.Regexp(`1[0-9]{300}`)},
				[]router.Entry[int]{{Pattern: a}, {Pattern: b}})
			var m *router.Mistake
			switch found := errors.As(err, &m); {
			case !found && c.example != "":
				t.Errorf("%s and %s: no conflict", a, b)
			case found && c.example == "":
				t.Errorf("%s and %s: %v", a, b, m)
			case found && (m.Entry != 1 || m.Other != 0 || m.OtherPattern != a || !swapped && m.Example != c.example):
				t.Errorf("%s and %s: got %+v, want %q", a, b, m, c.example)
			}
		}
	}
}

// A segment that two constraints accept may be unknown to both. Then their names decide
// the order, not the order of registration.
func TestConstraintsWithUnknownOverlapAreOrderedByName(t *testing.T) {
	long := router.Regexp(`1[0-9]{300}`) // longer than any example
	constraints := router.Constraints{"after": long, "zone": long}
	path := "/1" + strings.Repeat("0", 300)
	for _, c := range []struct{ a, b, want string }{
		{"/{x:after}", "/{y:hex}", "/{x:after}"},
		{"/{x:hex}", "/{y:zone}", "/{x:hex}"},
	} {
		for _, order := range [][]string{{c.a, c.b}, {c.b, c.a}} {
			table, err := router.NewTable(constraints, []router.Entry[int]{{Pattern: order[0]}, {Pattern: order[1]}})
			if err != nil {
				t.Fatal(err)
			}
			if m := lookup(table, "GET", "", path, nil); m.Pattern != c.want {
				t.Errorf("%q: got %q, want %q", order, m.Pattern, c.want)
			}
		}
	}
}

// mistakesIn returns the mistakes in an error of NewTable, none for nil.
func mistakesIn(err error) []*router.Mistake {
	if err == nil {
		return nil
	}
	var all []*router.Mistake
	for _, e := range err.(interface{ Unwrap() []error }).Unwrap() {
		all = append(all, e.(*router.Mistake))
	}
	return all
}

func TestAllMistakesAreReportedAtOnce(t *testing.T) {
	_, err := router.NewTable(nil, []router.Entry[int]{
		{Pattern: "/a"}, {Pattern: "b"}, {Pattern: "/a"}, {Pattern: "/{x:int"}, {Pattern: "/{x:int}"},
		{Pattern: "/{y:int}"}, {Pattern: "/a"},
		{Pattern: "GET /b"}, {Pattern: "PUT /b"}, {Pattern: "PUT,GET /b"},
	})
	all := mistakesIn(err)
	var got []string
	for _, m := range all {
		got = append(got, fmt.Sprint(m.Entry, " ", m.Other))
	}
	if want := "1 -1, 2 0, 3 -1, 5 4, 6 0, 9 7"; strings.Join(got, ", ") != want {
		t.Errorf("got %v, want %s\n%v", got, want, err)
	}
	if lines := strings.Count(err.Error(), "\n") + 1; lines != len(all) {
		t.Errorf("%d lines for %d mistakes:\n%v", lines, len(all), err)
	}
}

func TestTooManyMethodsAreRefused(t *testing.T) {
	var entries []router.Entry[int]
	for i := range 64 {
		entries = append(entries, router.Entry[int]{Pattern: fmt.Sprintf("M%d /a", i)})
	}
	_, err := router.NewTable(nil, entries[:55]) // nine other methods are always known
	if err != nil {
		t.Error(err)
	}
	_, err = router.NewTable(nil, entries)
	if all := mistakesIn(err); len(all) != 9 || all[0].Entry != 55 {
		t.Errorf("got %v", err)
	}
}
