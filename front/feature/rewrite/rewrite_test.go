package rewrite

import (
	"net/url"
	"strings"
	"testing"

	"github.com/weirhq/weir/front/internal/target"
	"github.com/weirhq/weir/front/internal/template"
	"github.com/weirhq/weir/router"
)

// A rule is a route's pattern and the values of its keys.
type rule struct{ match, strip, add, rewrite string }

func (s rule) build(t testing.TB) *rewrite {
	t.Helper()
	r, refused := parse(Config{StripPrefix: s.strip, AddPrefix: s.add, To: s.rewrite}, template.ParsePattern(s.match))
	for _, why := range refused {
		if why != nil {
			t.Fatalf("%+v: %s", s, why.What)
		}
	}
	return r
}

// apply returns the target for a request, or the reason of a refusal in brackets. matched is
// false if the pattern does not match.
func (s rule) apply(t testing.TB, r *rewrite, sent string) (got string, matched bool) {
	t.Helper()
	table, err := router.NewTable(nil, []router.Entry[int]{{Pattern: s.match}})
	if err != nil {
		t.Fatal(err)
	}
	path, query, _ := strings.Cut(sent, "?")
	v := &template.Values{Params: new(router.Params), Path: path, Query: query}
	if e, _ := table.Lookup("GET", "a", "", path, v.Params); e == nil {
		return "", false
	}
	b, status, why := r.append(nil, v, sent[len(path):])
	if status != 0 {
		return "[" + why + "]", true
	}
	return string(b), true
}

func TestPathsAreRewritten(t *testing.T) {
	const empty = "[the path has an empty segment after the prefix that is removed]"
	const unnamed = "[the path has an empty segment with parameters after it is rewritten]"
	const adds = "[a parameter of the path would add an empty segment]"
	for _, c := range []struct {
		rule       rule
		sent, want string
	}{
		{rule{match: "/api/{path...}", strip: "/api"}, "/api/a%2Fb/%20?x=%2F", "/a%2Fb/%20?x=%2F"},
		{rule{match: "/api/{path...}", strip: "/api"}, "/%61pi/a?", "/a?"},
		{rule{match: "/api/{path...}", strip: "/api"}, "/api/", "/"},
		{rule{match: "/api/{path...}", strip: "/api"}, "/api/a//b/", "/a//b/"},
		{rule{match: "/api/{path...}", strip: "/api"}, "/api//a", empty},
		{rule{match: "/api/{path...}", strip: "/api"}, "/api//", empty},
		{rule{match: "/api/{path...}", strip: "/api"}, "/api/%2Fa", empty},
		{rule{match: "/api/{path...}", strip: "/api"}, "/api/%2fa", empty},
		{rule{match: "/api/{path...}", strip: "/api"}, "/api/;v=1/a", empty},
		{rule{match: "/api/{path...}", strip: "/api"}, "/api/;v=1%2Fa", empty},
		{rule{match: "/api/{path...}", strip: "/api"}, "/api/;/;a/", empty},
		{rule{match: "/api/{path...}", strip: "/api"}, "/api/;v=1", "/;v=1"},
		{rule{match: "/api", strip: "/api"}, "/api?x", "/?x"},
		{rule{match: "/api/v1/{x}", strip: "/api"}, "/api/v1/x", "/v1/x"},
		{rule{match: "/api/v1/{x}", strip: "/api/v1"}, "/api/v1/x", "/x"},

		{rule{match: "/{path...}", add: "/v2"}, "/a%2F?x", "/v2/a%2F?x"},
		{rule{match: "/{path...}", add: "/v2"}, "/", "/v2/"},
		{rule{match: "/{path...}", add: "/v2/ü"}, "/x", "/v2/%C3%BC/x"},
		{rule{match: "/api", strip: "/api", add: "/v2"}, "/api?x", "/v2?x"},
		{rule{match: "/api/{path...}", strip: "/api", add: "/v2"}, "/api/", "/v2/"},
		{rule{match: "/api/{path...}", strip: "/api", add: "/v2"}, "/api/a/b", "/v2/a/b"},
		{rule{match: "/api/{path...}", strip: "/api", add: "/v2"}, "/api//a", empty},
		{rule{match: "/api/{path...}", strip: "/api", add: "/v2"}, "/api/%2fa", empty},
		{rule{match: "/api/{path...}", strip: "/api", add: "/v2"}, "/api/;v=1/a", empty},
		{rule{match: "/{path...}", add: "/v2"}, "//a", "/v2//a"},

		{rule{match: "/old/{id}", rewrite: "/new/{id}"}, "/old/a%2Fb?x=1", "/new/a%2Fb?x=1"},
		{rule{match: "/old/{id}", rewrite: "/new/{id}?"}, "/old/a?x=1", "/new/a"},
		{rule{match: "/old/{id}", rewrite: "/new?id={id}&{request.query}"}, "/old/a&b?x=1", "/new?id=a%26b&x=1"},
		{rule{match: "/old/{path...}", rewrite: "/{path}"}, "/old//a", adds},
		{rule{match: "/old/{path...}", rewrite: "/{path}/x"}, "/old/", adds},
		{rule{match: "/old/{path...}", rewrite: "/{path}"}, "/old/%2Fa", adds},
		{rule{match: "/old/{path...}", rewrite: "/{path}"}, "/old/", "/"},
		{rule{match: "/old/{path...}", rewrite: "/{path}"}, "/old/;v/a", unnamed},
		{rule{match: "/old/{id}", rewrite: "/{id}/x"}, "/old/;", unnamed},
		{rule{match: "/old/{path...}", rewrite: "/{path}"}, "/old/a;v/b", "/a;v/b"},
		{rule{match: "/v{id}", rewrite: "/{id}"}, "/v..", "[the path has a dot segment after it is rewritten]"},
		{rule{match: "/v{id}", rewrite: "/{id}"}, "/v%2e", "[the path has a dot segment after it is rewritten]"},
	} {
		if got, matched := c.rule.apply(t, c.rule.build(t), c.sent); got != c.want || !matched {
			t.Errorf("%+v: %s becomes %q, want %q", c.rule, c.sent, got, c.want)
		}
	}
}

