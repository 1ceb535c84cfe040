package config_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/mistaketest"
)

func TestParseTimeouts(t *testing.T) {
	c := parse(t, `upstreams: {a: {servers: http://a}}
routes:
- {match: /, to: a, timeout: {silence: 5s, try: 1s, total: 10s}}
- {match: /b, to: a, timeout: 5s}
- {match: /c, to: a, timeout: {total: 1m}}
`, nil)
	for i, want := range [][3]time.Duration{
		{5 * time.Second, time.Second, 10 * time.Second}, {5 * time.Second, 0, 0}, {30 * time.Second, 0, time.Minute},
	} {
		if r := c.Routes[i]; [3]time.Duration{r.Timeout, r.TryTimeout, r.TotalTimeout} != want {
			t.Errorf("route %d: silence %v, try %v, total %v, want %v", i, r.Timeout, r.TryTimeout, r.TotalTimeout, want)
		}
	}
}

func TestParseTimeoutsMistakes(t *testing.T) {
	for _, c := range []struct {
		value string
		want  []string
	}{
		{"0s", []string{`2:36 "0s" leaves no time`}},
		{"{try: 5}", []string{`2:42 "5" is a number without a unit`}},
		{"{try: 5s, total: 5s}", []string{`2:36 a try of 5s never ends before the total of 5s`}},
		{"{read: 5s}", []string{`2:37 unknown key "read"`}},
	} {
		src := fmt.Sprintf("upstreams: {a: {servers: http://a}}\nroutes: {match: /, to: a, timeout: %s}\n", c.value)
		mistaketest.Want(t, mistakes(t, src, nil), c.want)
	}
	mistaketest.Want(t, mistakes(t, "upstreams: {a: {servers: http://a}}\n"+
		"routes: {match: /, redirect: {to: http://x}, timeout: {try: 1s}}\n", nil), []string{`2:46 "timeout"`})
}
