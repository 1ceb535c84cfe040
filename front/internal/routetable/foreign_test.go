package routetable

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/weirhq/weir/router"
)

// Each case is a pattern of another router, the offset of its first foreign
// character, the suggested pattern ("" for none) and the suggested escape.
func TestForeignPatternsAreExplained(t *testing.T) {
	for _, c := range []struct {
		pattern string
		offset  int
		meant   string
		escape  string
	}{
		{"/*", 1, "/{path...}", "%2A"},
		{"/**", 1, "/{path...}", "%2A"},
		{"/.*", 2, "/{path...}", "%2A"},
		{"/api/**", 5, "/api/{path...}", "%2A"},
		{"/api/*", 5, "/api/{path...}", "%2A"},
		{"/files/*path", 7, "/files/{path...}", "%2A"},
		{"/a/*/b", 3, "/a/{name}/b", "%2A"},
		{"/a/*/b/*/c", 3, "/a/{name}/b/{name2}/c", "%2A"},
		{"/a/**/b", 3, "/a/{name...}/b", "%2A"},
		{"/a/{path}/*", 10, "/a/{path}/{path2...}", "%2A"},
		{"/css/*.css", 5, "/css/{name}.css", "%2A"},
		{"/img*", 4, "/img{name}", "%2A"},
		{"/*-*", 1, "", "%2A"},
		{"/**/*", 1, "", "%2A"},
		{"/{id}*", 5, "", "%2A"},
		{"example.com/*", 12, "example.com/{path...}", "%2A"},
		{"/users/:id", 7, "/users/{id}", "%3A"},
		{"/users/:id/posts/:post_id", 7, "/users/{id}/posts/{post_id}", "%3A"},
		{"/users/:id.json", 7, "/users/{id}.json", "%3A"},
		{"/users/:id([0-9]+)", 7, "/users/{id}", "%3A"},
		{"/files/:path*", 7, "/files/{path...}", "%3A"},
		{"GET /users/:id", 11, "GET /users/{id}", "%3A"},
		{"GET|POST /x", 3, "GET,POST /x", ""},
		{"GET|POST /x/*", 3, "GET,POST /x/{path...}", ""},
		{"* /x", 0, "/x", ""},
		{"GET|POST x", 3, "", ""},
		{"/x?y=1", 2, "/x", "%3F"},
		{"/x#y", 2, "/x", "%23"},
		{"/x/{id}?", 7, "/x/{id}", "%3F"},
		{"/users/id}", 9, "/users/{id}", "%7D"},
		{"/users/1d}", 9, "", "%7D"},
		{"/x ", 2, "/x", "%20"},
		{"GET /x ", 6, "GET /x", "%20"},
		{"/x/{id} ", 7, "/x/{id}", "%20"},
		{"/a:b/*", 5, "/a:b/{path...}", "%2A"},
		{"/users/<id>", 7, "/users/{id}", "%3C"},
		{"/users/<int:id>/x", 7, "/users/{name}/x", "%3C"},
		{"/[slug]", 1, "/{slug}", "%5B"},
		{"/users/[0-9]+", 7, "/users/{name}", "%5B"},
		{"/v\\d", 2, "/{name}", "%5C"},
	} {
		t.Run(c.pattern, func(t *testing.T) {
			refused := RefuseForeign(c.pattern, nil)
			if refused == nil || refused.Offset != c.offset {
				t.Fatalf("want a refusal at offset %d, got %+v", c.offset, refused)
			}
			want := fmt.Sprintf("write %q, or %s for the character itself", c.meant, c.escape)
			if c.escape == "" && c.meant == "" {
				want = "see the patterns in docs/configuration/routes.md"
			} else if c.escape == "" {
				want = fmt.Sprintf("write %q", c.meant)
			} else if c.meant == "" {
				want = fmt.Sprintf("write %s for the character itself", c.escape)
			}
			if refused.Hint != want {
				t.Errorf("the hint is\n%s\nwant\n%s", refused.Hint, want)
			}
			if c.meant != "" {
				accept(t, c.meant)
			}
		})
	}
}

// Literal characters that look like syntax must be escaped. In the middle of a
// text, where no router gives them a meaning, they need not be.
func TestRefuseForeignAcceptsEscapes(t *testing.T) {
	for _, c := range []struct{ pattern, path string }{
		{"/%2A", "/*"},
		{"/api/%2A%2A", "/api/**"},
		{"/users/%3Aid", "/users/:id"},
		{"/x%3Fy=1", "/x%3Fy=1"},
		{"/users/id%7D", "/users/id%7D"},
		{"/x%20", "/x%20"},
		{"/wiki/File:x", "/wiki/File:x"},
		{"/:", "/:"},
		{"/:1", "/:1"},
	} {
		t.Run(c.pattern, func(t *testing.T) {
			table := accept(t, c.pattern)
			if e, _ := table.Lookup("GET", "", "", c.path, nil); e == nil {
				t.Errorf("GET %s reaches no route", c.path)
			}
		})
	}
}

// accept returns a table with a pattern, which is not foreign.
func accept(t *testing.T, pattern string) *router.Table[bool] {
	t.Helper()
	if refused := RefuseForeign(pattern, nil); refused != nil {
		t.Fatalf("%q: %s", pattern, refused.What)
	}
	table, err := router.NewTable(nil, []router.Entry[bool]{{Pattern: pattern}})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// FuzzForeignPattern checks that each refusal has a position in the pattern, that the suggested pattern is
// valid, and that no accepted path has a foreign character.
func FuzzForeignPattern(f *testing.F) {
	for _, pattern := range []string{"/*", "/api/**", "/users/:id", "GET|POST /x", "/x?y=1", "/users/id}", "/x ",
		"/{a}/:a*/b"} {
		f.Add(pattern)
	}
	written := regexp.MustCompile(`write "([^"\\]+)"`)
	f.Fuzz(func(t *testing.T, pattern string) {
		refused := RefuseForeign(pattern, nil)
		if refused == nil {
			if _, err := router.NewTable(nil, []router.Entry[bool]{{Pattern: pattern}}); err != nil {
				return
			}
			if path := strings.IndexByte(pattern, '/'); strings.ContainsAny(pattern[max(path, 0):], "*?#") {
				t.Errorf("%q was accepted", pattern)
			}
			return
		}
		if refused.Offset < 0 || refused.Offset > len(pattern) {
			t.Errorf("%q is refused at %d", pattern, refused.Offset)
		}
		if match := written.FindStringSubmatch(refused.Hint); match != nil && strings.Contains(match[1], "/") {
			accept(t, match[1])
		}
	})
}
