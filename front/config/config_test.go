package config_test

import (
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/feature/access"
	"github.com/weirhq/weir/front/feature/compress"
	"github.com/weirhq/weir/front/feature/cors"
	"github.com/weirhq/weir/front/feature/forwardauth"
	"github.com/weirhq/weir/front/logto"
	"github.com/weirhq/weir/front/upstreams"
	"github.com/weirhq/weir/internal/mistaketest"
)

// compareNetworks compares configurations, except for the places in the file.
var compareNetworks = cmp.Options{
	cmp.Comparer(func(a, b netip.Prefix) bool { return a == b }),
	cmp.Comparer(func(_, _ config.Position) bool { return true }),
	cmp.Comparer(func(_, _ []config.Setting) bool { return true }),
}

// env returns a lookup of name=value pairs.
func env(pairs ...string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for _, pair := range pairs {
			if n, value, _ := strings.Cut(pair, "="); n == name {
				return value, true
			}
		}
		return "", false
	}
}

// parse parses a valid configuration, which the JSON Schema accepts, too.
func parse(t *testing.T, src string, lookup func(string) (string, bool)) *config.Config {
	t.Helper()
	c, err := config.Parse("weir.yaml", []byte(src), lookup)
	if err != nil {
		t.Fatalf("Parse:\n%v\nof\n%s", err, src)
	}
	if err := validate(t, src); err != nil {
		t.Errorf("the JSON Schema refuses %s:\n%v", src, err)
	}
	return c
}

// mistakes parses an invalid configuration. The JSON Schema refuses unknown keys, too.
func mistakes(t *testing.T, src string, lookup func(string) (string, bool)) config.Mistakes {
	t.Helper()
	c, err := config.Parse("weir.yaml", []byte(src), lookup)
	var ms config.Mistakes
	if !errors.As(err, &ms) || c != nil || len(ms) == 0 {
		t.Fatalf("Parse = %+v, %v, want mistakes, of\n%s", c, err, src)
	}
	if strings.Contains(ms[0].What, "unknown key") && validate(t, src) == nil {
		t.Errorf("the JSON Schema accepts an unknown key in\n%s", src)
	}
	return ms
}

func TestParseReadsEveryKey(t *testing.T) {
	got := parse(t, `
watch: true
namespace: site
listen: [":80", "[::1]:8081"]
admin: off
drain: {delay: 2s, timeout: 1m}
engine: goroutines
trusted_proxies: [10.0.0.0/8, 127.0.0.1, "2001:db8::/32"]
proxy_protocol: {from: [10.0.0.0/8, "::1"], required: false}
log:
  to: [/var/log/weir.log, "nats://server/logs"]
  format: auto
  level: warn
  events: completed
  request_fields: [Accept-Language, x-forwarded-for]
  response_fields: Content-Type
  redact: [token, Session]
  queue: {size: 1MiB, when_full: block, wait: 1s, linger: 1ms}
  spill: {folder: spill, size: 2GiB, age: 1d}
  rotate: {size: 100MiB, daily: true, keep: 7, gzip: true}
  fsync: 5s
  heartbeat: 1m
traces: {to: "otlp+http://collector", sample: 2%}
defaults:
  compress: {encodings: [br], level: 6, min_length: 100B, types: [Text/HTML, "*+JSON"], with_credentials: true}
constraints:
  code: '^[A-Z]{3}[0-9]+$'
upstreams:
  b: {servers: [http://127.0.0.1:8080, {url: http://Example.com, weight: 5, backup: true}], connect_wait: 3s, max_response_fields: 100,
    send_proxy_protocol: v2}
  a:
    servers: http://[::1]:9000
    balance: hash
    hash: {by: cookie session}
    sticky: {cookie: server, max_age: 1h, secret: 0123456789abcdef}
    slow_start: 30s
    connections: {max: 5, queue: {length: 6, wait: 7s}}
    send_proxy_protocol: v1
routes:
  - {match: "GET,HEAD /x/{id:code}", to: a, timeout: 5s, upgrade: off, log: {events: off}, compress: off}
  - match: /{path...}
    to: b
    upgrade: [WebSocket, tls/1.0]
`, nil)
	want := &config.Config{
		Watch:     true,
		Sources:   []string{"weir.yaml"},
		States:    map[string]fs.FileInfo{},
		Namespace: "site",
		Listen:    []string{":80", "[::1]:8081"},
		Admin:     config.AdminOff,
		Drain:     config.Drain{Delay: 2 * time.Second, Timeout: time.Minute},
		Engine:    config.EngineGoroutines,
		Traces:    config.Traces{To: "otlp+http://collector", Sample: 2},
		TrustedProxies: []netip.Prefix{
			netip.MustParsePrefix("10.0.0.0/8"),
			netip.MustParsePrefix("127.0.0.1/32"),
			netip.MustParsePrefix("2001:db8::/32"),
		},
		ProxyProtocol: &config.ProxyProtocol{
			From: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::1/128")},
		},
		Log: config.Log{
			Config: logto.Config{
				To: []string{"/var/log/weir.log", "nats://server/logs"}, Format: "auto",
				Queue:  logto.Queue{Size: 1 << 20, WhenFull: "block", Wait: time.Second, Linger: time.Millisecond},
				Spill:  logto.Spill{Folder: "spill", Size: 2 << 30, Age: 24 * time.Hour},
				Rotate: logto.Rotate{Size: 100 << 20, Daily: true, Keep: 7, Gzip: true},
				Fsync:  5 * time.Second, Heartbeat: time.Minute,
			},
			Level: "warn", Events: config.EventsCompleted,
			RequestFields:  []string{"accept-language", "x-forwarded-for"},
			ResponseFields: []string{"content-type"},
			Redact:         []string{"token", "Session"},
		},
		Limits:      config.Default().Limits, // see TestParseReadsLimits
		Constraints: map[string]string{"code": "^[A-Z]{3}[0-9]+$"},
		Upstreams: []upstreams.Upstream{
			{Name: "b", Servers: []upstreams.Server{
				{URL: "http://127.0.0.1:8080"}, {URL: "http://example.com:80", Weight: 5, Backup: true}}, MaxResponseFields: 100,
				ConnectWait: 3 * time.Second, Outliers: upstreams.OutliersUnset(), SendProxyProtocol: 2},
			{Name: "a", Servers: []upstreams.Server{{URL: "http://[::1]:9000"}}, Balance: upstreams.BalanceHash,
				HashBy: "cookie session", SlowStart: 30 * time.Second, Connections: upstreams.Limit{Max: 5, Queue: 6, Wait: 7 * time.Second}, Sticky: &upstreams.Sticky{Cookie: "server", MaxAge: time.Hour, Secret: "0123456789abcdef"}, MaxResponseFields: 256, ConnectWait: time.Second, Outliers: upstreams.OutliersUnset(),
				SendProxyProtocol: 1},
		},
		Routes: []config.Route{
			{Match: "GET,HEAD /x/{id:code}", To: "a", Timeout: 5 * time.Second, Events: config.EventsOff,
				Compress: &compress.Config{}},
			{Match: "/{path...}", To: "b", Timeout: 30 * time.Second, Upgrade: []string{"websocket", "tls/1.0"},
				Compress: &compress.Config{Encodings: []string{"br"}, Level: 6, MinLength: 100,
					Types: []string{"text/html", "*+json"}, WithCredentials: true}},
		},
	}
	if diff := cmp.Diff(want, got, compareNetworks); diff != "" {
		t.Errorf("Parse (-want +got):\n%s", diff)
	}
}

