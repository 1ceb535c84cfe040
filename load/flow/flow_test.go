package flow_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirhq/weir/load/flow"
	"github.com/weirhq/weir/load/target"
)

const shop = `
setup:
  - name: admin
    request: POST /admin
    body: '{"name": "x"}'
flows:
  - name: buy
    weight: 3
    steps:
      - name: login
        request: POST /login?admin={{from "admin" "$.id"}}
        headers: ["Content-Type: application/json"]
        body: |
          {"user": "u{{seq}}"}
        expect: status 200
      - name: order
        request: PUT /orders/{{from "login" "header X-Id"}}
        headers: 'X-Token: {{from "login" "$.token"}}'
        think: 1s-3s
        expect: [status 2xx, $.state == up]
  - name: browse
    steps: [{name: login, request: GET /, think: 2s}]
`

func TestPageIsParsed(t *testing.T) {
	p, err := flow.Parse("shop.yaml", []byte(shop))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range p.Steps() {
		got = append(got, s.Name+" "+s.Think.String())
		for _, e := range s.Expect {
			got = append(got, e.String())
		}
	}
	want := "login 0s|status 200|order 1s-3s|status 2xx|$.state == up|login 2s|admin 0s"
	if strings.Join(got, "|") != want {
		t.Errorf("the steps are %q, want %q", got, want)
	}
	targets := p.Targets(target.Target{URL: "http://a.example/api/", Header: []target.Header{{Name: "A", Value: "b"}}})
	first := target.Target{Method: "POST", URL: `http://a.example/api/login?admin={{from "admin" "$.id"}}`, Header: []target.Header{
		{Name: "Content-Type", Value: "application/json"}, {Name: "A", Value: "b"}}, Body: target.Body{Text: "{\"user\": \"u{{seq}}\"}\n"}}
	if diff := cmp.Diff(first, targets[0]); diff != "" || len(targets) != 4 {
		t.Errorf("%d targets; the first: want - got +\n%s", len(targets), diff)
	}
	if got := p.Order(); !cmp.Equal(got, []int{0, 0, 1, 0}) {
		t.Errorf("the order of the flows is %v", got)
	}
}

func TestMistakesInAPageAreNamed(t *testing.T) {
	step := func(text string) string {
		return "flows:\n  - name: a\n    steps:\n      - name: one\n        " + text + "\n"
	}
	for _, c := range []struct{ text, want string }{
		{"", "1:1: the page is empty; write what users do, as in: flows: "},
		{"setup: [{name: a, request: GET /}]", `1:1: the file has no "flows"; write what users do`},
		{"flow: []\n", `1:1: unknown key "flow" here; did you mean "flows"?`},
		{"flows: []\n", `1:8: "flows" is empty; write what users do`},
		{"flows:\n  - steps: [{name: a, request: GET /}]\n", `2:5: a flow has no "name"; name it`},
		{"flows:\n  - name: a\n", `2:5: a flow has no "steps"; write its requests`},
		{"flows: [{name: a/b, steps: [{name: a, request: GET /}]}]\n", `1:16: a name has no slash`},
		{"flows: [{name: a, weight: 0, steps: [{name: a, request: GET /}]}]\n", `1:27: 0 is no weight; write 1 to 1000`},
		{"flows:\n  - {name: a, steps: [{name: a, request: GET /}]}\n  - {name: a, steps: [{name: a, request: GET /}]}\n",
			`3:5: two flows have the name "a"; give each a name of its own`},
		{"flows: [{name: a, steps: [{name: a, request: GET /}, {name: a, request: GET /}]}]\n", `1:54: two steps have the name "a"`},
		{step(""), `4:9: a step has no "request"; write the method and the path, as in: request: GET /`},
		{step("requst: GET /"), `5:9: unknown key "requst" here; did you mean "request"?`},
		{step("request: /path"), `5:18: "/path" is not a method and a path; write GET /path`},
		{step("request: GET http://a/"), `5:22: the path "http://a/" does not begin with a slash; write /path; the command line has the server`},
		{step("request: GET /a b"), `5:24: a URL cannot hold ' '; write %20`},
		{step("request: GET /{{sek}}"), `5:23: the template {{sek}}: there is no "sek"`},
		{step(`request: GET /{{from "one" "$.a"}}`), `5:23: there is no step "one" before this one; it names a step of the same flow before`},
		{step(`request: GET /{{from "one"}}`), `5:23: the template {{from "one"}}: from takes 2 words, and has 1`},
		{step("request: GET /\n      - name: two\n        request: GET /{{from \"oen\" \"$.a\"}}"), `7:23: there is no step "oen" before this one; did you mean "one"?`},
		{step("request: GET /\n      - name: two\n        request: GET /{{from \"one\" \"token\"}}"), `7:23: "token" is no value of a response; write $.items[0].id, header Location`},
		{step("request: GET /\n      - name: two\n        request: GET /{{from \"one\" \"body matches (\"}}"), `7:23: error parsing regexp: missing closing )`},
		{step("request: GET /\n        headers: [a]"), `6:19: "a" is not a field of a header; write Name: value, in quotes`},
		{step("request: GET /\n        headers: ['Content-Length: 1']"), `6:19: header "Content-Length": it is made from the body; leave it out`},
		{step("request: GET /\n        think: 3s-1s"), `6:16: "3s-1s" is no time to think; write 2s, or 1s-3s`},
		{step("request: GET /\n        think: 5"), `6:16: "5" is no time to think`},
		{step("request: GET /\n        expect: [state 200]"), `6:18: expectation "state 200": there is no "state", did you mean status?`},
		{"setup: [{name: s, request: 'GET /{{from \"one\" \"$.a\"}}'}]\n" + step("request: GET /"), `1:34: there is no step "one" before this one`},
	} {
		_, err := flow.Parse("p", []byte(c.text))
		if err == nil || !strings.HasPrefix(err.Error(), "p:"+c.want) {
			t.Errorf("%s\ngot  %v\nwant p:%s", c.text, err, c.want)
		}
	}
	_, err := flow.Parse("p", []byte("flows:\n  - name: a\n    weight: x\n    steps: [{name: b, request: GET}]\n"))
	if err == nil || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("two mistakes: %v", err)
	}
}

// FuzzParse checks that a page that is accepted has only steps with a method and a path.
func FuzzParse(f *testing.F) {
	f.Add([]byte(shop))
	f.Fuzz(func(t *testing.T, src []byte) {
		p, err := flow.Parse("p", src)
		if err != nil {
			return
		}
		if len(p.Flows) == 0 || len(p.Order()) == 0 {
			t.Errorf("%q has no flow", src)
		}
		for _, s := range p.Steps() {
			if s.Name == "" || s.Target.Method == "" || !strings.HasPrefix(s.Target.URL, "/") || s.Think.Least > s.Think.Most {
				t.Errorf("%q has the step %+v", src, s)
			}
		}
	})
}
