package config_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/internal/mistaketest"
)

func TestWarningsNameLikelyMistakes(t *testing.T) {
	for name, c := range map[string]struct {
		src  string
		want []string
	}{
		"none": {`
constraints: {code: '^[A-Z]{3}$', plain: '[a-z]+', ends: '.*\.(bak|sql)'}
upstreams: {a: {servers: http://a}, b: {servers: http://b}, c: {servers: http://c}, d: {servers: http://d}}
routes:
  - {match: "GET,PROPFIND,PURGE localhost/{x:code}/{y:plain}", to: a, mirror: {to: c}, when: {headers: {Accept: "*/*"}}}
  - {match: "{t:ends}.example.com/", split: [{to: b, weight: 1}], forward_auth: {to: d, path: /}}
  - {match: "/{path...}", respond: {status: 404}, cors: {origins: "*", allow_methods: [PUT, LOCK]}}
`, nil},
		"a host that is a path": {`
routes:
  - {match: "api/{path...}", respond: {status: 200}}
  - {match: "GET  api/v2", respond: {status: 200}}
`, []string{`3:14 "api" is the name of a host|write "/api/{path...}"`, `4:19 write "/api/v2"`}},
		"methods": {`
routes:
  - {match: "POST,GTE /a", respond: {status: 200}}
  - {match: /b, respond: {status: 200}, cors: {origins: "*", allow_methods: [PUT]}}
  - {match: /c, respond: {status: 200}, cors: {origins: "*", allow_methods: [DELETED]}}
`, []string{`3:19 "GTE" is not a known method|"GET"?`, `5:78 "DELETE"?`}},
		"methods without a route": {`
routes:
  - {match: "TRACE /a", respond: {status: 200}}
  - {match: "GET,CONNECT /b", respond: {status: 200}}
`, []string{`3:14 the method TRACE reaches`, `4:18 the method CONNECT reaches`}},
		"files": {`
routes:
  - {match: "/{path...}", files: {root: ., fallback: /none.html}}
  - {match: "/a/{path...}", files: {root: ., fallback: /warnings.go}}
`, []string{`3:27 the root "." has no file "/none.html"|404`}},
		"unused names": {`
constraints: {code: '[A-Z]'}
upstreams: {a: {servers: http://a}}
routes: [{match: "/{code}", respond: {status: 200}}]
`, []string{`2:15 no route has the constraint "code"`, `3:13 no route has the upstream "a"`}},
		"an include of nothing": {`
include: [none/*.yaml, .none*]
routes: [{match: /, respond: {status: 200}}]
`, []string{`2:11 no file matches "none/*.yaml"`, `2:24 `}},
		"servers that are listeners": {`
listen: [":8080", "127.0.0.1:8081", "192.0.2.1:8082"]
upstreams:
  a: {servers: [http://localhost:8080, http://127.0.0.1:8082, http://192.0.2.2:8080]}
  b: {servers: "https://localhost:8081/x"}
  c: {servers: ["http://[::1]:8081", http://127.0.0.2:8081]}
routes: [{match: /a, to: a}, {match: /b, to: b}, {match: /c, to: c}]
`, []string{`4:3 the server "http://localhost:8080" is the listener ":8080"`, `5:3 "https://localhost:8081/x" is the listener "127.0.0.1:8081"`}},
		"rules for interesting requests": {`
log: {interesting: {slower_than: 1s, share: 5%}}
routes: [{match: /, respond: {status: 200}}]
`, []string{`2:34 interesting.slower_than has no effect|events: interesting`, `2:45 `}},
		"rules for interesting requests of a route": {`
log: {interesting: {slower_than: p99, share: 5%}}
routes: [{match: /, respond: {status: 200}, log: {events: interesting}}]
`, nil},
		"conditions": {`
routes:
  - match: /
    respond: {status: 200}
    when: {headers: {User-Agent: ".*Mobile.*", X-A: "*"}, query: {v: "^1"}, cookies: {c: ~x}}
`, []string{`5:34 ".*Mobile.*" is an exact value|write true`, `5:53 `, `5:70 `, `5:90 `}},
	} {
		t.Run(name, func(t *testing.T) { mistaketest.Want(t, parse(t, c.src, nil).Warnings, c.want) })
	}
}

// TestAnchorsInExpressionsDrawWarnings has expressions that match a part of a segment in other programs, which do not
// anchor them.
func TestAnchorsInExpressionsDrawWarnings(t *testing.T) {
	for expr, want := range map[string]string{
		`\.(bak|sql)$`: `.*(?:\\.(bak|sql)$)`,
		`^v[0-9]`:      `(?:^v[0-9]).*`,
		`^a|b$`:        `.*(?:^a|b$).*`,
		`(^a|b)$`:      `.*(?:(^a|b)$)`,
		`(^x)?y$`:      `.*(?:(^x)?y$)`,
		`\Aab`:         `(?:\\Aab).*`,
		`^(a|b)$`:      "",
		`^a$|^b$`:      "",
		`(?:^a)(?:b$)`: "",
		`[a-z]+`:       "",
		`a\$`:          "",
	} {
		c := parse(t, "constraints: {x: '"+expr+"'}\nroutes: [{match: '/{x:x}', respond: {status: 403}}]", nil)
		if want == "" {
			mistaketest.Want(t, c.Warnings, nil)
		} else {
			mistaketest.Want(t, c.Warnings, []string{`1:18 the whole segment|write "` + want + `"`})
		}
	}
}

func TestRedirectOfHostThatIsPathDrawsWarning(t *testing.T) {
	dir := t.TempDir()
	csv, file := filepath.Join(dir, "moved.csv"), filepath.Join(dir, "weir.yaml")
	if err := os.WriteFile(csv, []byte("/a,/x\nold/b,/y\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Parse(file, []byte("redirects: moved.csv\nroutes: [{match: /, respond: {status: 200}}]"), nil)
	if err != nil {
		t.Fatal(err)
	}
	mistaketest.Want(t, c.Warnings, []string{`2:1 moved.csv|"old" is the name of a host|write "/old/b"`})
}

// TestExamplesHaveNoWarnings parses the examples that need no other file.
func TestExamplesHaveNoWarnings(t *testing.T) {
	files, err := filepath.Glob("../../examples/*/weir*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if c, err := config.Parse(file, src, nil); err == nil {
			mistaketest.Want(t, c.Warnings, nil)
		}
	}
}