func TestParseReadsAccess(t *testing.T) {
	got := parse(t, `
defaults: {access: {allow: [10.0.0.0/8, "::ffff:192.0.2.1"], deny: 10.1.2.3}}
upstreams: {a: {servers: http://a}, b: {servers: http://b}}
routes:
  - match: /
    to: a
    access: {deny: ["2001:db8::/32"]}
    forward_auth: {to: b, path: /verify?x, timeout: 5s, send: [cookie], copy: [X-User, X-Forwarded-User]}
    cors:
      origins: [https://a.example, "http://*.a.example:8080", "null", "http://[::1]:8080"]
      allow_methods: [GET, M-SEARCH]
      allow_headers: "*"
      expose_headers: [X-Total]
      max_age: 1h
  - {match: /b, to: a, forward_auth: {to: b, path: /}, cors: {origins: "*"}}
`, nil)
	prefixes := func(texts ...string) (list []netip.Prefix) {
		for _, text := range texts {
			list = append(list, netip.MustParsePrefix(text))
		}
		return list
	}
	want := &access.Config{Allow: prefixes("10.0.0.0/8", "192.0.2.1/32"), Deny: prefixes("10.1.2.3/32")}
	if diff := cmp.Diff(want, got.Access, compareNetworks); diff != "" {
		t.Errorf("access (-want +got):\n%s", diff)
	}
	first, second := config.DefaultRoute("/", "a"), config.DefaultRoute("/b", "a")
	first.Access = []*access.Config{{Deny: prefixes("2001:db8::/32")}}
	first.ForwardAuth = &forwardauth.Config{To: "b", Path: "/verify?x", Timeout: 5 * time.Second,
		Send: []string{"cookie"}, Copy: []string{"X-User", "X-Forwarded-User"}}
	first.CORS = &cors.Config{
		Origins:      []string{"https://a.example", "http://*.a.example:8080", "null", "http://[::1]:8080"},
		AllowMethods: []string{"GET", "M-SEARCH"}, AllowHeaders: []string{"*"}, ExposeHeaders: []string{"X-Total"}, MaxAge: time.Hour,
	}
	second.ForwardAuth = &forwardauth.Config{To: "b", Path: "/", Timeout: 10 * time.Second}
	second.CORS = &cors.Config{Origins: []string{"*"}, AllowMethods: []string{"GET", "HEAD", "POST"}}
	if diff := cmp.Diff([]config.Route{first, second}, got.Routes, compareNetworks); diff != "" {
		t.Errorf("routes (-want +got):\n%s", diff)
	}
}

// smallest is a minimal configuration.
const smallest = "upstreams: {a: {servers: [http://127.0.0.1:8080]}}\nroutes: [{match: /, to: a}]\n"

func TestParseSetsDefaults(t *testing.T) {
	want := config.Default()
	want.Sources, want.States = []string{"weir.yaml"}, map[string]fs.FileInfo{}
	want.Upstreams = []upstreams.Upstream{{Name: "a", Servers: []upstreams.Server{{URL: "http://127.0.0.1:8080"}}, MaxResponseFields: 256,
		ConnectWait: time.Second, Outliers: upstreams.OutliersUnset()}}
	want.Routes = []config.Route{{Match: "/", To: "a", Timeout: 30 * time.Second, Upgrade: []string{"websocket"}}}
	if diff := cmp.Diff(want, parse(t, smallest, nil), compareNetworks); diff != "" {
		t.Errorf("Parse (-want +got):\n%s", diff)
	}
}

