package config_test

import (
	"fmt"
	"strings"
	"testing"
)

// habitats are files that get the lines of a habit in place of "…", which begins them.
var habitats = map[string]string{
	"top":      "upstreams: {a: {servers: http://a}}\nroutes: {match: /, to: a}\n…\n",
	"upstream": "routes: {match: /, to: a}\nupstreams:\n  a:\n    servers: http://a\n    …\n",
	"pattern":  "upstreams: {a: {servers: http://a}}\nroutes:\n- to: a\n  …\n",
	"servers":  "routes: {match: /, to: a}\nupstreams:\n  a:\n    …\n",
	"action":   "upstreams: {b: {servers: http://b}}\nroutes:\n- match: /x\n  …\n",
	"tls":      "routes: {match: /, respond: 204}\ntls:\n  acme: {domains: [a.example]}\n  …\n",
	"group":    "upstreams: {a: {servers: http://a}}\nroutes:\n- group:\n    routes: {match: /x, to: a}\n    …\n",
	"route":    "upstreams: {a: {servers: http://a}, b: {servers: http://b}}\nroutes:\n- match: /\n  to: a\n  …\n",
}

// A habit is what people write who come from another front door, or from a former weir.yaml: the part of the file, the
// lines there, the place of the only mistake, and parts of its message and of its hint.
type habit struct{ in, src, at, what, hint string }

func testHabits(t *testing.T, habits []habit) {
	t.Helper()
	for _, h := range habits {
		ms := mistakes(t, strings.Replace(habitats[h.in], "…", h.src, 1), nil)
		if at := fmt.Sprintf("%d:%d", ms[0].Line, ms[0].Col); len(ms) != 1 || at != h.at ||
			!strings.Contains(ms[0].What, h.what) || !strings.Contains(ms[0].Hint, h.hint) {
			t.Errorf("%s %s:\n%v\nwant %s: %s; %s", h.in, h.src, ms, h.at, h.what, h.hint)
		}
	}
}

func TestSingleValuesGetHints(t *testing.T) {
	testHabits(t, []habit{
		{"route", "mirror: {to: b, share: .1}", "5:26", `".1" is a number`, "write 10% or 0.1%"},
		{"route", "mirror: {to: b, share: 0.07}", "5:26", `"0.07" is a number`, "write 7% or 0.07%"},
		{"route", "mirror: {to: b, share: 1}", "5:26", `"1" is a number`, "write 1%"},
		{"upstream", "outliers: {failure_rate: 0.3}", "5:30", `"0.3"`, "write 30% or 0.3%"},
		{"top", "defaults: true", "3:11", "must be a mapping", ""},
		{"top", "tls: {acme: yes}", "3:13", "must be a mapping", "its keys are "},
		{"top", "log: {queue: yes}", "3:14", "must be a mapping", "write true"},
		{"route", "cors: yes", "5:9", "yes", ""},
	})
}

// What has no defaults has no hint to write true.
func TestTrueIsNoHintForRoutes(t *testing.T) {
	for _, src := range []string{"routes: true", "routes: [true]", "routes: [yes]", "routes: {group: true}", "routes: {group: yes}",
		"defaults: true\nroutes: {match: /, respond: 204}", "defaults: yes\nroutes: {match: /, respond: 204}"} {
		ms := mistakes(t, src+"\n", nil)
		if !strings.Contains(ms[0].What, "must be a mapping") || strings.Contains(ms[0].Hint, "true") {
			t.Errorf("%s: %v", src, ms)
		}
	}
}

func TestKeysInTheWrongPlaceNameTheRightOne(t *testing.T) {
	testHabits(t, []habit{
		{"group", "host: example.com", "5:5", `unknown key "host"`, "write hosts, as in hosts: [example.com]"},
		{"group", "path: /api", "5:5", `unknown key "path"`, "write prefix, as in prefix: /api"},
		{"group", "prefix: /api/*", "5:13", `"/api/*" has a wildcard`, "write it without the wildcard"},
		{"group", "retry: {attempts: 3}", "5:5", `unknown key "retry"`, "write retry in an upstream"},
		{"top", "timeout: 5s", "3:1", `unknown key "timeout"`, "write it in defaults, as in defaults: {timeout: 5s}"},
		{"top", "cors: {origins: [https://a.example]}", "3:1", `unknown key "cors"`, "write it in defaults"},
		{"top", "rewrite: /new", "3:1", `unknown key "rewrite"`, "defaults: {rewrite: /new}"},
		{"top", "strip_prefix: /api", "3:1", `unknown key "strip_prefix"`, "defaults: {strip_prefix: /api}"},
		{"top", "match: /x", "3:1", `unknown key "match"`, "write it in a route"},
		{"route", "when: {host: a.example}", "5:10", `unknown key "host"`, "write it in match of the route"},
		{"route", "when: {method: GET}", "5:10", `unknown key "method"`, "write it in match of the route"},
		{"route", "limits: {in_flight: 5, queue: {size: 5, wait: 1s}}", "5:34", `unknown key "size"`, "write length"},
		{"top", "limits: {in_flight: 5, queue: {length: 5, timeout: 1s}}", "3:43", `unknown key "timeout"`, "write wait"},
		{"route", "limits: {rate: {requests: 5}}", "5:19", `unknown key "requests"`, "write limit with its unit"},
	})
}

