package config_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirhq/weir/front/config"
)

func TestParseReadsLimits(t *testing.T) {
	c := parse(t, `upstreams: {a: {servers: http://a}}
limits:
  in_flight: {max: 1000, shared: "redis://10.0.0.5,10.0.0.6"}
  queue: {length: 200, wait: 500ms}
  rate: {per: header x-api-key, limit: 100/s, burst: 200, shared: "redis://:p%40ss@10.0.0.5:6380/2"}
  client_timeouts: {header: 11s, idle: 76s}
  head: 32KiB
  max_connections: 10000
  connections_per_client: 100
defaults: {limits: {body: 100MiB, upload_rate: 1KiB/s, download_rate: off, client_timeouts: {read: 21s, write: 61s}}}
routes:
- {match: /, to: a, limits: {in_flight: auto, body: off, rate: {limit: 1/s}}}
- {match: /b, to: a}
`, nil)
	want := config.Limits{
		RequestLimits: config.RequestLimits{
			InFlight: 1000, InFlightShared: "redis://10.0.0.5:6379,10.0.0.6:6379",
			Queue: config.Queue{Length: 200, Wait: 500 * time.Millisecond},
			Rate: config.Rate{Per: config.RatePerHeader + "X-Api-Key", Every: 10 * time.Millisecond, Burst: 200,
				Shared: "redis://:p%40ss@10.0.0.5:6380/2"},
			Body:       100 << 20,
			UploadRate: 1 << 10, DownloadRate: config.NoLimit,
			ReadTimeout: 21 * time.Second, WriteTimeout: 61 * time.Second,
		},
		Head:          32 << 10,
		HeaderTimeout: 11 * time.Second, IdleTimeout: 76 * time.Second,
		MaxConnections: 10000, ConnectionsPerClient: 100,
	}
	if diff := cmp.Diff(want, c.Limits); diff != "" {
		t.Errorf("limits (-want +got):\n%s", diff)
	}
	inherited := config.RequestLimits{
		Body: 100 << 20, UploadRate: 1 << 10, DownloadRate: config.NoLimit,
		ReadTimeout: 21 * time.Second, WriteTimeout: 61 * time.Second,
	}
	ofRoute := inherited
	ofRoute.InFlight, ofRoute.Body, ofRoute.Rate = config.InFlightAuto, config.NoLimit, config.Rate{Every: time.Second}
	if diff := cmp.Diff(ofRoute, c.Routes[0].Limits); diff != "" {
		t.Errorf("the first route's limits (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(inherited, c.Routes[1].Limits); diff != "" {
		t.Errorf("the second route's limits (-want +got):\n%s", diff)
	}
}

func TestLimitMistakesAreReported(t *testing.T) {
	for _, c := range []struct{ limits, want string }{
		{"{in_flight: 0}", `3:21 "0" allows nothing|or remove it`},
		{"{in_flight: -1}", `3:21 "-1" is not a count`},
		{"{in_flight: automatic}", `3:21 "automatic" is not a count|write a number, or auto`},
		{"{in_fligth: 1}", `3:10 "in_fligth"|did you mean "in_flight"?`},
		{"{queue: {length: 1}}", `3:26 only if in_flight limits|in_flight`},
		{"{in_flight: 1, queue: {wait: 1s}}", `3:24 "queue" has no "length"`},
		{"{rate: {burst: 2}}", `3:10 "rate" has no "limit"`},
		{"{rate: true}", `3:10 "rate" has no "limit"|rate: {limit: 100/s, burst: 20}`},
		{"{rate: off}", `3:16 "rate" cannot be off`},
		{"{rate: 0/s}", `3:16 "0/s" allows nothing|write 1/s or more`},
		{"{rate: {limit: 100}}", `3:24 "100" is a number without a unit|as in 100/s`},
		{"{rate: {limit: 10ms}}", `3:24 "10ms" is not a rate|write 100/s`},
		{"{rate: {limit: 100/s, brust: 7}}", `3:31 unknown key "brust"|did you mean "burst"`},
		{"{rate: {limt: 100/s}}", `3:17 unknown key "limt"|did you mean "limit"`},
		{"{rate: {limit: 1/s, per: user}}", `3:34 "user"|header X-Api-Key`},
		{"{rate: {limit: 1/s, per: 'header a b'}}", `3:34 "a b" is not the name of a header`},
		{"{body: 0B}", `4:18 "0B"|write off`},
		{"{body: none}", `4:18 "none" is not known here|write off`},
		{"{upload_rate: 0B/s, client_timeouts: {read: off}}", `4:25 "0B/s" is not known here|write off`},
		{"{client_timeouts: {write: never}}", `4:37 "never" is not known here|write off`},
		{"{body: 10}", `4:18 "10" is a number without a unit`},
		{"{body: 10kg}", `4:18 "10kg"`},
		{"{upload_rate: 1KiB}", `4:25 "1KiB" is not a speed|20KiB/s`},
		{"{download_rate: x/s}", `4:27 "x"`},
		{"{download_rate: 1KiB/week}", `4:27 "1KiB/week" is not a speed|20KiB/s`},
		{"{download_rate: 1B/m}", `4:27 "1B/m" is less than a byte per second`},
		{"{rate: {limit: 1/s, shared: http://a}}", `3:37 does not begin with redis://|redis://host:port`},
		{"{rate: {limit: 1/s, shared: 'redis://:secret@a?x=1'}}", `3:37 it has no parameter "x"`},
		{"{rate: {shared: redis://a}}", `3:10 "rate" has no "limit"`},
		{"{rate: {limit: 1/s, shared: 'rediss://a?ca=absent.pem'}}", `3:37 the ca "absent.pem"`},
		{"{rate: {limit: 1/s, shared: 'rediss://a?cert=absent.pem'}}", `3:37 the certificate "absent.pem"`},
		{"{rate: {limit: 1/s, shared: [redis://a, redis://b]}}", `3:37 "shared" must be`},
		{"{in_flight: {shared: redis://a}}", `3:10 "in_flight" has no "max"`},
		{"{in_flight: {max: auto, shared: redis://a}}", `3:10 cannot be shared|a number`},
		{"{in_flight: {max: 1, shared: a}}", `3:38 does not begin`},
		{"{in_flight: []}", `3:21 "in_flight" must be`},
		{"{head: 1MiB}", `3:16 8KiB to 64KiB`},
		{"{client_timeouts: {header: none}}", `3:36 "none"`},
		{"{client_timeouts: {read: 1}}", `4:36 "1" is a number without a unit`},
		{"{max_connections: lots}", `3:27 "lots"`},
		{"{connections_per_client: 0}", `3:34 "0"`},
		{"[]", `3:9 "limits" must be a mapping`},
	} {
		before := "limits: "
		if strings.HasPrefix(c.want, "4:") {
			before = "defaults:\n  limits: "
		}
		ms := mistakes(t, smallest+before+c.limits+"\n", nil)
		place, parts, _ := strings.Cut(c.want, " ")
		if at := fmt.Sprintf("%d:%d", ms[0].Line, ms[0].Col); len(ms) != 1 || at != place {
			t.Errorf("limits: %s: %d mistakes, the first at %s, want one at %s:\n%v", c.limits, len(ms), at, place, ms)
		}
		for part := range strings.SplitSeq(parts, "|") {
			if !strings.Contains(ms.Error(), part) {
				t.Errorf("limits: %s: %v\ndoes not say %s", c.limits, ms, part)
			}
		}
	}
}

// Limits of connections are not allowed in a route, because a connection belongs
// to no route.
func TestRouteRefusesLimitsOfConnections(t *testing.T) {
	for _, name := range []string{"head: 8KiB", "max_connections: 1", "connections_per_client: 1",
		"client_timeouts: {idle: 1s}"} {
		key, _, _ := strings.Cut(strings.TrimPrefix(name, "client_timeouts: {"), ":")
		ms := mistakes(t, "upstreams: {a: {servers: http://a}}\nroutes: {match: /, to: a, limits: {"+name+"}}\n", nil)
		if len(ms) != 1 || !strings.Contains(ms.Error(), fmt.Sprintf("unknown key %q", key)) ||
			!strings.Contains(ms.Error(), `under "limits`) {
			t.Errorf("%s: %v", name, ms)
		}
	}
	ms := mistakes(t, `upstreams: {a: {servers: http://a}}
routes:
- {match: /a, to: a, limits: {in_flight: 1, queue: {length: 1}}}
- {match: /b, to: a, limits: {queue: {length: 1}}}
- {match: /c, to: a, limits: {}}
`, nil)
	if len(ms) != 1 || ms[0].Line != 4 {
		t.Errorf("a queue without in_flight on line 4: %v", ms)
	}
}

// weir check --explain prints the settings of a route.
func TestSettingsHidePasswordsOfStores(t *testing.T) {
	c := parse(t, `upstreams: {a: {servers: http://a}}
routes:
- {match: /, to: a, limits: {in_flight: {max: 1, shared: "redis://:secret@b"}, rate: {limit: 1/s, shared: "redis://u:secret@a/2"}}}
`, nil)
	for _, s := range c.Routes[0].Settings {
		if strings.Contains(s.Value, "secret") || s.Key == "limits" && !strings.Contains(s.Value, "a:6379/2") {
			t.Errorf("%s: %s", s.Key, s.Value)
		}
	}
}
