package users_test

import (
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirhq/weir/load/expect"
	"github.com/weirhq/weir/load/flow"
	"github.com/weirhq/weir/load/internal/program"
	"github.com/weirhq/weir/load/internal/users"
	"github.com/weirhq/weir/load/target"
)

// header is the header of a response.
type header http.Header

func (h header) Values(name string) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for _, v := range http.Header(h).Values(name) {
			if !yield([]byte(v)) {
				return
			}
		}
	}
}

// A reply is a response to a step. Its fields are pairs of names and values.
type reply struct {
	status int
	fields []string
	body   string
}

// respond passes a response to a user.
func (r reply) respond(u *users.User) (reason int, mistake string) {
	h := http.Header{}
	for pair := range slices.Chunk(r.fields, 2) {
		h.Add(pair[0], pair[1])
	}
	u.Begin(r.status, header(h))
	for b := range slices.Chunk([]byte(r.body), 3) { // bodies arrive in parts
		u.Write(b)
	}
	return u.End()
}

// ask goes to the user's next step, and returns its request: the method and the target, the fields, and the body.
func ask(u *users.User) (line string, h http.Header, body string) {
	u.Next()
	return parts(u.Message())
}

func parts(m *program.Message) (line string, h http.Header, body string) {
	r := m.Request(true)
	_, body, _ = strings.Cut(string(m.Head), "\r\n\r\n")
	return r.Method + " " + r.URL.Opaque, r.Header, body
}

