package redirect

import (
	"net/url"
	"strings"
	"testing"

	"github.com/weirhq/weir/front/internal/template"
	"github.com/weirhq/weir/router"
)

// FuzzLocation checks that no request changes the host of a location, and that
// each location is printable ASCII.
func FuzzLocation(f *testing.F) {
	f.Add("/*", "/evil.example", "")
	f.Add("/x/*", "\\evil.example", "a\r\nb")
	f.Add("https://example.com/*", "@evil.example/", "?")
	f.Add("/*?", ":80/\t/é", "#")
	f.Fuzz(func(t *testing.T, to, suffix, query string) {
		location, ok := location(to, "/old/"+suffix, query)
		if !ok {
			return
		}
		for i := range len(location) {
			if location[i] <= ' ' || location[i] >= 0x7f || location[i] == '\\' {
				t.Fatalf("%q holds %q", location, location[i])
			}
		}
		if strings.Contains(suffix, "%") || strings.Contains(query, "%") || strings.Contains(to, "%") {
			return // net/url and the front door each refuse some of these
		}
		u, err := url.Parse(location)
		if err != nil {
			t.Fatal(err)
		}
		configured, _ := url.Parse(to)
		if strings.HasPrefix(to, "/") {
			configured = &url.URL{}
		}
		if configured == nil || u.Scheme != strings.ToLower(configured.Scheme) ||
			u.Host != strings.ToLower(configured.Host) || u.User != nil {
			t.Errorf("%q with the suffix %q leads to %q", to, suffix, location)
		}
	})
}

// location returns the address that requests below /old/ are redirected to, and
// reports whether the target is valid.
func location(to, path, query string) (location string, ok bool) {
	source, refused := ParseSource("/old/*")
	if refused != nil {
		return "", false
	}
	target, refused := ParseTarget(to, 307, source)
	if refused != nil {
		return "", false
	}
	return locationOf(target, source.Pattern, "", path, query)
}

// locationOf returns the address that a target has for a path that the pattern matches.
func locationOf(target *Target, pattern, host, path, query string) (location string, ok bool) {
	v := template.Values{Params: new(router.Params), Host: host, Path: path, Query: query}
	table, err := router.NewTable(nil, []router.Entry[int]{{Pattern: pattern}})
	if err != nil {
		return "", false
	}
	if e, _ := table.Lookup("GET", host, "", path, v.Params); e == nil {
		return "", false
	}
	b, err := target.AppendLocation(nil, &v)
	return string(b), err == nil
}

func TestLocationIsBuiltFromTemplate(t *testing.T) {
	for _, c := range []struct {
		pattern, to string
		query       Query
		target      string
		want        string
	}{
		{"/old/{id}", "/new/{id}", KeepUnlessReplaced, "/old/a%2Fb?x=1", "/new/a%2Fb?x=1"},
		{"/old/{id}", "/new/{id}", Drop, "/old/a?x=1", "/new/a"},
		{"/old/{id}", "/new?id={id}", KeepUnlessReplaced, "/old/a&b=c?x=1", "/new?id=a%26b%3Dc"},
		{"/old/{id}", "/new?id={id}", Keep, "/old/a?x=1", "/new?id=a&x=1"},
		{"/old/{id}", "/new?", Keep, "/old/a?x=1", "/new?x=1"},
		{"/old/{id}", "/new?", KeepUnlessReplaced, "/old/a?x=1", "/new"},
		{"/old/{id}", "/new?a={request.query}#{id}", KeepUnlessReplaced, "/old/a?x=1&y=2", "/new?a=x=1&y=2#a"},
		{"/{path...}", "https://{request.host}/{path}", Keep, "/a//b%20?x", "https://shop.example/a//b%20?x"},
		{"/{path...}", "HTTPS://{request.host}:8443/{path}", Keep, "/", "https://shop.example:8443/"},
		{"/{path...}", "/{path}", Keep, "//evil.example/x", "/evil.example/x"},
		{"/{path...}", "/{path}", Keep, "//%2Fevil.example", "/%2Fevil.example"},
		{"/x/{a...}", "/{a}/{request.host}", Keep, "/x/", "/shop.example"},
		{"/x/{a...}", "/{a}/{request.host}", Keep, "/x//", "/shop.example"},
		{"/x/{a}", "https://WWW.example.com", Drop, "/x/y", "https://www.example.com/"},
		{"/x/{A}", "https://example.com/{A}{{", Drop, "/x/@evil.example:80", "https://example.com/@evil.example:80%7B"},
	} {
		target, refused := ParseTemplate(c.to, 307, c.query, template.ParsePattern(c.pattern))
		if refused != nil {
			t.Errorf("%s: %s", c.to, refused.What)
			continue
		}
		path, query, _ := strings.Cut(c.target, "?")
		if got, ok := locationOf(target, c.pattern, "shop.example", path, query); got != c.want || !ok {
			t.Errorf("%s of %s for %s: %q, want %q", c.to, c.pattern, c.target, got, c.want)
		}
	}
}

func TestUnsafeTargetsAreRefused(t *testing.T) {
	for _, to := range []string{"", "x", "//a", "/{x}", "/new/*", "https://{id}/", "https://{request.path}/", "https:///x",
		"https://a@b/", "/a/../b", "/a/%{id}", "/%2{id}", "/a\\b", "ftp://a/", "{request.host}/x", "/\n", "/{id", "/id}",
		"https://{request.host}{id}/"} {
		if _, refused := ParseTemplate(to, 307, Keep, template.ParsePattern("/old/{id}")); refused == nil {
			t.Errorf("%q is accepted", to)
		}
	}
}

// FuzzTemplate checks that no request changes the host of a location made of its values, and that
// each location is printable ASCII. The oracle is net/url.
func FuzzTemplate(f *testing.F) {
	for _, to := range []string{"/{rest}", "/{id}/{rest}", "/{rest}/{id}", "/{rest}{id}?{id}#{rest}",
		"https://{request.host}/{rest}",
		"http://a.example:80/{id}?x={rest}&{request.query}", "/x{rest}/{id}/"} {
		for _, rest := range []string{"", "/", "//evil.example", "/\\evil", "%2Fevil.example/", "@evil.example", ":80",
			"\t/é", "?#"} {
			f.Add(to, "x", rest, rest)
			f.Add(to, rest, "", "")
		}
	}
	f.Fuzz(func(t *testing.T, to, id, rest, query string) {
		const pattern, host = "/old/{id}/{rest...}", "shop.example"
		target, refused := ParseTemplate(to, 307, Keep, template.ParsePattern(pattern))
		if refused != nil {
			return
		}
		location, ok := locationOf(target, pattern, host, "/old/"+id+"/"+rest, query)
		if !ok {
			return
		}
		for i := range len(location) {
			if location[i] <= ' ' || location[i] >= 0x7f || location[i] == '\\' {
				t.Fatalf("%q holds %q", location, location[i])
			}
		}
		if strings.Contains(id+rest+query+to, "%") {
			return // net/url and the front door each refuse some of these
		}
		u, err := url.Parse(location)
		if err != nil {
			t.Fatal(err)
		}
		want, _, _ := strings.Cut(strings.NewReplacer("{request.host}", host).Replace(to), "?")
		if _, after, found := strings.Cut(want, "://"); strings.HasPrefix(to, "/") || !found {
			want = ""
		} else {
			want = strings.ToLower(after[:min(len(after), strings.IndexAny(after+"/", "/#"))])
		}
		if u.Host != want || u.User != nil {
			t.Errorf("%q with %q and %q leads to %q, want the host %q", to, id, rest, location, want)
		}
	})
}
