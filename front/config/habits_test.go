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

func TestFormerKeys(t *testing.T) {
	testHabits(t, []habit{
		{"upstream", "response_fields: 100", "5:5", `unknown key "response_fields"`, "write max_response_fields"},
		{"upstream", "connect: {retry: 3s}", "5:5", `unknown key "connect"`, "write connect_wait: 3s"},
		{"upstream", "connect_wait: 0s", "5:19", `"0s"`, "write off"},
		{"upstream", "proxy_protocol: v2", "5:5", `unknown key "proxy_protocol"`, "write send_proxy_protocol: v2"},
		{"route", "mirror: {to: b, percent: 10}", "5:19", `unknown key "percent"`, "write share: 10%"},
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
		// end
	})
}
