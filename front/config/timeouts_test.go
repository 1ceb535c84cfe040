package config_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/internal/mistaketest"
)

func TestParseReadsTimeouts(t *testing.T) {
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

func TestTimeoutMistakesAreReported(t *testing.T) {
	for _, c := range []struct {
		value string
		want  []string
	}{
		{"0s", []string{`2:36 "0s" is not known here|write off`}},
		{"{try: 5}", []string{`2:42 "5" is a number without a unit`}},
		{"{try: 5s, total: 5s}", []string{`2:36 a try of 5s never ends before the total of 5s`}},
		{"{read: 5s}", []string{`2:37 unknown key "read"`}},
	} {
		src := fmt.Sprintf("upstreams: {a: {servers: http://a}}\nroutes: {match: /, to: a, timeout: %s}\n", c.value)
		mistaketest.Want(t, mistakes(t, src, nil), c.want)
	}
	for _, key := range []string{"timeout: {try: 1s}", "timeout: off", "upgrade: off"} {
		name, _, _ := strings.Cut(key, ":")
		mistaketest.Want(t, mistakes(t, "upstreams: {a: {servers: http://a}}\n"+
			"routes: {match: /, redirect: {to: http://x}, "+key+"}\n", nil), []string{`2:46 "` + name + `" applies only to requests that are forwarded`})
	}
}

// TestTimeoutCanBeOff checks values that are off, alone and for a value of defaults.
func TestTimeoutCanBeOff(t *testing.T) {
	c := parse(t, `upstreams: {a: {servers: http://a}}
defaults: {timeout: {silence: 5s, try: 1s, total: 1h}}
routes:
- {match: /, to: a, timeout: off}
- {match: /b, to: a, timeout: {silence: off}}
- {match: /c, to: a, timeout: {try: off}}
`, nil)
	for i, want := range [][]time.Duration{
		{config.NoTimeout, 0, 0}, {config.NoTimeout, time.Second, time.Hour}, {5 * time.Second, 0, time.Hour},
	} {
		r := c.Routes[i]
		if got := []time.Duration{r.Timeout, r.TryTimeout, r.TotalTimeout}; !slices.Equal(got, want) {
			t.Errorf("%s: timeouts %v, want %v", r.Match, got, want)
		}
	}
}

// TestOuterTimeoutStaysOff adds a limit to an outer timeout that is off, which stays off.
func TestOuterTimeoutStaysOff(t *testing.T) {
	c := parse(t, `upstreams: {a: {servers: http://a}}
defaults: {timeout: off}
routes:
- {match: /, to: a, timeout: {total: 1h}}
- {match: /b, to: a, timeout: 5s}
- group: {timeout: {try: 1s}, to: a, routes: [{match: /c}, {match: /d, timeout: off}]}
`, nil)
	for i, want := range [][]time.Duration{
		{config.NoTimeout, 0, time.Hour}, {5 * time.Second, 0, 0}, {config.NoTimeout, time.Second, 0}, {config.NoTimeout, 0, 0},
	} {
		r := c.Routes[i]
		if got := []time.Duration{r.Timeout, r.TryTimeout, r.TotalTimeout}; !slices.Equal(got, want) {
			t.Errorf("%s: timeouts %v, want %v", r.Match, got, want)
		}
	}
	want := config.Setting{Key: "timeout.silence", Value: "off", From: "defaults", Position: config.Position{File: "weir.yaml", Line: 2}}
	if !slices.Contains(c.Routes[0].Settings, want) {
		t.Errorf("the settings %v lack %v", c.Routes[0].Settings, want)
	}
}