func TestUnsafeRewritesAreRefused(t *testing.T) {
	p := template.ParsePattern("/api/{id}")
	for _, prefix := range []string{"", "/", "api", "/api/", "//api", "/a//b", "/a/../b", "/a b", "/a?b", "/a#b", "/{id}",
		"/*",
		"/a%2", "/a\\", "/apis", "/api/x", "/a%00"} {
		if _, refused := parse(Config{StripPrefix: prefix}, p); refused[0] == nil && prefix != "" {
			t.Errorf("strip_prefix %q is accepted", prefix)
		}
		ok := prefix == "/apis" || prefix == "/api/x" || prefix == ""
		if _, refused := parse(Config{AddPrefix: prefix}, p); (refused[1] == nil) != ok {
			t.Errorf("add_prefix %q: accepted is not %v", prefix, ok)
		}
	}
	for _, text := range []string{"x", "{id}", "?x", "//x", "/{id}//x", "/..", "/x/*", "/x#y", "/x\n", "/{no}", "/x?{no}",
		"/%{id}", "/{id", "/x\\y"} {
		if _, refused := parse(Config{To: text}, p); refused[2] == nil {
			t.Errorf("rewrite %q is accepted", text)
		}
	}
	if _, refused := parse(Config{StripPrefix: "/api", To: "/x"}, p); refused[2] == nil {
		t.Error("a rewrite after strip_prefix is accepted")
	}
}

