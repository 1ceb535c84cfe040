package edits_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/feature/edits"
	"github.com/weirhq/weir/front/internal/configtest"
	"github.com/weirhq/weir/internal/mistaketest"
)

// parse parses a configuration with a route for h.example/api/{id}/{path...} with keys from line 4 on.
func parse(keys string) (*config.Config, error) {
	return configtest.ParseRoute("h.example/api/{id}/{path...}", keys)
}

func TestHeaderEditsAreParsed(t *testing.T) {
	c, err := parse(`
  to: a
  request_headers:
    set: {X-Env: prod, Host: "{request.host}.internal:8080", X-Real-IP: "{client.address}", X-Forwarded-Prefix: /api}
    add: {Via: [one, "{{two}}"], Link: "{path}"}
    remove: [X-Debug, user-agent]
  response_headers: {set: {X-Door: weir}, add: {Vary: Origin}, remove: Server}
`)
	if err != nil {
		t.Fatal(err)
	}
	want := edits.Config{
		Set: []edits.Field{{Name: "X-Env", Value: "prod"}, {Name: "Host", Value: "{request.host}.internal:8080"},
			{Name: "X-Real-IP", Value: "{client.address}"}, {Name: "X-Forwarded-Prefix", Value: "/api"}},
		Add: []edits.Field{{Name: "Via", Value: "one"}, {Name: "Via", Value: "{{two}}"}, {Name: "Link",
			Value: "{path}"}},
		Remove: []string{"X-Debug", "user-agent"},
	}
	if diff := cmp.Diff(want, c.Routes[0].RequestHeaders); diff != "" {
		t.Errorf("request_headers (-want +got):\n%s", diff)
	}
	want = edits.Config{Set: []edits.Field{{Name: "X-Door", Value: "weir"}},
		Add: []edits.Field{{Name: "Vary", Value: "Origin"}}, Remove: []string{"Server"}}
	if diff := cmp.Diff(want, c.Routes[0].ResponseHeaders); diff != "" {
		t.Errorf("response_headers (-want +got):\n%s", diff)
	}
}

func TestHeaderEditMistakesAreReported(t *testing.T) {
	for _, c := range []struct {
		name, keys string
		want       []string
	}{
		{"a name", "  to: a\n  request_headers: {set: {'A B': c}, remove: ['']}\n",
			[]string{`5:27 "A B" is not the name of a header field`, `5:47 empty`}},
		{"values", "  to: a\n  request_headers: {set: {A: \"b\\nc\", B: \"\", C: ' d', D: [e, f]}}\n",
			[]string{`5:30 this is not the value`, `5:41 this is not`, `5:48 this is not`, `5:57 must be a single value`}},
		{"fields of weir", "  to: a\n" +
			"  request_headers: {set: {Connection: a, content_length: b, X-Forwarded-For: c, X-Request-ID: d, " +
			"Forwarded: e, traceparent: f, expect: g}, add: {Host: h}, remove: [host, Transfer-Encoding]}\n",
			[]string{`5:27 "Connection" cannot be changed`, `5:42 "content_length"`, `5:61 "X-Forwarded-For"|trusted_proxies`,
				`5:81 "X-Request-ID"|the id of the request`, `5:98 "Forwarded"`, `5:112 "traceparent"`, `5:128 "expect"`,
				`5:146 "Host"|exactly one`, `5:165 "host"`, `5:171 "Transfer-Encoding"`}},
		{"fields of weir in responses", "  to: a\n" +
			"  response_headers: {set: {Content-Length: 1, Host: x}, remove: [x-request-id, Trailer]}\n",
			[]string{`5:28 "Content-Length" cannot be changed`, `5:66 "x-request-id"`, `5:80 "Trailer"`}},
		{"a name twice", "  to: a\n  request_headers: {set: {A: b, a: c, B: d}, add: {C: [e, f], b: g}, remove: [c, D, d]}\n",
			[]string{`5:33 "a" is in set and in set|one of the two`, `5:63 "b" is in set and in add`,
				`5:79 "c" is in add and in remove`,
				`5:85 "d" is in remove and in remove`}},
		{"fields of other keys", "  to: a\n  basic_auth: {users: {}, user_header: X-User}\n  cors: {origins: ['*']}\n" +
			"  request_headers: {set: {x-user: b}}\n  response_headers: {remove: [access-control-allow-origin]}\n",
			[]string{`5:23 "users" is empty`, `7:27 "x-user" is written by basic_auth`,
				`8:31 "access-control-allow-origin" is written by cors`}},
		{"fields of basic_auth in other spellings", "  to: a\n  basic_auth: {users: {}, user_header: X-User}\n" +
			"  forward_auth: {to: a, path: /v, copy: [X-Group, x_user]}\n  request_headers: {set: {X_USER: b}}\n",
			[]string{`5:23 "users" is empty`, `6:3 "x_user"|user_header of basic_auth`, `7:27 "X_USER" is written by basic_auth`}},
		{"keys of an upstream without one", "  respond: {status: 200}\n  timeout: 3s\n  upgrade: off\n",
			[]string{`5:3 "timeout" applies only to requests that are forwarded`}},
		{"fields of forward_auth", "  to: a\n  forward_auth: {to: a, path: /v, copy: [X-Group]}\n" +
			"  request_headers: {add: {X-Group: b}}\n",
			[]string{`6:27 "X-Group" is written by forward_auth`}},
		{"a cookie of a request", "  to: a\n  request_headers: {add: {set-cookie: a=b}}\n",
			[]string{`5:27 a request has no "set-cookie"|response_headers`}},
		{"an unknown variable", "  to: a\n  response_headers: {add: {A: ['{id}', '{host}', '{path...}']}}\n",
			[]string{`5:40 no parameter "host"|{request.host}`, `5:50 no parameter "path..."|{path}`}},
		{"a brace", "  to: a\n  response_headers: {add: {A: 'x{', B: 'y}'}}\n", []string{`5:33 without }|{{`,
			`5:42 without {|}}`}},
		{"a Host of a parameter", "  to: a\n  request_headers: {set: {Host: '{id}.example'}}\n",
			[]string{`5:33 let a request choose the host|{request.host}`}},
		{"a Host", "  to: a\n  request_headers: {set: {Host: 'a b'}}\n", []string{`5:33 "a b" is not a host`}},
		{"unknown keys", "  to: a\n  request_headers: {put: {A: b}}\n  response_headers: [a]\n",
			[]string{`5:21 unknown key "put"|set`, `6:21 "response_headers" must be a mapping`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := parse(c.keys)
			mistaketest.Want(t, err, c.want)
		})
	}
}
