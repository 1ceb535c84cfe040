package nearest

import (
	"strings"
	"testing"
)

func TestWordFindsTheNearest(t *testing.T) {
	words := []string{"listen", "log", "to", "trusted_proxies"}
	for misspelt, want := range map[string]string{
		"lisen":                  "listen",
		"ilsten":                 "listen",
		"LISTEN":                 "listen",
		"logs":                   "log",
		"t":                      "to",
		"trusted-proxies":        "trusted_proxies",
		"colour":                 "",
		"":                       "",
		strings.Repeat("x", 1e6): "",
	} {
		if got := Word(misspelt, words); got != want {
			t.Errorf("Word(%.20q) = %q, want %q", misspelt, got, want)
		}
	}
}

func TestDistanceCountsEdits(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "ab", 2}, {"ab", "", 2}, {"ab", "ba", 1}, {"abc", "axc", 1},
		{"abc", "abcd", 1}, {"abcd", "bc", 2}, {"é", "e", 1}, {"kitten", "sitting", 3},
	} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
