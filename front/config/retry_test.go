package config_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirhq/weir/front/config"
)

func TestParseRetry(t *testing.T) {
	c := parse(t, `upstreams:
  a: {servers: http://a, retry: {attempts: 5, methods: [get, PUT], on: [reset, 502, 503]}}
  b: {servers: http://b, retry: {on: timeout}}
routes:
- {match: /, to: a, timeout: {silence: 5s, try: 1s, total: 10s}}
- {match: /b, to: a, timeout: 5s}
- {match: /c, to: a, timeout: {total: 1m}}
`, nil)
	want := []config.Retry{
		{Attempts: 5, Methods: []string{"GET", "PUT"}, On: []string{"reset", "502", "503"}},
		{On: []string{"timeout"}},
	}
	for i, u := range c.Upstreams {
		if diff := cmp.Diff(want[i], u.Retry); diff != "" {
			t.Errorf("retry of %s (-want +got):\n%s", u.Name, diff)
		}
	}
	for i, want := range [][3]time.Duration{
		{5 * time.Second, time.Second, 10 * time.Second}, {5 * time.Second, 0, 0}, {30 * time.Second, 0, time.Minute},
	} {
		if r := c.Routes[i]; [3]time.Duration{r.Timeout, r.TryTimeout, r.TotalTimeout} != want {
			t.Errorf("route %d: silence %v, try %v, total %v, want %v", i, r.Timeout, r.TryTimeout, r.TotalTimeout, want)
		}
	}
}

func TestParseRetryMistakes(t *testing.T) {
	const upstream, route = "upstreams: {a: {servers: http://a, retry: %s}}\nroutes: {match: /, to: a}\n",
		"upstreams: {a: {servers: http://a}}\nroutes: {match: /, to: a, timeout: %s}\n"
	for _, c := range []struct{ form, value, want string }{
		{upstream, "2", `1:43 "retry" must be a mapping`},
		{upstream, "{attempts: 0}", `1:54 "0" is not a number of attempts|write 1, to send each request once`},
		{upstream, "{attempts: 6}", `1:54 "6" is not a number of attempts|to 5`},
		{upstream, "{tries: 2}", `1:44 unknown key "tries"`},
		{upstream, "{methods: [GET, post]}", `1:59 a POST that is sent twice|PUT or DELETE`},
		{upstream, "{methods: PURGE}", `1:53 "PURGE" is not a method that can be sent again`},
		{upstream, "{methods: []}", `1:53 "methods"`},
		{upstream, "{on: [500]}", `1:49 "500"`},
		{upstream, "{on: [connect]}", `1:49 always replaced by another|connect.retry`},
		{upstream, "{on: [stale]}", `1:49 a stale connection is always replaced|attempts is 1`},
		{upstream, "{on: [reset, reset]}", `1:56 reset is given twice`},
		{route, "0s", `2:36 "0s" leaves no time`},
		{route, "{try: 5}", `2:42 "5" is a number without a unit`},
		{route, "{try: 5s, total: 5s}", `2:36 a try of 5s never ends before the total of 5s`},
		{route, "{read: 5s}", `2:37 unknown key "read"`},
	} {
		ms := mistakes(t, fmt.Sprintf(c.form, c.value), nil)
		place, parts, _ := strings.Cut(c.want, " ")
		if at := fmt.Sprintf("%d:%d", ms[0].Line, ms[0].Col); len(ms) != 1 || at != place {
			t.Errorf("%s: %d mistakes, the first at %s, want one at %s:\n%v", c.value, len(ms), at, place, ms)
		}
		for part := range strings.SplitSeq(parts, "|") {
			if !strings.Contains(ms.Error(), part) {
				t.Errorf("%s: %v\ndoes not say %s", c.value, ms, part)
			}
		}
	}
	ms := mistakes(t, "upstreams: {a: {servers: http://a}}\n"+
		"routes: {match: /, redirect: {to: http://x}, timeout: {try: 1s}}\n", nil)
	if len(ms) != 1 || !strings.Contains(ms.Error(), `"timeout"`) {
		t.Errorf("a timeout without an upstream: %v", ms)
	}
}
