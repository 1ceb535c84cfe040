package config_test

import (
	"net/netip"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/internal/mistaketest"
)

// wantSame checks that two files mean the same, apart from the places of keys.
func wantSame(t *testing.T, text, same string) {
	t.Helper()
	ignored := []cmp.Option{
		cmpopts.IgnoreFields(config.Route{}, "Position", "Settings"), cmpopts.EquateEmpty(), cmpopts.EquateComparable(netip.Prefix{}),
	}
	if diff := cmp.Diff(parse(t, same, nil).Routes, parse(t, text, nil).Routes, ignored...); diff != "" {
		t.Errorf("%s\ndiffers from\n%s(-want +got):\n%s", text, same, diff)
	}
}

const ups = "upstreams: {a: {servers: http://a}, b: {servers: http://b}, shadow: {servers: http://s}}\n"

// Each file has defaults and groups. The second one means the same without them.
func TestGroupsMeanTheSameAsTheirRoutes(t *testing.T) {
	for name, c := range map[string]struct{ text, same string }{
		"the example of the decision": {`
defaults:
  compress: true
  response_headers: {set: {X-Frame-Options: DENY}}
routes:
  - group:
      hosts: [example.com, www.example.com]
      prefix: /api
      timeout: 5s
      to: a
      routes:
        - match: GET /users/{id}
        - match: /export
          timeout: {silence: 1m, total: 1h}
        - {match: /health, respond: 204}
  - match: /embed/{path...}
    to: b
    response_headers: {set: {X-Frame-Options: off}}
`, `
routes:
  - {match: "GET example.com/api/users/{id}", to: a, timeout: 5s, compress: true, response_headers: {set: {X-Frame-Options: DENY}}}
  - {match: "GET www.example.com/api/users/{id}", to: a, timeout: 5s, compress: true, response_headers: {set: {X-Frame-Options: DENY}}}
  - {match: "example.com/api/export", to: a, timeout: {silence: 1m, total: 1h}, compress: true, response_headers: {set: {X-Frame-Options: DENY}}}
  - {match: "www.example.com/api/export", to: a, timeout: {silence: 1m, total: 1h}, compress: true, response_headers: {set: {X-Frame-Options: DENY}}}
  - {match: "example.com/api/health", respond: 204, compress: true, response_headers: {set: {X-Frame-Options: DENY}}}
  - {match: "www.example.com/api/health", respond: 204, compress: true, response_headers: {set: {X-Frame-Options: DENY}}}
  - {match: "/embed/{path...}", to: b, compress: true}
`},
		"nested groups": {`
routes:
  - group:
      prefix: /a
      when: {headers: {X-A: "1"}}
      request_headers: {set: {X-One: "1", X-Two: "2"}, remove: [X-Old]}
      log: {fields: {team: a}}
      upgrade: [websocket, chat]
      mirror: shadow
      routes:
        - group:
            prefix: /{b}
            to: a
            request_headers: {set: {x-one: off, X-Two: "3"}}
            when: {query: {q: true}}
            routes:
              - {match: "GET /c", upgrade: off, log: {fields: {part: "{b}"}}}
              - {match: example.com/d, split: [{to: a, weight: 1}, {to: b, weight: 2}], mirror: off}
              - {match: /e, redirect: /new}
        - {match: /f, to: b, when: {headers: {x-a: off}}}
`, `
routes:
  - {match: "GET /a/{b}/c", to: a, when: {headers: {X-A: "1"}, query: {q: true}}, upgrade: off, mirror: shadow,
     request_headers: {set: {X-Two: "3"}, remove: [X-Old]}, log: {fields: {team: a, part: "{b}"}}}
  - {match: "example.com/a/{b}/d", split: [{to: a, weight: 1}, {to: b, weight: 2}], upgrade: [websocket, chat],
     when: {headers: {X-A: "1"}, query: {q: true}}, request_headers: {set: {X-Two: "3"}, remove: [X-Old]}, log: {fields: {team: a}}}
  - {match: "/a/{b}/e", redirect: /new, when: {headers: {X-A: "1"}, query: {q: true}}, log: {fields: {team: a}}}
  - {match: "/a/f", to: b, upgrade: [websocket, chat], mirror: shadow,
     request_headers: {set: {X-One: "1", X-Two: "2"}, remove: [X-Old]}, log: {fields: {team: a}}}
`},
		"limits without outer ones": {`
defaults: {limits: {body: 10MiB, upload_rate: 5KiB/s, download_rate: 6KiB/s, client_timeouts: {read: 5s, write: 6s}}}
routes:
  - {match: /a, to: a, limits: off}
  - {match: /b, to: a, limits: {client_timeouts: off}}
  - {match: /c, to: a, limits: {client_timeouts: {read: off}, body: off}}
  - group: {limits: off, to: a, routes: [{match: /d}, {match: /e, limits: {body: 1MiB}}]}
`, `
routes:
  - {match: /a, to: a, limits: {body: off, upload_rate: 500B/s, download_rate: 500B/s, client_timeouts: {read: 20s, write: 1m}}}
  - {match: /b, to: a, limits: {body: 10MiB, upload_rate: 5KiB/s, download_rate: 6KiB/s, client_timeouts: {read: 20s, write: 1m}}}
  - {match: /c, to: a, limits: {body: off, upload_rate: 5KiB/s, download_rate: 6KiB/s, client_timeouts: {read: off, write: 6s}}}
  - {match: /d, to: a, limits: {body: off, upload_rate: 500B/s, download_rate: 500B/s, client_timeouts: {read: 20s, write: 1m}}}
  - {match: /e, to: a, limits: {body: 1MiB, upload_rate: 500B/s, download_rate: 500B/s, client_timeouts: {read: 20s, write: 1m}}}
`},
	} {
		t.Run(name, func(t *testing.T) { wantSame(t, ups+c.text, ups+c.same) })
	}
}

