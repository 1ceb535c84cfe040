package config_test

import (
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/mistaketest"
)

// when returns a configuration with a route for each of the conditions, on a line of its
// own from line 3 on. "" is a route without conditions.
func when(conditions ...string) string {
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

// TestRoutesWithOnePattern checks routes that differ only in their conditions.
func TestRoutesWithOnePattern(t *testing.T) {
	for _, c := range []struct {
		name, src string
		want      []string
	}{
		{"unreachable", when("{headers: {X-A: true}}", "{headers: {x-a: 1}, query: {b: false}}", "{headers: {X-A: true}}", "",
			"{headers: {X-B: 1}}", "{headers: {X-B: 1, X-C: false}}", "{headers: {X-B: 2}}"),
			[]string{`4:11 no request reaches this route|on line 3|move it before`, `5:11 no request reaches|on line 3`,
				`8:11 no request reaches|on line 7`}},
		{"different names", strings.Replace(when("{headers: {X-A: 1}}", "{headers: {X-A: 2}}"), "{x...}", "{y...}", 1),
			[]string{`4:11 conflicts|more specific, or write the same pattern in both`}},
		{"two without conditions", when("{headers: {X-A: 1}}", "", ""), []string{`5:11 conflicts|line 4`}},
	} {
		t.Run(c.name, func(t *testing.T) { mistaketest.Want(t, mistakes(t, c.src, nil), c.want) })
	}
}

// A condition is not a reason why a redirect would be shadowed.
func TestConditionsAndRedirects(t *testing.T) {
	src := "redirects: r.csv\n" + when("{headers: {X-A: 1}}")
	if _, err := parseRedirects(t, src, "/old,/new\n/a/*,/b/*\n"); err != nil {
		t.Error(err)
	}
}
