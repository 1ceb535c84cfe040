package expect_test

import (
	"bytes"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/weirhq/weir/load/expect"
)

// fields are a header.
type fields [][2]string

func (f fields) Values(name string) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for _, field := range f {
			if strings.EqualFold(field[0], name) && !yield([]byte(field[1])) {
				return
			}
		}
	}
}

// examine returns the failure of a response, "" if it is right. The body comes in pieces.
func examine(t *testing.T, x *expect.Examiner, texts []string, status int, h fields, pieces ...string) string {
	t.Helper()
	x.Begin(status, h)
	for _, p := range pieces {
		x.Write([]byte(p))
	}
	wrong, mistake := x.End()
	if wrong < 0 {
		return ""
	}
	e, err := expect.Parse(texts[wrong])
	if err != nil {
		t.Fatal(err)
	}
	if e.OfStatus() {
		return mistake
	}
	return e.Failure() + "; " + mistake
}

func newExaminer(t *testing.T, texts ...string) *expect.Examiner {
	t.Helper()
	var all []expect.Expectation
	for _, text := range texts {
		e, err := expect.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return expect.NewExaminer(all)
}

func TestWrongResponsesHaveTheirReason(t *testing.T) {
	html := fields{{"content-type", "text/html; charset=utf-8"}, {"Vary", "Accept"}, {"Vary", "Origin"}}
	for _, c := range []struct {
		expectation string
		status      int
		body        string
		want        string
	}{
		{"status 200", 200, "", ""},
		{"status 200", 503, "", "unexpected status 503"},
		{"status 2xx, 304,401-403", 304, "", ""},
		{"status 2xx, 304,401-403", 402, "", ""},
		{"status 2xx, 304,401-403", 400, "", "unexpected status 400"},
		{"header Content-Type", 200, "", ""},
		{"header Content-Type: text/html; charset=utf-8", 200, "", ""},
		{"header Content-Type: text/html", 200, "",
			`header Content-Type is not "text/html"; header Content-Type is "text/html; charset=utf-8"`},
		{"header Content-Type contains text/html", 200, "", ""},
		{"header Content-Type contains json", 200, "",
			`header Content-Type lacks "json"; header Content-Type is "text/html; charset=utf-8"`},
		{"header Vary: Origin", 200, "", ""},
		{"header ETag", 200, "", "header ETag is missing; there is no header ETag"},
		{"body contains a b", 200, "xa bx", ""},
		{"body contains ok", 200, "no", `body lacks "ok"; body lacks "ok"`},
		{"body lacks error", 200, "fine", ""},
		{"body lacks error", 200, "an error", `body contains "error"; body contains "error"`},
		{"$.a.b[1]", 200, `{"a":{"b":[1,null]}}`, ""},
		{"$.a.b[2]", 200, `{"a":{"b":[1,2]}}`, "$.a.b[2] is missing; $.a.b[2] is missing"},
		{"$.state == up", 200, `{"state":"up"}`, ""},
		{`$.state == "up"`, 200, `{"state":"up"}`, ""},
		{"$.state==up", 200, `{"state":"down"}`, `$.state is not "up"; $.state is "down"`},
		{"$.n == 3", 200, `{"n":3.0}`, ""},
		{"$.n == 3", 200, `{"n":"3"}`, `$.n is not 3; $.n is "3"`},
		{"$.n == true", 200, `{"n":true}`, ""},
		{`$["a key"][0].x == 1`, 200, `{"a key":[{"x":1}]}`, ""},
		{"$ == 7", 200, " 7 \n", ""},
		{"$.a", 200, "<html>", "$.a is missing; the body is not JSON: invalid character '<' looking for beginning of value"},
		{"$.a", 200, "", "$.a is missing; the body is not JSON: unexpected end of JSON input"},
		{"size 3", 200, "abc", ""},
		{"size 1kB-2kB", 200, "abc", "size is not 1kB-2kB; the body has 3 bytes"},
		{"size -2", 200, "abc", "size is not -2; the body has 3 bytes"},
		{"size 1-", 200, "abc", ""},
	} {
		x := newExaminer(t, c.expectation)
		if got := examine(t, x, []string{c.expectation}, c.status, html, c.body); got != c.want {
			t.Errorf("%s: status %d, body %q: got %q, want %q", c.expectation, c.status, c.body, got, c.want)
		}
	}
}

func TestTextsAreFoundAcrossPieces(t *testing.T) {
	texts := []string{"body contains needle", "body contains e", "body lacks hay needles"}
	x := newExaminer(t, texts...)
	const body = "a haystack with a needle in it"
	for a := range body {
		for b := a; b <= len(body); b++ {
			if got := examine(t, x, texts, 200, nil, body[:a], body[a:b], body[b:]); got != "" {
				t.Errorf("%q %q %q: %s", body[:a], body[a:b], body[b:], got)
			}
		}
	}
	if got := examine(t, x, texts, 200, nil, "need", "ing e"); got != `body lacks "needle"; body lacks "needle"` {
		t.Error(got)
	}
}

func TestFirstExpectationThatIsNotMetIsReported(t *testing.T) {
	texts := []string{"status 200", "body contains ok"}
	x := newExaminer(t, texts...)
	if got := examine(t, x, texts, 500, nil, "no"); got != "unexpected status 500" {
		t.Error(got)
	}
	if got := examine(t, x, texts, 200, nil, "no"); got != `body lacks "ok"; body lacks "ok"` {
		t.Error(got)
	}
	if got := examine(t, x, texts, 200, nil, "ok"); got != "" {
		t.Error("a mistake of the response before:", got)
	}
}

func TestBodyOfMoreThanAMebibyteIsNotReadAsJSON(t *testing.T) {
	x := newExaminer(t, "$.a")
	piece := bytes.Repeat([]byte(" "), 100_000)
	x.Begin(200, nil)
	for range 20 {
		x.Write(piece)
	}
	if _, mistake := x.End(); !strings.Contains(mistake, "more than 1048576 bytes") {
		t.Error(mistake)
	}
}

func TestRightResponsesAreExaminedWithoutAllocating(t *testing.T) {
	x := newExaminer(t, "status 200", "body contains ok", "size 1-10")
	body := []byte("so ok")
	if n := testing.AllocsPerRun(100, func() {
		x.Begin(200, nil)
		x.Write(body)
		if wrong, _ := x.End(); wrong >= 0 {
			t.Error(wrong)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestMistakesInExpectationsAreExplained(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "it is empty; write one such as status 200"},
		{"statsu 200", `there is no "statsu", did you mean status?`},
		{"p99 < 5ms", `there is no "p99"; write one such as`},
		{"status", `"" is not a status; write 200, 2xx or 301-303`},
		{"status 20", `"20" is not a status`},
		{"status 1xx", `"1xx" is not a status`},
		{"status 300-200", `"300-200" is not a status`},
		{"header a b", `"a b" is not the name of a field`},
		{"header A:", "there is no value for A; write header A: VALUE"},
		{"body has ok", `after body comes contains or lacks, not "has"`},
		{"body contains", "there is no text after contains"},
		{"$.a.", "column 4: there is no key after the dot"},
		{"$a", `column 2: "a" is neither a key nor an index; a path is such as $.items[0].id`},
		{"$.a[x]", "column 4: an index is a number from 0 on"},
		{`$["a`, "column 2: the key in quotes does not end"},
		{"$.a ==", "there is no value after =="},
		{"size", "there is no size; write size 512"},
		{"size 5x", `"5x" is no size`},
		{"size 9-2", "9 is more than 2"},
	} {
		_, err := expect.Parse(c.text)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), fmt.Sprintf("%q", c.text)) {
			t.Errorf("%q: got %v, want it with %q", c.text, err, c.want)
		}
	}
}