func TestParseAcceptsUnusualFiles(t *testing.T) {
	for name, src := range map[string]string{
		"a byte order mark":                      "\ufeff" + smallest,
		"Windows line ends":                      strings.ReplaceAll(smallest, "\n", "\r\n"),
		"a document's start":                     "---\n" + smallest,
		"comments":                               "# one\n" + smallest + "# two\n",
		"no upstream":                            "routes: {match: /, respond: {status: 204}}",
		"a single listener":                      "listen: :8080\n" + smallest,
		"a free port":                            "listen: 127.0.0.1:0\n" + smallest,
		"no waiting":                             "drain: off\n" + smallest,
		"an upstream without route":              strings.Replace(smallest, "{a:", "{b: {servers: http://b}, a:", 1),
		"one route without a list":               "upstreams: {a: {servers: http://a}}\nroutes: {match: /, to: a}",
		"the listener's port on another address": "listen: 192.0.2.1:20001\n" + smallest,
	} {
		t.Run(name, func(t *testing.T) { parse(t, src, nil) })
	}
}

// Each case is a file and its mistakes: the position, then parts of the
// message.
func TestParseReportsMistakes(t *testing.T) {
	for _, c := range []struct {
		name, src string
		want      []string
	}{
		{"empty", "", []string{"1:1 empty"}},
		{"comments alone", "# nothing\n", []string{"1:1 empty"}},
		{"a list", "- a\n", []string{"1:1 must be a mapping|not a list"}},
		{"nothing to do", "namespace: x\n", []string{`1:1 "routes"`}},
		{"not YAML", smallest + "log: [a\n", []string{"3:6 not YAML"}},
		{"a tab", smallest + "log:\n\tformat: json\n", []string{"4:1 not YAML|allows only spaces"}},
		{"braces without quotes", "routes: [{match: /{x}, to: a}]\n", []string{"1:19 not YAML|quotes"}},
		{"not text", "upstreams: \xff\n", []string{"1:12 0xff"}},
		{"a second document", smallest + "---\na: b\n", []string{"3:1 second document"}},
		{"a directive", "%YAML 1.2\n---\n" + smallest, []string{"1:1 directives"}},
		{"an anchor and its alias", smallest + "namespace: &n x\nadmin: *n\n", []string{"3:12 anchor", "4:8 alias"}},
		{"a merge key", smallest + "<<: {drain: 1s}\n", []string{"3:1 merge"}},
		{"a tag", smallest + "namespace: !!str x\n", []string{`3:12 "!!str"`}},
		{"a complex key", smallest + "? drain\n: 1s\n", []string{"3:1 cannot be a key"}},
		{"nested without end", strings.Repeat("[", 100_000), []string{"1:33 nested"}},
		{"entries without end", strings.Repeat("- ", 100_000), []string{"1:65 nested"}},
		{"larger than any", strings.Repeat("# comment\n", 200_000), []string{"1:1 2000000 bytes"}},

		{"a misspelt key", smallest + "lisen: ':80'\n", []string{`3:1 "lisen"|did you mean "listen"?`}},
		{"a key in another case", smallest + "Listen: ':80'\n", []string{`3:1 "Listen"|did you mean "listen"?`}},
		{"an unknown key", smallest + "colour: red\n", []string{`3:1 "colour"|namespace, listen, admin`}},
		{"a key in another place", smallest + "servers: x\n", []string{`3:1 "servers"|belongs under "upstreams.NAME"`}},
		{"a key of a mapping below", "upstreams: {a: {servers: http://a}}\nroutes: {match: /, to: a, queue: {length: 1}}\n",
			[]string{`2:27 "queue"|belongs under "limits"`}},
		{"a key of two mappings below", smallest + "log: {size: 1MiB}\n",
			[]string{`3:7 "size"|belongs under "queue" or "rotate"`}},
		{"a key of a route in an upstream", "upstreams: {a: {servers: http://a, timeout: 5s}}\nroutes: {match: /, to: a}\n",
			[]string{`1:36 "timeout"|write timeout in a route`}},
		{"a key of the door in a route",
			"upstreams: {a: {servers: http://a}}\nroutes: {match: /, to: a, max_connections: 5}\n",
			[]string{`2:27 "max_connections"|belongs under "limits"`}},
		{"a key of two other places", "upstreams: {a: {servers: http://a, in_flight: 5}}\nroutes: {match: /, to: a}\n",
			[]string{`1:36 "in_flight"|belongs under "limits" or "routes.limits"`}},
		{"fields of a route, which are no limit",
			"upstreams: {a: {servers: http://a}}\nroutes: {match: /, to: a, headers: {X-A: b}}\n",
			[]string{`2:27 "headers"|request_headers: {set: {X-Env: prod}}`}},
		{"a key from the top", "log: {namespace: x}\n" + smallest, []string{`1:7 "namespace"|top of the file`}},
		{"a path for a key", "log.to: stdout\n" + smallest, []string{`1:1 "log.to"`}},
		{"a variable for a key", "${X}: y\n" + smallest, []string{`1:1 only in values`}},
		{"a key with control characters", "\"\\e[31m\": y\n" + smallest, []string{`1:1 \x1b[31m`}},
		{"a key twice", smallest + "drain: 1s\ndrain: 2s\n", []string{`4:1 "drain" is given twice, first on line 3`}},
		{"an upstream twice", "upstreams:\n  a: {servers: http://a}\n  a: {servers: http://b}\nroutes: {match: /, to: a}\n",
			[]string{`3:3 "a" is given twice, first on line 2`}},

		{"redirects that are missing", smallest + "redirects: no/r.csv\n", []string{`3:12 "no/r.csv"|no such file`}},
		{"redirects in the file itself", smallest + "redirects: [{from: /a, to: /b}]\n",
			[]string{`3:12 "redirects" must be a single value`}},
		{"name servers", smallest + "dns: {servers: [ns.example, 10.0.0.2:0, 10.0.0.2, 10.0.0.2:53], max_ttl: 10ms, ttl: 1s}\n",
			[]string{`3:17 "ns.example" is not a name server|10.0.0.2:53`, `3:29 "10.0.0.2:0" is not a name server`,
				`3:51 10.0.0.2:53 is given twice`, `3:74 not resolved more than once in a second|1s or more`,
				`3:80 unknown key "ttl"|max_ttl`}},
		{"a port of SRV records", "upstreams: {a: {servers: srv+http://_a._tcp.b.example:80}}\nroutes: {match: /, to: a}\n",
			[]string{`1:26 has a port|SRV records contain the port`}},
		{"an address with SRV records", "upstreams: {a: {servers: srv+http://10.0.0.1}}\nroutes: {match: /, to: a}\n",
			[]string{`1:26 "10.0.0.1" has no SRV records|_http._tcp.shop.example`}},
		{"servers with different paths", "upstreams: {a: {servers: http://a/x}, b: {servers: [http://a/x, http://b]}}\n" +
			"routes: {match: /, to: a}\n", []string{`1:65 have the same path: "http://b:80" differs|another upstream`}},
		{"a socket of nginx", "upstreams: {a: {servers: http://unix:/run/a.sock}}\nroutes: {match: /, to: a}\n",
			[]string{`1:26 is not the address of a Unix socket|unix:/run/app.sock`}},
		{"the scheme of gRPC", "upstreams: {a: {servers: grpc://a}}\nroutes: {match: /, to: a}\n",
			[]string{`1:26 "grpc" is not a scheme for servers|protocol: http2`}},
		{"a server with a query", "upstreams: {a: {servers: http://a/b?c}}\nroutes: {match: /, to: a}\n",
			[]string{`1:26 has no query and no fragment|write http://a/b`}},
		{"servers", "upstreams:\n  a: {servers: [http://a, {weight: 0}, {url: http://a:80}, {url: b, backup: 1, wait: 1s}]}\n" +
			"  b: {servers: {url: http://b, backup: true}}\nroutes: {match: /, to: a}\n", []string{
			`2:27 a server has no "url"|{url: http://127.0.0.1:8080, weight: 2}`,
			`2:36 "0" is not the weight of a server|1 to 1000, and remove a server`,
			`2:46 the upstream has the server "http://a:80" twice`, `2:66 "b" has no scheme`, `2:77 "1" is not known here`,
			`2:80 unknown key "wait" here`, `3:7 all servers of the upstream are backups`}},
		{"balance", "upstreams:\n  a: {servers: http://a, balance: leastconn, hash: {by: path}}\n" +
			"  b: {servers: http://b, balance: hash, hash: {}}\n  c: {servers: http://c, balance: hash, hash: {by: uri}}\n" +
			"  d: {servers: http://d, balance: hash, hash: {by: 'cookie a b'}}\nroutes: {match: /, to: a}\n", []string{
			`2:35 "leastconn" is not known here|write least_connections`,
			`2:46 only the policy hash has|add balance: hash`, `3:41 "hash" has no "by"|by: cookie session`,
			`4:52 "uri" is not known here|client, path, header NAME or cookie NAME`, `5:52 "a b" is not the name of a cookie`}},
		{"connections", "upstreams:\n  a: {servers: http://a, connections: {max: 0, queue: {length: -1, wait: 0s}}}\n" +
			"  b: {servers: http://b, connections: {queue: {wait: 1s}}}\n  c: {servers: http://c, connections: x}\n" +
			"  d: {servers: http://d, connections: {max: 1, queue: 0}}\nroutes: {match: /, to: a}\n",
			[]string{`2:45 "0" allows nothing`, `2:64 "-1" is not a count`, `2:74 "0s" leaves no time`,
				`3:26 "connections" has no "max"|connections: {max: 100, queue: {length: 50, wait: 2s}}`, `3:40 "queue" has no "length"`,
				`4:39 "x" is not a count`, `5:55 "0" allows nothing|write 1 or more, or remove it`}},
		{"sticky servers", "upstreams:\n  a: {servers: http://a, sticky: {cookie: 'a b', max_age: 1ms, secret: short}}\n" +
			"  b: {servers: http://b, sticky: {cookie: b}, slow_start: 5}\n" +
			"  c: {servers: http://c, sticky: {secret: 0123456789abcdef, secret_file: c.key}}\n" +
			"  d: {servers: http://d, sticky: {cookie: d, secret_file: missing.key}}\n  e: {servers: http://e, sticky: e}\n" +
			"routes: {match: /, split: [{to: b, weight: 1}], sticky_split: {cookie: b}}\n", []string{
			`2:43 is not the name of a cookie`, `2:59 "1ms" is not the age of a cookie`, `2:72 the secret has 5 bytes|openssl rand`,
			`3:26 sticky has no secret|secret_file: FILE`, `3:59 "5" is a number without a unit`,
			`4:26 "sticky" has no "cookie"`, `4:74 sticky has a secret and a secret_file`, `5:59 the secret "missing.key": no such file`,
			`6:34 "sticky" must be a mapping`, `7:49 the upstream "b" use the same cookie "b"`}},
		{"health in another place", smallest + "health: {path: /}\n", []string{`3:1 "health" belongs under "upstreams.NAME"`}},
		{"health", "upstreams: {a: {servers: http://a, health: {method: POST, host: a/b, interval: 1ms, timeout: 0s,\n" +
			"  status: 100-200, body: '(', rise: 0, fall: x}}}\nroutes: {match: /, to: a}\n", []string{
			`1:36 "health" has no "path"|/healthz`, `1:53 "POST" is not known here|GET, HEAD, OPTIONS`,
			`1:65 "a/b" is not a host`, `1:80 "1ms" is too short|100ms or more`, `1:94 "0s" is too short|1ms or more`,
			`2:11 "100-200" is not a status|from 200 to 599`, `2:26 "(" is not a regular expression`, `2:37 "0" allows nothing`,
			`2:46 "x" is not a count`,
		}},
		{"health with paths and bodies that cannot be", "upstreams: {a: {servers: http://a, health: {path: healthz}},\n" +
			"  b: {servers: http://a, health: {path: /, method: HEAD, body: ok}}}\nroutes: {match: /, to: a}\n", []string{
			`1:51 "healthz" is not a path|/healthz`, `2:58 the response to HEAD has no body|method: GET`,
		}},
		{"outliers", "upstreams: {a: {servers: http://a, outliers: {consecutive: 0, failure_rate: 30, latency: 1, interval: 10ms,\n" +
			"  requests: 0, ejection: 0s, max_ejection: 1ms, status: 600}}, b: {servers: http://b, outliers: on},\n" +
			"  c: {servers: http://c, outliers: {ejection: 10s, max_ejection: 5s}}}\nroutes: {match: /, to: a}\n", []string{
			`1:60 "0"|write off`, `1:77 "30"|write 30%`, `1:90 "1" is not a factor|as in 5`,
			`1:103 "10ms" is too short|1s or more`, `2:13 "0" allows nothing`, `2:26 "0s" is too short`,
			`2:44 "1ms" is too short`, `2:57 "600" is not a status|5xx`, `2:97 "outliers" must be a mapping|write true`,
			`3:66 the longest ejection is shorter than the first one|10s`,
		}},
		{"an unknown format", "log: {format: xml}\n" + smallest,
			[]string{`1:15 "xml" is not known here|json, json-v1, ltsv, human, auto`}},

		{"no value", "namespace:\n" + smallest, []string{`1:11 "namespace" has no value`}},
		{"an empty value", "namespace: ''\n" + smallest, []string{`1:12 empty`}},
		{"a boolean for a text", "namespace: true\n" + smallest, []string{`1:12 true|quotes`}},
		{"keys of other front doors", "routes:\n  - {match: /x, proxy_pass: http://b, methods: [GET], gzip: on}\n",
			[]string{`2:5 no action`, `2:17 "proxy_pass"|to: site`, `2:39 "methods"|match: "GET,HEAD example.com/api/{path...}"`,
				`2:55 "gzip"|compress: true`}},
		{"a value for a mapping of known keys", "routes:\n  - {match: /x, forward_auth: auth}\n",
			[]string{"2:5 no action", `2:31 must be a mapping|its keys are to, path, timeout, send, copy`}},
		{"a list for a mapping", "log: [stdout]\n" + smallest, []string{`1:6 "log" must be a mapping|not a list`}},
		{"a text for a mapping", "log: stdout\n" + smallest, []string{`1:6 "log" must be a mapping|"stdout"`}},
		{"a mapping for a value", "drain: {delay: {seconds: 10}}\n" + smallest,
			[]string{`1:16 "delay" must be a single value, not a mapping`}},
		{"a mapping for a value, over lines", "drain:\n  delay:\n    seconds: 10\n" + smallest,
			[]string{`3:5 "delay" must be a single value, not a mapping`}},
		{"a mapping for a pattern", "routes: [{match: {method: GET}, respond: 200}]\n",
			[]string{`1:18 "match" must be a single value, not a mapping|as in: match: "/{path...}"`}},
		{"a list for a duration or a mapping", "drain: [10s]\n" + smallest,
			[]string{`1:8 "drain" must be a single value, not a list`}},
		{"no unit", "drain: 10\n" + smallest, []string{`1:8 "10"|10s`}},
		{"no duration", "drain: soon\n" + smallest, []string{`1:8 "soon"`}},
		{"a duration below zero", "drain: -1s\n" + smallest, []string{`1:8 negative duration`}},
		{"a level", "log: {level: inf}\n" + smallest, []string{`1:14 "inf"|did you mean "info"?`}},
		{"events", "log: {events: off}\n" + smallest, []string{`1:15 "off"|all, completed`}},
		{"a misspelt destination", "log: {to: sdtout}\n" + smallest,
			[]string{`1:11 "sdtout"|did you mean "stdout"?|"./sdtout"`}},

		{"a log in a folder that is missing", "log: {to: [stdout, /nowhere/at/all/weir.log]}\n" + smallest,
			[]string{`1:20 "/nowhere/at/all"|no such file|create it`}},
		{"a log below a file", "log: {to: config.go/weir.log}\n" + smallest, []string{`1:11 "config.go" is a file`}},
		{"a log that is a folder", "log: {to: ..}\n" + smallest, []string{`1:11 ".." is a folder`}},

		{"a port alone", "listen: 8080\n" + smallest, []string{`1:9 "8080"|":8080"`}},
		{"a host alone", "listen: localhost\n" + smallest, []string{`1:9 "localhost"`}},
		{"a port too high", "listen: ':65536'\n" + smallest, []string{`1:9 "65536"`}},
		{"a bad host", "listen: [':80', 'a b:80']\n" + smallest, []string{`1:17 "a b"`}},
		{"half an IPv4 address", "listen: 127.0.1:80\n" + smallest, []string{`1:9 "127.0.1"`}},
		{"no listener", "listen: []\n" + smallest, []string{`1:9 "listen" is empty`}},
		{"a listener twice", "listen: [':80', ':80']\n" + smallest, []string{`1:17 :80 is given twice`}},
		{"no admin", "admin: false\n" + smallest, []string{`1:8 "false"|write off`}},
		{"a port of all addresses twice", "listen: ['0.0.0.0:80', '[::]:80']\n" + smallest, []string{`1:24 have the same port|remove one of them`}},
		{"an address of all addresses", "listen: [':80', '127.0.0.1:80']\n" + smallest, []string{`1:17 "127.0.0.1:80" have the same port`}},
		{"a shared port", "listen: ':20001'\n" + smallest, []string{`1:9 same port`}},
		{"a shared port by default", "admin: '127.0.0.1:20000'\n" + smallest, []string{`1:8 same port`}},
		{"a version of the PROXY protocol",
			"upstreams: {a: {servers: http://a, send_proxy_protocol: 2}}\nroutes: {match: /, to: a}\n",
			[]string{`1:57 "2"|write v1 or v2`}},
		{"no sources of the PROXY protocol", "proxy_protocol: {}\n" + smallest,
			[]string{`1:1 "proxy_protocol" has no "from"|proxy_protocol: {from: [10.0.0.0/8]}`}},
		{"an empty list of sources", "proxy_protocol: {from: []}\n" + smallest, []string{`1:24 "from" is empty`}},
		{"the PROXY protocol from anyone", "proxy_protocol: true\n" + smallest,
			[]string{`1:1 "proxy_protocol" has no "from"`}},
		{"no file of servers", "upstreams: {a: {servers: {file: none.yaml}}}\nroutes: {match: /, to: a}\n",
			[]string{`1:33 "none.yaml"|no such file`}},
		{"a URL beside a file of servers", "upstreams: {a: {servers: {url: http://a, file: none}}}\nroutes: {match: /, to: a}\n",
			[]string{`1:27 "url"|the keys here are file, nats`, "1:48 no such file"}},
		{"a file of servers with weights", "upstreams: {a: {servers: {file: go.mod, weight: 2}}}\nroutes: {match: /, to: a}\n",
			[]string{"1:33 no such file", `1:41 unknown key "weight"|belongs`}},
		{"servers in two places", "upstreams: {a: {servers: {file: go.mod, nats: 'nats://a/b/k'}}}\nroutes: {match: /, to: a}\n",
			[]string{"1:17 in a file and in NATS", "1:33 no such file"}},
		{"no key of NATS", "upstreams:\n  a: {servers: {nats: http://a/b/k}}\n  b: {servers: {nats: 'nats://a/bucket'}}\n" +
			"  c: {servers: {nats: 'nats://a/b.c/k'}}\n  d: {servers: {nats: 'nats://u:hunter2@a:x/b/k'}}\n" +
			"  e: {servers: {nats: 'nats://a/b/*'}}\n  f: {servers: {nats: 'nats://a/b/k?cred=x'}}\nroutes: {match: /, to: a}\n",
			[]string{"2:23 not the URL of a key|BUCKET/KEY", "3:23 a bucket and a key", "4:23 a bucket and a key",
				`5:23 "a:x" is not a host`, "6:23 a bucket and a key", `7:23 "cred"|did you mean "creds"?`}},
		{"a file among servers", "upstreams: {a: {servers: [{file: a.yaml}]}}\nroutes: {match: /, to: a}\n",
			[]string{`1:27 "url"`, `1:28 unknown key "file"|"upstreams.NAME.servers"`}},
		{"mistakes in the PROXY protocol", "proxy_protocol: {from: [10.0.0.1/8], required: maybe, version: 2}\n" + smallest,
			[]string{`1:25 "10.0.0.1/8"|did you mean "10.0.0.0/8"?`, `1:48 "maybe"`, `1:55 "version"|from, required`}},
		{"no network", "trusted_proxies: [10.0.0.0/33, 10.1.2.3/8]\n" + smallest,
			[]string{`1:19 "10.0.0.0/33"`, `1:32 "10.1.2.3/8"|did you mean "10.0.0.0/8"?`}},

		{"no servers", "upstreams: {a: {}, b: {servers: []}}\nroutes: {match: /, to: a}\n",
			[]string{`1:13 upstream "a" has no "servers"`, `1:33 "servers" is empty`}},
		{"no upstreams", "routes: [{match: /a, to: a}, {match: /b, to: b}]\n",
			[]string{`1:26 there is no upstream "a"|name it, as in: upstreams: {a: {servers:`}},
		{"empty upstreams", "upstreams: {}\nroutes: [{match: /a, to: a}]\n", []string{`2:26 there is no upstream "a"`}},
		{"no value for upstreams", "upstreams:\nroutes: []\n", []string{`1:11 "upstreams"`, `2:9 "routes" is empty`}},
		{"no list of upstreams", "upstreams:\n  - a\nroutes: {match: /, to: a}\n",
			[]string{`2:3 "upstreams" must be a mapping`}},
		{"a name", "upstreams: {'a b': {servers: http://a}}\nroutes: {match: /, to: 'a b'}\n",
			[]string{`1:13 "a b" cannot name an upstream`}},

		{"no match, no action", "upstreams: {a: {servers: http://a}}\nroutes:\n  - timeout: 5s\n",
			[]string{`3:5 no "match"`, `3:5 no action|to, split, redirect, respond and files`}},
		{"two actions", "upstreams: {a: {servers: http://a}}\nroutes: [{match: /, respond: {status: 200}, to: a}]\n",
			[]string{`2:45 "to" is a second action|after "respond"`}},
		{"an unknown upstream", "upstreams: {site: {servers: http://a}}\nroutes: {match: /, to: sit}\n",
			[]string{`2:24 "sit"|did you mean "site"?`}},
		{"no time", "upstreams: {a: {servers: http://a}}\nroutes: {match: /, to: a, timeout: 0s}\n",
			[]string{`2:36 "0s"|write off`}},
		{"an upgrade", "upstreams: {a: {servers: http://a}}\nroutes: {match: /, to: a, upgrade: [h2c, 'a b']}\n",
			[]string{`2:37 "h2c"`, `2:42 "a b"`}},
		{"an upgrade over HTTP/2", "upstreams: {a: {servers: http://a, protocol: http2}}\n" +
			"routes: [{match: /, to: a, upgrade: websocket}, {match: /b, to: a, upgrade: off}, {match: /c, to: a}]\n",
			[]string{`2:28 cannot be upgraded|without protocol: http2`}},
		{"a pattern, double quotes", "upstreams: {a: {servers: http://a}}\nroutes: [{match: \"/é/x{y\", to: a}]\n",
			[]string{`2:23 "/é/x{y"`}},
		{"a pattern, single quotes", "upstreams: {a: {servers: http://a}}\nroutes: [{match: '/é/x{y', to: a}]\n",
			[]string{`2:23 "/é/x{y"`}},
		{"a pattern, plain", "upstreams: {a: {servers: http://a}}\nroutes:\n- match: /é/x{y\n  to: a\n",
			[]string{`3:14 "/é/x{y"`}},
		{"a pattern behind an escape", "upstreams: {a: {servers: http://a}}\nroutes: [{match: \"/\\x61/x{y\", to: a}]\n",
			[]string{`2:18 "/a/x{y"`}},
		{"a pattern over lines", "upstreams: {a: {servers: http://a}}\nroutes:\n- to: a\n  match: |-\n    /x{y\n",
			[]string{`4:10 "/x{y"`}},
		{"an unknown constraint",
			"constraints: {code: x}\nupstreams: {a: {servers: http://a}}\nroutes: [{match: '/{y:cod}', to: a}]\n",
			[]string{`3:23 "cod"|did you mean code?`}},
		{"a regular expression",
			"constraints: {code: '(['}\nupstreams: {a: {servers: http://a}}\nroutes: [{match: '/{y:code}', to: a}]\n",
			[]string{"1:21 missing closing ]"}},
		{"a constraint's name", "constraints: {a.b: x}\n" + smallest, []string{`1:15 "a.b"`}},
		{"a conflict", "upstreams: {a: {servers: http://a}}\nroutes:\n- {match: '/{x}/b', to: a}\n" +
			"- {match: '/{y}/b', to: a}\n", []string{`4:11 "/{y}/b"|"/{x}/b" on line 3|/b`}},
	} {
		t.Run(c.name, func(t *testing.T) { mistaketest.Want(t, mistakes(t, c.src, nil), c.want) })
	}
}

