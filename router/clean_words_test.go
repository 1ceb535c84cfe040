package router

import (
	"strings"
	"testing"
)

// The functions that read eight bytes at a time return the same as those that read one.
func TestCleaningByWordsEqualsByBytes(t *testing.T) {
	letters := "/.-0\xaf\xae/" // including '/' and '.' with another bit set
	for n := range 200_000 {
		// 0 to 20 letters: n counts in base 7 and is repeated at an offset.
		var b strings.Builder
		b.WriteString("/" + strings.Repeat("x", n%11))
		for left := n; left > 0; left /= len(letters) {
			b.WriteByte(letters[left%len(letters)])
		}
		b.WriteString(strings.Repeat("y", n%5))
		path := b.String()
		if got, want := maybeUnclean(path), strings.Contains(path, "//") || strings.Contains(path, "/."); got != want {
			t.Fatalf("maybeUnclean(%q) = %t", path, got)
		}
		if got, want := isClean(path), cleanSegments(path, dots); got != want {
			t.Fatalf("isClean(%q) = %t", path, got)
		}
	}
	for _, path := range []string{"", "a", "a/b", "*"} {
		if isClean(path) {
			t.Errorf("isClean(%q)", path)
		}
	}
}

var sink bool

func BenchmarkIsClean(b *testing.B) {
	for _, path := range []string{"/", "/repos/weirhq/weir/issues/42", "/" + strings.Repeat("segment/", 100),
		"/.well-known/acme-challenge/x"} {
		b.Run(path[:min(len(path), 20)], func(b *testing.B) {
			for b.Loop() {
				sink = isClean(path)
			}
		})
	}
}