// Each file has mistakes: their places, then parts of their texts.
func TestGroupMistakesAreReported(t *testing.T) {
	for text, want := range map[string][]string{
		"defaults: {to: a}\nroutes: [{match: /}]\n": {`2:12 defaults have no "to"|a group`},
		"defaults: {limits: {rate: {limit: 1/s}}, when: {query: {a: true}}, match: /}\nroutes: [{match: /, to: a}]\n": {
			`2:21 not "rate"|in limits at the top`, `2:42 no "when"`, `2:68 no "match"`},
		"defaults: {timeout: 5, cors: {max_age: x}}\nroutes: [{match: /, respond: 204}, {match: /b, respond: 204}]\n": {
			`2:21 number without a unit`, `2:24 no "origins"`, `2:40 is not a duration`},
		"defaults: {request_headers: {set: {X: '{id}'}}}\nroutes:\n- {match: '/{id}', to: a}\n- {match: /b, to: a}\n- {match: /c, to: a}\n": {
			`2:39 no parameter "id"|for the route on line 5`},
		"defaults: {response_headers: {set: {X: off}}}\nroutes: [{match: /, to: a}]\n": {`2:40 cannot be off|"off" in quotes`},
		"routes:\n- group: {to: a, nonsense: 1, routes: [{match: /, timeout: 1s}], match: /x}\n": {
			`3:18 unknown key "nonsense"`, `3:66 a group has no "match"|prefix`},
		"routes:\n- group: {to: a}\n- {group: {routes: []}, match: /}\n": {
			`3:3 the group has no "routes"`, `4:20 "routes" is empty`, `4:25 "match" is beside a group`},
		"routes:\n- group: {hosts: [a/b, 'x y', 'a.{', a.example], prefix: api, to: a, routes: [{match: b.example/x}]}\n": {
			`3:19 "a/b" is not a host`, `3:24 "x y" is not a host`, `3:34 a.{`, `3:58 "api" is not a prefix`, `3:87 the host "b.example"`},
		"routes:\n- group: {prefix: '/x/{', to: a, routes: [{match: /}, {match: /b}]}\n": {`3:23 pattern`},
		"routes:\n- group: {limits: {in_flight: 1}, to: a, routes: [{match: /}]}\n- group: {name: all, routes: [{match: /x, to: a}]}\n": {
			`3:3 no name|name: shop`, `4:17 metrics have the name`},
		"routes:\n- group: {name: all, limits: {in_flight: 1}, to: a, routes: [{match: /}]}\n":         {`3:17 metrics have the name`},
		"routes:\n- group: {access: {deny: [10.0.0.0/8]}, to: a, routes: [{match: /, access: off}]}\n": {`3:76 "access"|off`},
		"routes:\n- group: {timeout: 1s, routes: [{match: /, respond: 204, timeout: 2s}, {match: /b, respond: 204}]}\n": {
			`3:58 applies only to requests that are forwarded`},
		"routes:\n- group: {files: {index: a.html}, routes: [{match: /}, {match: /b, files: .}]}\n": {`3:11 "files" has no "root"|for the route on line 3`},
		"routes:\n- group: {respond: {status: 200, text: a}, routes: [{match: /, respond: 204}, {match: /b, respond: off}]}\n": {
			`3:64 status 204 has no body`, `3:79 no action`},
		"routes:\n- group: {name: g, limits: {in_flight: 1, body: 1MiB}, to: a, routes: [{match: /, limits: off}]}\n": {
			`3:91 "limits" cannot be off|the group "g"|limits: {body: off}`},
		"routes:\n- {match: /, to: a, limits: off}\n":                       {`3:29 "limits" cannot be off|leave it out`},
		"routes:\n- group: {to: none, routes: [{match: /}, {match: /b}]}\n": {`3:15 there is no upstream "none"`},
	} {
		_, err := config.Parse("weir.yaml", []byte(ups+text), nil)
		mistaketest.Want(t, err, want)
	}
}