// The YAML parser splits elements that look like a key in a list inside braces.
func TestParseKeepsURLsWholeInBraces(t *testing.T) {
	for _, src := range []string{
		"upstreams: {a: {servers: [http://a:1, http://b:2]}}\nroutes: {match: /, to: a}\n",
		"upstreams: {a: {servers: [http://a:1,http://b:2]}}\nroutes: {match: /, to: a}\n",
		"upstreams: {a: {servers: [\n  http://a:1,\n  http://b:2\n]}}\nroutes: {match: /, to: a}\n",
	} {
		got := parse(t, src, nil).Upstreams[0].Servers
		if want := []upstreams.Server{{URL: "http://a:1"}, {URL: "http://b:2"}}; !cmp.Equal(got, want) {
			t.Errorf("servers = %v, want %v, in\n%s", got, want, src)
		}
	}
	ms := mistakes(t, "upstreams: {a: {servers: [http://a: 1]}}\nroutes: {match: /, to: a}\n", nil)
	if ms[0].Line != 1 || ms[0].Col != 27 {
		t.Errorf("a key in a list of servers is reported as %v", ms)
	}
}

func TestPasswordsAreNotShown(t *testing.T) {
	ms := mistakes(t, "upstreams: {a: {servers: ['http://user:hunter2@a', '${DB}']}}\nroutes: {match: /, to: a}\n",
		env("DB=https://user:hunter2@b"))
	if len(ms) != 2 || strings.Contains(ms.Error(), "hunter2") {
		t.Errorf("want two mistakes without the password, got\n%v", ms)
	}
}

