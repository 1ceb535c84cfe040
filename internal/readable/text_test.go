package readable_test

import (
	"testing"

	"github.com/weirhq/weir/internal/readable"
)

func TestFitKeepsTheWidth(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"", 0, ""}, {"a", 0, ""}, {"a", -3, ""}, {"a", 1, "a"}, {"ab", 1, "…"}, {"äöü", 3, "äöü"}, {"äöüß", 3, "äö…"},
	} {
		if got := readable.Fit(c.text, c.width); got != c.want {
			t.Errorf("Fit(%q, %d) is %q, want %q", c.text, c.width, got, c.want)
		}
	}
}
