package files

import (
	"path"
	"path/filepath"
	"strings"
	"testing"
)

func TestUnsafeNamesAreRefused(t *testing.T) {
	long := strings.Repeat("a", maxSegment)
	for _, c := range []struct {
		path string
		want Name
		why  string // "" for a name that is accepted
	}{
		{"", Name{Folder: true}, ""},
		{"a", Name{Path: "a"}, ""},
		{"a/b.js", Name{Path: "a/b.js"}, ""},
		{"a/", Name{Path: "a", Folder: true}, ""},
		{"a b/ü~$'\"%2e", Name{Path: "a b/ü~$'\"%2e"}, ""},
		{".well-known/acme/x", Name{Path: ".well-known/acme/x"}, ""},
		{".well-known", Name{Path: ".well-known"}, ""},
		{long, Name{Path: long}, ""},
		{long + "a", Name{}, "too long"},
		{"/", Name{}, "empty segment"},
		{"/a", Name{}, "empty segment"},
		{"a//b", Name{}, "empty segment"},
		{"a//", Name{}, "empty segment"},
		{".", Name{}, "begins with a dot"},
		{"..", Name{}, "begins with a dot"},
		{"../a", Name{}, "begins with a dot"},
		{"a/../b", Name{}, "begins with a dot"},
		{".git/config", Name{}, "begins with a dot"},
		{"a/.env", Name{}, "begins with a dot"},
		{"a/.env/", Name{}, "begins with a dot"},
		{".well-known/.env", Name{}, "begins with a dot"},
		{"a/.well-known/x", Name{}, "begins with a dot"},
		{".well-known.", Name{}, "begins with a dot"},
		{"a./b", Name{}, "ends in a dot or a blank"},
		{"a.js ", Name{}, "ends in a dot or a blank"},
		{"a\x00.js", Name{}, "control byte"},
		{"a\nb", Name{}, "control byte"},
		{"a\x7f", Name{}, "control byte"},
		{`a\b`, Name{}, "backslash"},
		{`..\a`, Name{}, "begins with a dot"},
	} {
		got, why := ParseName(c.path)
		if got != c.want || (why == "") != (c.why == "") || !strings.Contains(why, c.why) {
			t.Errorf("ParseName(%q) = %+v, %q, want %+v, %q", c.path, got, why, c.want, c.why)
		}
	}
}

// FuzzParseName checks that an accepted name is below the folder, has one spelling, and
// contains no hidden file.
func FuzzParseName(f *testing.F) {
	for _, s := range []string{"a/b", "../a", ".well-known/x", "a/./b", `\\a`, "a/..", "a\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, why := ParseName(text)
		switch {
		case why != "":
			return
		case n.Path == "":
			if text != "" {
				t.Errorf("%q is the folder itself", text)
			}
			return
		case path.Clean(n.Path) != n.Path || !filepath.IsLocal(n.Path):
			t.Errorf("%q becomes %q", text, n.Path)
		case text != n.Path && text != n.Path+"/":
			t.Errorf("%q becomes %q", text, n.Path)
		}
		for i, segment := range strings.Split(n.Path, "/") {
			if segment[0] == '.' && (i > 0 || segment != wellKnown) || strings.ContainsAny(segment, "\x00\\\n") {
				t.Errorf("%q has the segment %q", text, segment)
			}
		}
	})
}