func compile(t *testing.T, page string, o users.Options) *users.Flows {
	t.Helper()
	parsed, err := flow.Parse("flows.yaml", []byte(page))
	if err != nil {
		t.Fatal(err)
	}
	o.Base = target.Target{URL: "http://shop.example/v1"}
	f, err := users.Compile(parsed, o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

const shop = `
flows:
  - name: buy
    steps:
      - name: login
        request: POST /login
        body: user{{seq}}
        expect: status 200
      - name: order
        request: POST /orders/{{from "login" "$.id"}}
        headers: ['Authorization: Bearer {{from "login" "$.token"}}']
        body: '{"id": {{from "login" "$.id"}}}'
      - name: receipt
        request: GET /receipts/{{from "order" "header X-Receipt"}}
`

// A user sends the values of responses before in paths, fields and bodies, and begins the next flow without them.
func TestUserSendsValuesOfResponses(t *testing.T) {
	u := compile(t, shop, users.Options{}).NewUser()
	for seq, id := range []string{"7", "a/b"} {
		if line, _, body := ask(u); line != "POST /v1/login" || body != fmt.Sprint("user", seq) {
			t.Fatalf("the first request of flow %d is %s with %q", seq, line, body)
		}
		reply{200, nil, fmt.Sprintf(`{"id": %q, "token": "t%d"}`, id, seq)}.respond(u)
		line, h, body := ask(u)
		if line != "POST /v1/orders/"+strings.ReplaceAll(id, "/", "%2F") || body != `{"id": `+id+`}` ||
			h.Get("Authorization") != fmt.Sprintf("Bearer t%d", seq) {
			t.Errorf("the second request is %s with %v and %q", line, h, body)
		}
		reply{status: 500, fields: []string{"X-Receipt", "r1"}}.respond(u) // nothing else is expected
		if line, _, _ := ask(u); line != "GET /v1/receipts/r1" {
			t.Errorf("the third request is %s", line)
		}
		if reason, mistake := (reply{status: 200}).respond(u); reason >= 0 {
			t.Errorf("the flow ended with %d %s", reason, mistake)
		}
	}
}

// After a response that is not right, or none, a user leaves the flow and begins another one. The reason has the step.
func TestUserLeavesTheFlowAfterAMistake(t *testing.T) {
	f := compile(t, shop, users.Options{Expect: parse(t, "body lacks error")})
	for _, c := range []struct {
		reply           reply
		reason, mistake string
	}{
		{reply{status: 503}, "buy/login: unexpected status", "503"},
		{reply{200, nil, `{"id": 1, "token": "error"}`}, `buy/login: body contains "error"`, ""},
		{reply{200, nil, `{"id": 1}`}, "buy/login: no value $.token", ""},
		{reply{200, nil, `{"id": 1, "token": "a\r\nb: c"}`}, "buy/login: no value $.token", "control character"},
	} {
		u := f.NewUser()
		ask(u)
		reason, mistake := c.reply.respond(u)
		if reason < 0 || f.Reasons[reason] != c.reason || !strings.Contains(mistake, c.mistake) {
			t.Errorf("%+v: reason %d %q, want %s %q; all are %q", c.reply, reason, mistake, c.reason, c.mistake, f.Reasons)
		}
		if line, _, _ := ask(u); line != "POST /v1/login" {
			t.Errorf("%+v: the next request is %s, want a new flow", c.reply, line)
		}
		u.Lost()
		if line, _, _ := ask(u); line != "POST /v1/login" {
			t.Errorf("after a lost request the next one is %s, want a new flow", line)
		}
	}
}

func parse(t *testing.T, text string) []expect.Expectation {
	t.Helper()
	e, err := expect.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return []expect.Expectation{e}
}

// A user sends its cookies as their paths and attributes say, beside a Cookie of the page, and begins the next flow
// without cookies.
func TestUserKeepsCookiesForAFlow(t *testing.T) {
	u := compile(t, `
flows:
  - name: f
    steps:
      - {name: a, request: GET /a/x}
      - {name: b, request: GET /a/y, headers: ["Cookie: own=1"]}
      - {name: c, request: GET /c}
`, users.Options{}).NewUser()
	for range 2 {
		if _, h, _ := ask(u); h.Get("Cookie") != "" {
			t.Errorf("the first request of a flow has the cookies %q", h.Get("Cookie"))
		}
		reply{status: 200, fields: []string{"Set-Cookie", "s=1; Path=/", "Set-Cookie", "only=a", "Set-Cookie",
			"tls=1; Secure", "Set-Cookie", "other=1; Domain=other.example"}}.respond(u)
		if _, h, _ := ask(u); !slices.Equal(h["Cookie"], []string{"own=1; only=a; s=1"}) {
			t.Errorf("the second request has the cookies %q", h["Cookie"])
		}
		reply{status: 200, fields: []string{"Set-Cookie", "s=2; Path=/"}}.respond(u)
		if _, h, _ := ask(u); h.Get("Cookie") != "s=2" {
			t.Errorf("the third request has the cookies %q", h.Get("Cookie"))
		}
		reply{status: 200}.respond(u)
	}
}

const weighted = `
flows:
  - {name: a, weight: 3, steps: [{name: s, request: "GET /a/{{seq}}"}]}
  - {name: b, steps: [{name: s, request: "GET /b/{{seq}}"}]}
`

// Several users execute the flows by their weights, and each number once, also in the shares of a plan.
func TestFlowsAreExecutedByTheirWeights(t *testing.T) {
	for _, of := range []int{0, 1, 2, 3} {
		var got []string
		for part := range max(1, of) {
			f := compile(t, weighted, users.Options{Part: part, Of: of})
			both := []*users.User{f.NewUser(), f.NewUser()}
			for i := range 24 / max(1, of) {
				line, _, _ := ask(both[i%2])
				got = append(got, line)
				reply{status: 200}.respond(both[i%2])
			}
		}
		counts := map[string]int{}
		slices.Sort(got)
		for _, line := range got {
			counts[line[:len("GET /v1/a")]]++
		}
		if len(slices.Compact(got)) != 24 || counts["GET /v1/a"] != 18 || counts["GET /v1/b"] != 6 {
			t.Errorf("%d shares execute %v: %v, want 18 of a and 6 of b", of, counts, got)
		}
	}
}

// Thinking times are within their bounds, differ, and are the same with the same seed.
func TestThinkingTimesAreRepeatable(t *testing.T) {
	page := `
flows:
  - name: f
    steps: [{name: a, request: GET /, think: 10ms-30ms}, {name: b, request: GET /, think: 5ms}]
`
	times := func(seed uint64) (all []time.Duration) {
		u := compile(t, page, users.Options{Seed: seed}).NewUser()
		for range 100 {
			all = append(all, u.Next(), u.Next())
		}
		return all
	}
	first := times(1)
	for i, think := range first {
		if least, most := 10*time.Millisecond, 30*time.Millisecond; i%2 == 0 && (think < least || think > most) ||
			i%2 == 1 && think != 5*time.Millisecond {
			t.Errorf("thinking time %d is %v", i, think)
		}
	}
	if !slices.Equal(first, times(1)) || slices.Equal(first, times(2)) || first[0] == first[2] && first[2] == first[4] {
		t.Errorf("the thinking times are %v, want the same for a seed only", first[:6])
	}
}

const prepared = `
setup:
  - {name: product, request: POST /products, think: 2s}
  - {name: price, request: 'PUT /products/{{from "product" "$.id"}}'}
flows:
  - name: f
    steps: [{name: s, request: 'GET /products/{{from "product" "$.id"}}'}]
`

// The setup is sent in order, after its thinking times. Users have the values of its responses, and not its cookies.
func TestSetUpSharesItsValues(t *testing.T) {
	f := compile(t, prepared, users.Options{Expect: parse(t, "status 200")}) // which is for the load only
	var lines []string
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		err := f.SetUp(t.Context(), func(u *users.User, m *program.Message) (int, error) {
			line, _, _ := parts(m)
			lines = append(lines, line)
			u.Begin(201, header{"Set-Cookie": {"s=1; Path=/"}})
			u.Write([]byte(`{"id": 5}`))
			return 201, nil
		})
		if err != nil || time.Since(began) != 2*time.Second {
			t.Errorf("the setup took %v: %v, want 2 s", time.Since(began), err)
		}
	})
	u := f.NewUser()
	line, h, _ := ask(u)
	want := []string{"POST /v1/products", "PUT /v1/products/5", "GET /v1/products/5"}
	if !slices.Equal(append(lines, line), want) ||
		h.Get("Cookie") != "" {
		t.Errorf("the requests are %q and %q with the cookies %q, want %q", lines, line, h.Get("Cookie"), want)
	}
}