func TestVariablesAreReplaced(t *testing.T) {
	lookup := env("X=x", "EMPTY=", "YAML=a\n: [b", "DOLLAR=${X}")
	for _, c := range []struct{ value, want string }{
		{"${X}", "x"},
		{"a-${X}-${X}", "a-x-x"},
		{"${X:-y}", "x"},
		{"${NONE:-y}", "y"},
		{"${NONE:-}z", "z"},
		{"${EMPTY}z", "z"},
		{"${EMPTY:-y}", "y"},
		{"${NONE:-a:-b}", "a:-b"},
		{"${NONE:-^[A-Z]{3}$}", "^[A-Z]{3}$"},
		{"${NONE:-$$x}", "$x"},
		{"$${X}", "${X}"},
		{"$$$${X}", "$${X}"},
		{"$$${X}", "$x"},
		{"^a$|^b$", "^a$|^b$"},
		{"$X", "$X"},
		{"a$", "a$"},
		{"${DOLLAR}", "${X}"},
	} {
		t.Run(c.value, func(t *testing.T) {
			if got := parse(t, "namespace: '"+c.value+"'\n"+smallest, lookup).Namespace; got != c.want {
				t.Errorf("%q became %q, want %q", c.value, got, c.want)
			}
		})
	}
}

func TestEnvironmentIsNotYAML(t *testing.T) {
	c := parse(t, "constraints: {c: '${R}'}\n"+smallest, env("R=a: [b], {c}"))
	if got := c.Constraints["c"]; got != "a: [b], {c}" {
		t.Errorf("the constraint is %q", got)
	}
}

