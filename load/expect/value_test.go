package expect_test

import (
	"io"
	"strings"
	"testing"

	"github.com/weirhq/weir/load/expect"
)

func TestValuesAreTaken(t *testing.T) {
	const body = `{"id": 12345678901234567890, "name": "ä", "ok": true, "none": null, "list": [1.50, {"a": "b"}]}`
	for name, want := range map[string]string{
		"$.id":                           "12345678901234567890",
		"$.name":                         "ä",
		"$.ok":                           "true",
		"$.list[0]":                      "1.50",
		"$.list[1]":                      `{"a":"b"}`,
		"$.none":                         "! $.none is null",
		"$.other":                        "! the body has no $.other",
		"header x-one":                   "1",
		"header X-Two":                   "! there is no header X-Two",
		`body matches "name": "([^"]*)"`: "ä",
		"body matches [0-9]+":            "12345678901234567890",
		"body matches ^x":                "! the body has no match of ^x",
		"token":                          `! "token" is no value of a response; write $.items[0].id, header Location, or body matches id=([0-9]+)`,
		"header a b":                     `! "header a b" is no value of a response; write`,
		"body matches (":                 "! error parsing regexp: missing closing ): `(`",
		"$.":                             "! column 2: there is no key after the dot",
	} {
		got := take(name, body)
		if got != want && !(strings.HasPrefix(want, "! ") && strings.HasPrefix(got, want)) {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	if got := take("body matches x", strings.Repeat("a", 2<<20)); got != "! the body has more than 1048576 bytes, and is not searched" {
		t.Errorf("a long body: %q", got)
	}
}

// take returns a value of a response, whose body comes in two parts, or the mistake after an exclamation mark.
func take(name, body string) string {
	v, err := expect.ParseValue(name)
	if err != nil {
		return "! " + err.Error()
	}
	taker := expect.NewTaker([]expect.Value{v})
	for range 2 { // the second response is read as the first one
		taker.Begin(200, fields{{"X-One", "1"}, {"X-One", "2"}})
		io.WriteString(taker, body[:len(body)/2])
		io.WriteString(taker, body[len(body)/2:])
	}
	found, missing, reason := taker.End()
	if missing >= 0 {
		return "! " + reason
	}
	return found[0]
}