// FuzzAppend checks that each target is one valid target in origin form, without control
// bytes and without an empty first segment, and that it has the path that a naive
// implementation on decoded segments computes.
func FuzzAppend(f *testing.F) {
	for i := range fuzzRules {
		for _, sent := range []string{"/api/v1/x", "/api/v1/%2e%2e/x", "/api/v1//evil", "/api/v1/%2Fx?%0d%0a",
			"/api/v1/a%00b",
			"/%61pi/v1/..", "/api/v1/", "/api/v1", "/api/v1/a/b/c?x=/../", "/api/v1/é/%C3%A9", "/api/v1/a&b=c;d"} {
			f.Add(i, sent)
		}
	}
	f.Fuzz(func(t *testing.T, i int, sent string) {
		s := fuzzRules[uint(i)%uint(len(fuzzRules))]
		path, query, _ := strings.Cut(sent, "?")
		if _, err := url.ParseRequestURI(sent); err != nil || target.CheckPath(path) != "" || strings.Contains(query, "#") {
			return // the front door refuses it
		}
		got, matched := s.apply(t, s.build(t), sent)
		if !matched || strings.HasPrefix(got, "[") {
			return
		}
		if len(got) == 0 || got[0] != '/' || strings.HasPrefix(got, "//") || strings.IndexFunc(got, isControl) >= 0 {
			t.Fatalf("%+v: %q becomes %q", s, sent, got)
		}
		u, err := url.ParseRequestURI(got)
		if err != nil || u.Host != "" || u.Fragment != "" {
			t.Fatalf("%+v: %q becomes %q: %v", s, sent, got, err)
		}
		gotPath, gotQuery, _ := strings.Cut(got, "?")
		if want := s.naive(path); decoded(gotPath) != decoded(want) {
			t.Errorf("%+v: %q becomes %q, want %q", s, sent, got, want)
		}
		if why := target.CheckPath(gotPath); why != "" {
			t.Errorf("%+v: %q becomes %q: %s", s, sent, got, why)
		}
		if s.rewrite != "/x?p={path}" && gotQuery != query {
			t.Errorf("%+v: %q becomes %q", s, sent, got)
		}
		if values, err := url.ParseQuery(gotQuery); s.rewrite == "/x?p={path}" &&
			(err != nil || len(values) != 1 || "/api/v1/"+values.Get("p") != unescaped(path)) {
			t.Errorf("%+v: %q becomes %q", s, sent, got)
		}
	})
}

var fuzzRules = []rule{
	{match: "/api/{path...}", strip: "/api"},
	{match: "/api/v1/{path...}", strip: "/api/v1"},
	{match: "/api/v1/{path...}", strip: "/api", add: "/x/y"},
	{match: "/{path...}", add: "/v2"},
	{match: "/api/v1/{path...}", rewrite: "/x/{path}"},
	{match: "/api/v1/{path...}", rewrite: "/{path}"},
	{match: "/api/v1/{path...}", rewrite: "/x?p={path}"},
}

// naive returns the path that a rule leads to, by the segments of the path.
func (s rule) naive(path string) string {
	segments := strings.Split(path, "/")[1:]
	switch s.rewrite {
	case "/x/{path}":
		return "/x/" + strings.Join(segments[2:], "/")
	case "/{path}":
		return "/" + strings.Join(segments[2:], "/")
	case "/x?p={path}":
		return "/x"
	}
	if s.strip != "" {
		segments = segments[strings.Count(s.strip, "/"):]
	}
	result := s.add
	for _, segment := range segments {
		result += "/" + segment
	}
	if result == "" {
		result = "/"
	}
	return result
}

// decoded returns the decoded segments of a path, joined by a byte that is in none.
func decoded(path string) string {
	segments := strings.Split(path, "/")
	for i := range segments {
		segments[i] = unescaped(segments[i])
	}
	return strings.Join(segments, "\x00")
}

func unescaped(s string) string {
	plain, _ := url.PathUnescape(s)
	return plain
}

func isControl(c rune) bool { return c < ' ' || c == 0x7f }