func TestVariableMistakesAreLocated(t *testing.T) {
	for _, c := range []struct {
		value string
		cols  []int // within the value, 1-based
	}{
		{"${NONE}", []int{1}},
		{"${X}-${NONE}-${NADA}", []int{6, 14}},
		{"é${NONE}", []int{2}},
		{"${", []int{1}},
		{"a ${X", []int{3}},
		{"${}", []int{1}},
		{"${1}", []int{1}},
		{"${X-y}", []int{1}},
		{"${a b}", []int{1}},
		{"${NONE:-${X}}", []int{1}},
	} {
		t.Run(c.value, func(t *testing.T) {
			const before = "namespace: '"
			ms := mistakes(t, before+c.value+"'\n"+smallest, env("X=x"))
			var cols []int
			for _, m := range ms {
				cols = append(cols, m.Col-len(before))
			}
			if !cmp.Equal(cols, c.cols) {
				t.Errorf("mistakes at %v, want %v:\n%v", cols, c.cols, ms)
			}
		})
	}
}

func TestMistakesFollowTheOrderOfTheFile(t *testing.T) {
	ms := mistakes(t, "lisen: x\ndrain: 5\nroutes: [{match: 'x', to: b, foo: 1}]\nupstreams: {a: {servers: x}}\n", nil)
	for i := 1; i < len(ms); i++ {
		if ms[i-1].Line > ms[i].Line || ms[i-1].Line == ms[i].Line && ms[i-1].Col > ms[i].Col {
			t.Errorf("%v\nstands before\n%v", ms[i-1], ms[i])
		}
	}
	if len(ms) != 6 {
		t.Errorf("%d mistakes, want 6:\n%v", len(ms), ms)
	}
	var first config.Mistake
	if !errors.As(ms, &first) || first != ms[0] {
		t.Errorf("errors.As found %v, want %v", first, ms[0])
	}
}

