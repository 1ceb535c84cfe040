package config_test

import (
	"os"
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/internal/mistaketest"
)

// ofRoute returns a configuration with the upstreams a and b and a route with keys.
func ofRoute(keys string) string {
	return "upstreams: {a: {servers: http://a}, b: {servers: http://b}}\nroutes:\n- match: /\n" + keys
}

func TestLogMistakesAreReported(t *testing.T) {
	for _, c := range []struct {
		name, src string
		want      []string
	}{
		{"secret headers",
			"log: {request_fields: [AUTHORIZATION, Cookie, proxy-Authorization, X-API-key], response_fields: [Set-Cookie]}\n",
			[]string{`1:24 "AUTHORIZATION" contains a secret`, `1:39 "Cookie" contains`, `1:47 "proxy-Authorization" contains`,
				`1:68 "X-API-key" contains`, `1:98 "Set-Cookie" contains`}},
		{"a header twice", "log: {response_fields: [etag, ETag]}\n", []string{`1:31 etag is given twice|keep one`}},
		{"no header", "log: {request_fields: [\"a b\", Host]}\n",
			[]string{`1:24 "a b" is not the name of a header`, `1:31 http.host`}},
		{"no requests", "log: {events: interesting, interesting: {slower_than: 0s, share: 0%}}\n",
			[]string{`1:55 "0s"|500ms, or p99`, `1:66 "0%"|10%`}},
		{"a number of requests", "log: {events: intresting, interesting: {slower_than: p95, share: 5}}\n",
			[]string{`1:15 "interesting"?`, `1:54 "p95"|p99`, `1:66 "5"|5%`}},
		{"no events at all", "log: {events: off}\n", []string{`1:15 "off"|all, completed`}},
	} {
		t.Run(c.name, func(t *testing.T) { mistaketest.Want(t, mistakes(t, c.src+smallest, nil), c.want) })
	}
}

func TestInterestingRequestsAreParsed(t *testing.T) {
	c := parse(t, "log: {events: interesting, interesting: {slower_than: 500ms, share: 0.5%}}\n"+
		ofRoute("  to: a\n  log: {events: all}\n- {match: /b, to: b, log: {events: interesting}}\n"), nil)
	if l := c.Log; l.Events != config.EventsInteresting || l.SlowerThan != 500*time.Millisecond || l.Share != 0.5 {
		t.Errorf("log is %+v", l)
	}
	if a, b := c.Routes[0].Events, c.Routes[1].Events; a != config.EventsAll || b != config.EventsInteresting {
		t.Errorf("the routes have the events %q and %q", a, b)
	}
	if c := parse(t, "log: {interesting: {slower_than: p99}}\n"+smallest, nil); c.Log.SlowerThan != 0 {
		t.Errorf("p99 is %v", c.Log.SlowerThan)
	}
}

func TestLogFieldsOfRouteAreParsed(t *testing.T) {
	c := parse(t, "upstreams: {a: {servers: http://a}}\nroutes:\n- match: '/{tenant}/x'\n  to: a\n"+
		"  log: {events: off, fields: {team: checkout, tenant: \"{tenant}\", n: '5', x-y_Z: \"{{}}\"}}\n", nil)
	got := c.Routes[0].LogFields
	want := []config.Field{
		{Name: "team", Value: "checkout"}, {Name: "tenant", Value: "{tenant}"}, {Name: "n", Value: "5"},
		{Name: "x-y_Z", Value: "{{}}"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Parse (-want +got):\n%s", diff)
	}
}

func TestLogHeadersOfRouteAreParsed(t *testing.T) {
	c := parse(t, ofRoute("  to: a\n  log: {request_fields: [X-A, x-b], response_fields: Etag}\n"), nil)
	want := [][]string{{"x-a", "x-b"}, {"etag"}}
	if diff := cmp.Diff(want, [][]string{c.Routes[0].LogRequestFields, c.Routes[0].LogResponseFields}); diff != "" {
		t.Errorf("Parse (-want +got):\n%s", diff)
	}
	wrong := ofRoute("  to: a\n  log: {request_fields: [Cookie, a b], response_fields: [Host]}\n")
	mistaketest.Want(t, mistakes(t, wrong, nil), []string{`5:26 "Cookie" contains a secret`, `5:34 "a b" is not the name`, `5:58 http.host`})
	if secrets := c.Secrets(); len(secrets) == 0 {
		t.Error("the secrets of header fields are not redacted")
	}
}

func TestMistakesInRedactedKeysAreReported(t *testing.T) {
	wrong := "log: {redact: ['*.password', token, 'req.headers.authorization', 'user[0].token']}\n" + ofRoute("  to: a\n")
	mistaketest.Want(t, mistakes(t, wrong, nil), []string{
		`1:16 "*.password" is not the name of a key: write "password"`,
		`1:37 "req.headers.authorization" is not the name of a key: write "authorization"`,
		`1:66 "user[0].token" is not the name of a key: write "token"`,
	})
}

func TestLogFieldMistakesAreReported(t *testing.T) {
	for _, c := range []struct {
		name, fields string
		want         []string
	}{
		{"none", "{}", []string{`5:17 "fields" is empty`}},
		{"a list", "[team]", []string{`5:17 "fields" must be a mapping`}},
		{"a name", "{a b: c, a.b: c}", []string{`5:18 "a b" cannot name a field`, `5:26 "a.b" cannot name a field`}},
		{"an unknown parameter", "{a: '{x}'}", []string{`5:21 no parameter "x"`}},
		{"a brace", "{a: 'b}'}", []string{`5:23 a } without {`}},
		{"an empty value", "{a: ''}", []string{`5:21 the value is empty`}},
		{"a number", "{a: 5}", []string{`5:21 5 is a integer|quotes`}},
		{"the query", "{a: 'b{request.query}'}", []string{`5:23 http.query`}},
		{"a mapping", "{a: {b: c}}", []string{`5:21 "a" must be a single value`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			mistaketest.Want(t, mistakes(t, ofRoute("  to: a\n  log: {fields: "+c.fields+"}\n"), nil), c.want)
		})
	}
}

// TestRouteCannotAddFieldsOfEvents checks that no route can add a field that docs/format.md documents for
// the events of requests.
func TestRouteCannotAddFieldsOfEvents(t *testing.T) {
	page, err := os.ReadFile("../../docs/format.md")
	if err != nil {
		t.Fatal(err)
	}
	keys := regexp.MustCompile("`data\\.([a-z_]+)`").FindAllStringSubmatch(string(page), -1)
	if len(keys) < 10 {
		t.Fatalf("docs/format.md has only %d keys of data", len(keys))
	}
	for _, key := range keys {
		src := ofRoute("  to: a\n  log: {fields: {" + key[1] + ": x}}\n")
		mistaketest.Want(t, mistakes(t, src, nil), []string{`5:18 "` + key[1] + `" of their own`})
	}
}
