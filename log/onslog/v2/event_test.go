package log

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

// line returns the line that output writes for e, or "" if it returns false.
func line(t testing.TB, e *entry) string {
	t.Helper()
	var b bytes.Buffer
	o := newOutput()
	o.setDestination(&b, nil)
	if !o.writeEntry(e) {
		if b.Len() > 0 {
			t.Errorf("refused, and wrote %q", b.String())
		}
		return ""
	}
	s, ended := strings.CutSuffix(b.String(), "\n")
	if !ended {
		t.Errorf("%q does not end with a newline", s)
	}
	return s
}

// oracle returns the line that encoding/json writes for e, or "" if it cannot.
func oracle(e *entry) string {
	b, err := json.Marshal(e.data())
	if err != nil {
		return ""
	}
	return string(b)
}

// selfMap returns a map that contains itself.
func selfMap() map[string]any {
	m := map[string]any{}
	m["m"] = m
	return m
}

// deep returns n nested maps, each inside a list.
func deep(n int) any {
	var v any = "bottom"
	for range n {
		v = map[string]any{"d": []any{v}}
	}
	return v
}

func TestEventsAreAsEncodingJSONWritesThem(t *testing.T) {
	status, took := 200, 5*time.Millisecond
	start := time.Date(2026, 11, 21, 9, 30, 15, 123456789, time.FixedZone("", 3600))
	var none EventErrors
	for name, opts := range map[string][]option{
		"nothing":         nil,
		"nil option":      {nil},
		"severity zero":   {severity(0)},
		"severity":        {severity(-7)},
		"classification":  {classification("<x>")},
		"auth":            {&eventAuth{Identity: "me", IdentityType: "user"}},
		"empty auth":      {&eventAuth{}},
		"nil auth":        {(*eventAuth)(nil)},
		"http":            {&EventHTTP{StatusCode: &status, Duration: &took, StartedAt: &start, Method: "GET", Port: -1, Query: "a&b"}},
		"empty http":      {&EventHTTP{}},
		"nil http":        {(*EventHTTP)(nil)},
		"later nil http":  {&EventHTTP{StatusCode: &status}, (*EventHTTP)(nil)},
		"http, year 0":    {&EventHTTP{StartedAt: new(time.Time)}},
		"http, bad year":  {&EventHTTP{EndedAt: ref(start.AddDate(9000, 0, 0))}},
		"data":            {Data{"b": 1, "a": Data{"<": nil}, "": map[string]any(nil)}},
		"nil data":        {Data(nil)},
		"later data":      {Data{"a": 1}, Data{"b": 2}},
		"error":           {&EventErrors{{Message: "m", StackTrace: []EventStackTrace{{}, {"f", 1, "g"}}, Data: errors.New("x")}}},
		"errors":          {&EventErrors{{}, {Message: "a"}, {Data: Data(nil)}}},
		"no errors":       {&EventErrors{}},
		"null errors":     {&none},
		"nil errors":      {(*EventErrors)(nil)},
		"not a number":    {Data{"a": 1, "b": math.NaN()}},
		"channel":         {Data{"a": []any{make(chan int)}}},
		"channel, errors": {&EventErrors{{Data: make(chan int)}}},
		"holds itself":    {Data{"a": selfMap()}},
		"deep":            {Data{"a": deep(200)}},
		"many keys":       {manyKeys()},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEntry("name", "event", opts)
			e.TraceID = "trace"
			if got, want := line(t, &e), oracle(&e); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func ref[T any](v T) *T { return &v }

func manyKeys() Data {
	d := Data{}
	for c := range rune(3000) {
		d["k"+string(c)] = c
	}
	return d
}

// TestStringsAreAsEncodingJSONWritesThem checks a string of each single character,
// and of each byte that is not a character.
func TestStringsAreAsEncodingJSONWritesThem(t *testing.T) {
	e := newEntry("name", "event", nil)
	check := func(s string) {
		t.Helper()
		e.Event = s
		if got, want := line(t, &e), oracle(&e); got != want {
			t.Errorf("%q: got %s, want %s", s, got, want)
		}
	}
	for c := range rune(0x3000) {
		check("a" + string(c) + "b")
	}
	for c := range 256 {
		check(string([]byte{byte(c)}))
		check(string([]byte{0xE2, 0x80, byte(c)}))
	}
}

func FuzzStringsAreAsEncodingJSONWritesThem(f *testing.F) {
	f.Add("event", "key", "value", 1.5)
	f.Add("<>&\u2028", "\x00\x7f\u009b", "\xff\xc3", 1e-9)
	f.Fuzz(func(t *testing.T, event, key, value string, n float64) {
		e := newEntry(value, event, []option{Data{key: value, value: n, "list": []string{key, event}}})
		if got, want := line(t, &e), oracle(&e); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}
