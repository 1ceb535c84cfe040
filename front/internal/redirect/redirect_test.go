package redirect

import (
	"net/url"
	"strings"
	"testing"
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
	return target.Location(path, query), true
}