// FuzzParse checks that no input panics, that each mistake has a position in
// the file and is one printable line, and that an accepted configuration can be
// used and is parsed to an equal one again.
func FuzzParse(f *testing.F) {
	f.Add([]byte(smallest), "v")
	f.Add([]byte("listen: ${V}\n"+smallest), ":80")
	f.Add([]byte("a: [b: {c: d}, *e, &f g]\n---\n- !h i\n"), "")
	f.Add([]byte("upstreams:\n  a:\n    servers:\n      - http://a:${V:-80}\nroutes:\n  - match: 'GET /{x...}/y'\n"+
		"    to: a\n    timeout: 1s\n"), "1")
	f.Add([]byte("upstreams: {a: {servers: http://a}}\nroutes:\n"+
		"- {match: '{t}.b/c/{x:int}/{y...}', to: a, strip_prefix: /c, add_prefix: /d, request_headers: {set: {Host: '{t}.e', X: '{y}'}, remove: [Z]}, response_headers: {add: {A: b}}}\n"+
		"- {match: 'GET /f/{x...}', redirect: {to: '/f/{x}?{request.query}', status: 308, query: keep}}\n"+
		"- {match: '/g/{x}', to: a, rewrite: '/{x}?a={request.path}'}\n"), "/f/*,/g")
	f.Add([]byte("log: {to: |\n  a\n  b}\n? x\n: \"\\e\"\n<<: {}\n"), "\x1b")
	f.Fuzz(func(t *testing.T, src []byte, value string) {
		lookup := func(name string) (string, bool) { return value, name == "V" }
		c, err := config.Parse("f", src, lookup)
		again, errAgain := config.Parse("f", src, lookup)
		if diff := cmp.Diff(c, again, compareNetworks); diff != "" || fmt.Sprint(err) != fmt.Sprint(errAgain) {
			t.Fatalf("parsed twice, not the same: %v, %v\n%s", err, errAgain, diff)
		}
		if err != nil {
			checkMistakes(t, src, err)
			return
		}
		if len(c.Upstreams) == 0 || len(c.Routes) == 0 || len(c.Listen) == 0 {
			t.Fatalf("accepted without upstreams, routes or listeners: %+v", c)
		}
		for _, u := range c.Upstreams {
			if len(u.Servers) == 0 {
				t.Fatalf("accepted an upstream without servers: %+v", u)
			}
		}
	})
}

func checkMistakes(t *testing.T, src []byte, err error) {
	t.Helper()
	var ms config.Mistakes
	if !errors.As(err, &ms) || len(ms) == 0 {
		t.Fatalf("the error is %T %v", err, err)
	}
	lines := strings.Split(string(src), "\n")
	for _, m := range ms {
		if m.Line < 1 || m.Line > len(lines) || m.Col < 1 || m.Col > 1+utf8.RuneCountInString(lines[m.Line-1]) {
			t.Errorf("%v\nstands outside of the file", m)
		}
		for _, c := range m.Error() {
			if c < ' ' || 0x7f <= c && c < 0xa0 {
				t.Errorf("%q contains a control character", m.Error())
			}
		}
		if m.What == "" {
			t.Errorf("%v says nothing", m)
		}
	}
}

func TestTextOfResponseMayHaveLines(t *testing.T) {
	const src = "upstreams: {a: {servers: http://a}}\nroutes:\n- match: /\n  respond:\n    status: 200\n    text: |\n      a\n      b\n"
	c, err := config.Parse("weir.yaml", []byte(src), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Routes[0].Respond.Text; got != "a\nb\n" {
		t.Errorf("the text is %q", got)
	}
}