func TestFormerKeysNameTheirSuccessors(t *testing.T) {
	testHabits(t, []habit{
		{"upstream", "response_fields: 100", "5:5", `unknown key "response_fields"`, "write max_response_fields"},
		{"upstream", "connect: {retry: 3s}", "5:5", `unknown key "connect"`, "write connect_wait: 3s"},
		{"upstream", "connect_wait: 0s", "5:19", `"0s"`, "write off"},
		{"upstream", "proxy_protocol: v2", "5:5", `unknown key "proxy_protocol"`, "write send_proxy_protocol: v2"},
		{"route", "mirror: {to: b, percent: 10}", "5:19", `unknown key "percent"`, "write share: 10%"},
		{"route", "mirror: {to: b, percent: 0}", "5:19", `unknown key "percent"`, "remove the mirror"},
		{"route", "sticky: {cookie: door}", "5:3", `unknown key "sticky"`, "write sticky_split"},
		{"route", "forward_auth: {to: b, path: /, request_headers: [Cookie]}", "5:34", `unknown key "request_headers"`, "write send"},
		{"top", "log: {request_headers: [a]}", "3:7", `unknown key "request_headers"`, "write request_fields"},
		{"route", "log: {response_headers: etag}", "5:9", `unknown key "response_headers"`, "write response_fields"},
		{"route", "cors: {origins: http://a, headers: [a]}", "5:29", `unknown key "headers"`, "write allow_headers"},
		{"route", "cors: {origins: http://a, methods: [a]}", "5:29", `unknown key "methods"`, "write allow_methods"},
		{"route", "cors: {origins: http://a, expose: [a]}", "5:29", `unknown key "expose"`, "write expose_headers"},
		{"top", "limits: {timeouts: {read: 1s}}", "3:10", `unknown key "timeouts"`, "write client_timeouts"},
		{"route", "limits: {timeouts: {read: 1s}}", "5:12", `unknown key "timeouts"`, "write client_timeouts"},
		{"top", "limits: {headers: 8KiB}", "3:10", `unknown key "headers"`, "write head"},
		{"top", "compress: true", "3:1", `unknown key "compress"`, "defaults: {compress: true}"},
		{"top", "error_pages: {404: a.html}", "3:1", `unknown key "error_pages"`, "defaults: {error_pages: {404: a.html}}"},
		{"top", "maintenance: {retry_after: 1s}", "3:1", `unknown key "maintenance"`, "defaults: {maintenance: {retry_after: 1s}}"},
		{"top", "access: {deny: 10.0.0.0/8}", "3:1", `unknown key "access"`, `defaults: {access: {deny: "10.0.0.0/8"}}`},
		{"top", "limits: {body: 1MiB}", "3:10", `unknown key "body"`, "defaults: {limits: {body: 1MiB}}"},
		{"top", "limits: {client_timeouts: {read: 1s}}", "3:28", `unknown key "read"`,
			"defaults: {limits: {client_timeouts: {read: 1s}}}"},
		{"top", "limits: {rate: {every: 10ms, burst: 200}}", "3:17", `unknown key "every"`, "write limit: 100/s"},
		{"route", "limits: {rate: {per: route, every: 10s}}", "5:31", `unknown key "every"`, "write limit: 6/m"},
		{"top", "limits: {rate: {every: x}}", "3:17", `unknown key "every"`, "write limit: 100/s"},
		{"upstream", "connections: {max: 100, queue: 50, wait: 2s}", "5:40", `unknown key "wait"`, "queue: {length: 50, wait: 2s}"},
		{"top", "tls: {acme: {domains: a.example, ca_roots: ca.pem}}", "3:34", `unknown key "ca_roots"`, "write roots"},
		{"route", "limits: {body: none}", "5:18", `"none"`, "write off"},
		{"route", "limits: {download_rate: none}", "5:27", `"none"`, "write off"},
		{"route", "log: {events: none}", "5:17", `"none"`, "write off"},
		{"route", "upgrade: []", "5:12", "an empty list", "write off"},
		{"route", "timeout: 0", "5:12", `"0"`, "write off"},
		{"route", "timeout: {silence: 0s}", "5:22", `"0s"`, "write off"},
		{"upstream", "slow_start: 0s", "5:17", `"0s"`, "write off"},
		{"upstream", "retry: false", "5:12", `"false"`, "write off"},
		{"upstream", "retry: {attempts: 1}", "5:23", `"1" is not a number of attempts`, "retry: off"},
		{"top", "drain: 0s", "3:8", `"0s"`, "write off"},
		{"top", "drain: {delay: 0}", "3:16", `"0"`, "write off"},
		{"top", "log: {heartbeat: 0s}", "3:18", `"0s"`, "write off"},
		{"top", "log: {queue: {linger: 0ms}}", "3:23", `"0ms"`, "write off"},
		{"top", "log: {to: /a, fsync: never}", "3:22", `"never"`, "write off"},
		{"top", "log: {to: /a, rotate: {daily: true, keep: 0}}", "3:43", `"0"`, "write off"},
		{"top", "trusted_proxies: []", "3:18", `"trusted_proxies" is empty`, "leave it out"},
		// end
	})
}
