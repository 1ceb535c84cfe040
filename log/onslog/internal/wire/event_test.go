package wire_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/log/onslog/internal/wire"
)

// line returns the line that Output writes for e, or "" if it returns false.
func line(t testing.TB, e *wire.Event) string {
	t.Helper()
	var b bytes.Buffer
	o := wire.NewOutput()
	o.SetDestination(&b, nil)
	if !o.Write(e) {
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

// plain is the reference for the encoder: encoding/json must write the same line
// from it.
type plain struct {
	CreatedAt      time.Time           `json:"created_at"`
	Namespace      string              `json:"namespace"`
	Event          string              `json:"event"`
	TraceID        string              `json:"trace_id,omitempty"`
	Severity       *wire.Severity      `json:"severity,omitempty"`
	Classification wire.Classification `json:"classification,omitempty"`
	HTTP           *wire.EventHTTP     `json:"http,omitempty"`
	Auth           *wire.EventAuth     `json:"auth,omitempty"`
	Data           *wire.Data          `json:"data,omitempty"`
	Error          *wire.EventError    `json:"error,omitempty"`
	Errors         *wire.EventErrors   `json:"errors,omitempty"`
}

func oracle(e *wire.Event) string {
	c := e.Clone()
	b, err := json.Marshal(plain{
		c.CreatedAt, c.Namespace, c.Event, c.TraceID, c.SeverityPointer(), c.Classification, c.HTTP, c.Auth, c.DataPointer(),
		c.Error, c.Errors,
	})
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
	var none wire.EventErrors
	for name, opts := range map[string][]wire.Option{
		"nothing":         nil,
		"nil option":      {nil},
		"severity zero":   {wire.Severity(0)},
		"severity":        {wire.Severity(-7)},
		"classification":  {wire.Classification("<x>")},
		"auth":            {&wire.EventAuth{Identity: "me", IdentityType: "user"}},
		"empty auth":      {&wire.EventAuth{}},
		"nil auth":        {(*wire.EventAuth)(nil)},
		"http":            {&wire.EventHTTP{StatusCode: &status, Duration: &took, StartedAt: &start, Method: "GET", Port: -1, Query: "a&b"}},
		"empty http":      {&wire.EventHTTP{}},
		"nil http":        {(*wire.EventHTTP)(nil)},
		"later nil http":  {&wire.EventHTTP{StatusCode: &status}, (*wire.EventHTTP)(nil)},
		"http, year 0":    {&wire.EventHTTP{StartedAt: new(time.Time)}},
		"http, bad year":  {&wire.EventHTTP{EndedAt: ref(start.AddDate(9000, 0, 0))}},
		"data":            {wire.Data{"b": 1, "a": wire.Data{"<": nil}, "": map[string]any(nil)}},
		"nil data":        {wire.Data(nil)},
		"later data":      {wire.Data{"a": 1}, wire.Data{"b": 2}},
		"error":           {&wire.EventError{Message: "m", StackTrace: []wire.EventStackTrace{{}, {"f", 1, "g"}}, Data: errors.New("x")}},
		"empty error":     {&wire.EventError{}},
		"errors":          {&wire.EventErrors{{}, {Message: "a"}, {Data: wire.Data(nil)}}},
		"no errors":       {&wire.EventErrors{}},
		"null errors":     {&none},
		"nil errors":      {(*wire.EventErrors)(nil)},
		"not a number":    {wire.Data{"a": 1, "b": math.NaN()}},
		"channel":         {wire.Data{"a": []any{make(chan int)}}},
		"channel, errors": {&wire.EventErrors{{Data: make(chan int)}}},
		"holds itself":    {wire.Data{"a": selfMap()}},
		"deep":            {wire.Data{"a": deep(200)}},
		"many keys":       {manyKeys()},
	} {
		t.Run(name, func(t *testing.T) {
			e := wire.New("name", "event", opts)
			e.TraceID = "trace"
			if got, want := line(t, &e), oracle(&e); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func ref[T any](v T) *T { return &v }

func manyKeys() wire.Data {
	d := wire.Data{}
	for c := range rune(3000) {
		d["k"+string(c)] = c
	}
	return d
}

// TestStringsAreAsEncodingJSONWritesThem checks a string of each single character,
// and of each byte that is not a character.
func TestStringsAreAsEncodingJSONWritesThem(t *testing.T) {
	e := wire.New("name", "event", nil)
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
		e := wire.New(value, event, []wire.Option{wire.Data{key: value, value: n, "list": []string{key, event}}})
		if got, want := line(t, &e), oracle(&e); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}