// A setup that fails has an error with its step.
func TestSetUpFails(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		err    error
		want   string
	}{
		{404, `{"id": 5}`, nil, `the setup's step "product": the status is 404`},
		{200, `{}`, nil, `the setup's step "product": `},
		{0, "", errors.New("no server"), `the setup's step "product": no server`},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := compile(t, prepared, users.Options{})
			err := f.SetUp(t.Context(), func(u *users.User, _ *program.Message) (int, error) {
				if c.err == nil {
					u.Begin(c.status, header{})
					u.Write([]byte(c.body))
				}
				return c.status, c.err
			})
			if err == nil || !strings.Contains(err.Error(), c.want) || c.err != nil && !errors.Is(err, c.err) {
				t.Errorf("a response of %d %s: %v, want %s", c.status, c.body, err, c.want)
			}
		})
	}
}

// A value must be of a step before, in the same flow or in the setup, and its notation must be valid.
func TestValuesNeedAStepBefore(t *testing.T) {
	for from, want := range map[string]string{
		`"none" "$.id"`:     `there is no step "none" before this one`,
		`"second" "$.id"`:   `there is no step "second" before this one`,
		`"later" "$.id"`:    `there is no step "later" before this one`,
		`"other" "$.id"`:    `there is no step "other" before this one`,
		`"first" "id"`:      "id",
		`"first" "$.id"`:    "",
		`"prepare" "$.key"`: "",
	} {
		step := func(name, path string) flow.Step {
			return flow.Step{Name: name, Target: target.Target{Method: "GET", URL: path}}
		}
		_, err := users.Compile(&flow.Page{Setup: []flow.Step{step("prepare", "/")}, Flows: []flow.Flow{
			{Name: "f", Weight: 1,
				Steps: []flow.Step{step("first", "/"), step("second", "/{{from "+from+"}}"), step("later", "/")}},
			{Name: "g", Weight: 1, Steps: []flow.Step{step("other", "/")}},
		}}, users.Options{Base: target.Target{URL: "http://shop.example"}})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("{{from %s}}: %v, want %q", from, err, want)
		}
	}
}
