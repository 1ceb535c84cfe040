package target

import (
	"slices"
	"strings"
	"testing"
)

func TestReadingsCoverOtherParsersOfPaths(t *testing.T) {
	for path, want := range map[string]string{
		"/a/b":           "",
		"/":              "",
		"/%61%2e":        "",
		"//a":            "/a",
		"/a///b/":        "/a/b/",
		"/a%2Fb":         "/a/b",
		"/a%2f/b":        "/a//b /a/b",
		"/a;v=1/b":       "/a/b",
		"/;v/a":          "//a /a",
		"/a;x%2Fy/b":     "/a;x/y/b /a/b /a/y/b",
		"/a;v//b%2Fc":    "/a;v//b/c /a//b%2Fc /a//b/c /a;v/b%2Fc /a;v/b/c /a/b%2Fc /a/b/c",
		"/index.jsp;id=": "/index.jsp",
	} {
		if got := strings.Join(Readings(path), " "); got != want {
			t.Errorf("Readings(%q) = %q, want %q", path, got, want)
		}
	}
	path := "/datasets/1/files/a%20b.html"
	if n := testing.AllocsPerRun(100, func() { Readings(path) }); n != 0 {
		t.Errorf("%v allocations for a path with one reading, want 0", n)
	}
}

// FuzzReadings compares Readings with servers that split a path into segments.
func FuzzReadings(f *testing.F) {
	for _, p := range []string{"/a/b", "//a;x/b", "/a%2f;b//c", "/;%2F;"} {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, p string) {
		if CheckPath(p) != "" || !strings.HasPrefix(p, "/") {
			t.Skip("the front door refuses such a path")
		}
		segments := strings.Split(strings.NewReplacer("%2F", "/", "%2f", "/").Replace(p), "/")
		for i := range segments {
			segments[i], _, _ = strings.Cut(segments[i], ";")
		}
		last := segments[len(segments)-1]
		segments = slices.DeleteFunc(segments, func(s string) bool { return s == "" })
		want := "/" + strings.Join(segments, "/")
		if last == "" && want != "/" {
			want += "/"
		}
		readings := Readings(p)
		if p != want && !slices.Contains(readings, want) {
			t.Errorf("Readings(%q) = %q, without %q", p, readings, want)
		}
		for _, r := range readings {
			if CheckPath(r) != "" {
				t.Errorf("%q may be read as %q: %s", p, r, CheckPath(r))
			}
		}
	})
}
