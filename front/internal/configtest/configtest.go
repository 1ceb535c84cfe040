// Package configtest parses configurations. It is for tests.
package configtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/internal/mistaketest"
)

// ParseIn parses a configuration in a folder, with files that it names.
func ParseIn(folder, src string) (*config.Config, error) {
	return config.Parse(filepath.Join(folder, "weir.yaml"), []byte(src), nil)
}

// ParseBeside parses a configuration in a folder with one file, which has a name and a text.
func ParseBeside(t testing.TB, src, name, text string) (*config.Config, error) {
	t.Helper()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return ParseIn(folder, src)
}

// ParseRoute parses a configuration with the upstreams a and b and a route with a pattern, and keys from line 4 on.
func ParseRoute(match, keys string) (*config.Config, error) {
	return config.Parse("weir.yaml", []byte("upstreams: {a: {servers: http://a}, b: {servers: http://b}}\n"+
		"routes:\n- match: "+match+"\n"+keys), nil)
}

// When returns a configuration with a route for each of the conditions, on a line of its own from line 3 on. "" is a
// route without conditions.
func When(conditions ...string) string {
	var b strings.Builder
	b.WriteString("upstreams: {a: {servers: http://a}}\nroutes:\n")
	for _, c := range conditions {
		if c != "" {
			c = ", when: " + c
		}
		b.WriteString("- {match: '/{x...}'" + c + ", to: a}\n")
	}
	return b.String()
}

// WantMistakes compares the mistakes of a configuration with the mistakes that a subtest expects, as
// [mistaketest.Want] does.
func WantMistakes(t *testing.T, name, src string, want []string) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		t.Helper()
		_, err := config.Parse("weir.yaml", []byte(src), nil)
		mistaketest.Want(t, err, want)
	})
}