// The keys of an action with values from two places are settings of their own.
func TestMergedActionKeepsEachSetting(t *testing.T) {
	c := parse(t, `routes:
- group: {files: ., routes: [{match: "/{path...}", files: {cache_control: max-age=60}}]}
`, nil)
	var got []string
	for _, s := range c.Routes[0].Settings {
		got = append(got, s.Key+": "+s.Value+" of "+s.From)
	}
	want := []string{`files.cache_control: "max-age=60" of route`, `match: "/{path...}" of route`, `files.root: "." of group`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
}

// Values of defaults apply to the routes of included files. Their paths and mistakes belong to the file that has them.
func TestDefaultsApplyToIncludedFiles(t *testing.T) {
	files := map[string]string{
		"weir.yaml":   "include: r/*.yaml\ndefaults: {error_pages: {404: pages/a.txt}, response_headers: {set: {X: '{id}'}}}\n" + ups,
		"pages/a.txt": "outer",
		"r/a.yaml":    "routes:\n- {match: '/{id}', to: a}\n- group: {error_pages: {5xx: b.txt}, to: b, routes: [{match: '/x/{id}'}]}\n",
		"r/b.txt":     "inner",
	}
	c, folder, err := parseFiles(t, files)
	if err != nil {
		t.Fatal(err)
	}
	var bodies []string
	for _, page := range c.Routes[1].ErrorPages.Pages {
		bodies = append(bodies, page.Page[0].Body)
	}
	if want := []string{"outer", "inner"}; !slices.Equal(bodies, want) {
		t.Errorf("the pages are %q, want %q", bodies, want)
	}
	want := config.Setting{Key: "error_pages.404", Value: "pages/a.txt", From: "defaults",
		Position: config.Position{File: filepath.Join(folder, "weir.yaml"), Line: 2}}
	if !slices.Contains(c.Routes[1].Settings, want) {
		t.Errorf("the settings %v lack %v", c.Routes[1].Settings, want)
	}
	files["r/a.yaml"] = "routes: [{match: /x, to: a}, {match: /y, to: a}]\n"
	_, folder, err = parseFiles(t, files)
	mistaketest.Want(t, err, []string{`2:73 no parameter "id"|weir.yaml:2|for the route on line 1 of ` + filepath.Join(folder, "r/a.yaml")})
}

// Features of YAML that repeat values are refused, with what to write instead. What they hide is not said to be
// missing.
func TestAnchorsAndAliasesAreRefused(t *testing.T) {
	src := "upstreams: {a: {servers: http://a}}\nroutes:\n- &x {match: /, to: a}\n- {<<: *x, timeout: 1s}\n- *x\n- {match: /b, <<: *x}\n"
	mistaketest.Want(t, mistakes(t, src, nil), []string{
		`3:3 anchors are not supported|write a value for several routes in defaults, or in a group`,
		`4:4 merge keys are not supported|in defaults, or in a group`,
		`5:3 aliases are not supported|in defaults, or in a group`,
		`6:15 merge keys are not supported`,
	})
}

func TestPrefixOfAllPathsIsRefused(t *testing.T) {
	_, err := config.Parse("weir.yaml", []byte("routes: {group: {prefix: /, routes: {match: /a, respond: 204}}}\n"), nil)
	mistaketest.Want(t, err, []string{`1:26 "/" is the start of all paths|leave it out`})
}
