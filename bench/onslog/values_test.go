package onslog_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// A generator makes the parts of random events, reproducible by its seed.
type generator struct{ *rand.Rand }

func newGenerator(seed uint64) generator {
	return generator{rand.New(rand.NewPCG(seed, 0x6c6f67))}
}

func (g generator) chance(percent int) bool { return g.IntN(100) < percent }

func pick[T any](g generator, list []T) T { return list[g.IntN(len(list))] }

// pieces are parts of strings: everything with a special meaning to an encoder or a terminal, and ordinary text.
var pieces = []string{
	"a", "key", "hello world", "/economy/inflation", "é", "日本", "😀", "<script>", "a&b", "a>b", `"`, `\`, `\u0041`, "'",
	"\x00", "\x01", "\b", "\f", "\n", "\r", "\t", "\x1b[31m", "\x1f", "\x7f", "\u0080", "\u009b", "\u061c",
	"\u200e", "\u2028",
	"\u2029", "\u202e", "\u2066", "\ufeff", "\ufffd", "\xff", "\xc3", "\xe2\x80", "\xed\xa0\x80",
	"\xf4\x90\x80\x80", "\xc0\xaf",
	"0x1234", `"created_at":"`, "{", "}", "[", "]", ",", ":", "null", "%+v", strings.Repeat("long ", 60),
}

func (g generator) text() string {
	var b strings.Builder
	for range g.IntN(5) {
		b.WriteString(pick(g, pieces))
	}
	return b.String()
}

func (g generator) time() time.Time {
	zones := []*time.Location{
		time.UTC, time.FixedZone("", 0), time.FixedZone("east", 5*3600+1800), time.FixedZone("west",
			-8*3600), time.FixedZone("odd", 1050),
	}
	if g.chance(3) {
		zones = append(zones, time.FixedZone("far", 24*3600), time.FixedZone("farther", -30*3600))
	}
	t := time.Unix(g.Int64N(4e9)-1e9, pick(g, []int64{0, 1, 123456789, 120000000, 999999999}))
	switch g.IntN(30) {
	case 0:
		t = time.Time{}
	case 1:
		t = t.AddDate(9000, 0, 0)
	case 2:
		t = t.AddDate(-3000, 0, 0)
	case 3:
		t = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
	}
	return t.In(pick(g, zones))
}

func (g generator) float() float64 {
	return pick(g, []float64{
		0, math.Copysign(0, -1), 1, -1, 0.1, 1e6, 1e20, 1e21, 1e-6, 1e-7, 1e-9, 123456789.125, math.MaxFloat64,
		math.SmallestNonzeroFloat64, math.MaxFloat32, math.SmallestNonzeroFloat32, g.NormFloat64(),
		g.NormFloat64() * 1e30,
	})
}

// nested represents the Data type of either package.
type nested map[string]any

// Types that a caller may define.
type (
	tagged struct {
		Name     string `json:"name"`
		Empty    string `json:"empty,omitempty"`
		HTML     string
		hidden   int
		Pointer  *tagged `json:",omitempty"`
		Any      any     `json:"any"`
		Quoted   int     `json:"quoted,string"`
		Skipped  string  `json:"-"`
		Zero     time.Time
		embedded `json:"embedded"`
	}
	embedded    struct{ Inner int }
	marshals    struct{ text string }
	marshalsPtr struct{ text string }
	refuses     struct{}
	panics      struct{}
	texts       struct{ text string }
	named       string
	count       int
	loop        struct{ Next *loop }
	sliceErr    []string
	stringErr   string
	dataErr     struct {
		Code int
		Err  error
		ch   chan int
	}
	badErr  struct{ C chan int }
	mapErr  map[string]any
	jsonErr struct{ text string }
)

func (m marshals) MarshalJSON() ([]byte, error) { return []byte(m.text), nil }
func (m *marshalsPtr) MarshalJSON() ([]byte, error) {
	return []byte(`["pointer", "<` + "\u2028" + `>"]`), nil
}
func (refuses) MarshalJSON() ([]byte, error)   { return nil, errors.New("will <not>") }
func (panics) MarshalJSON() ([]byte, error)    { panic("marshaler panics") }
func (t texts) MarshalText() ([]byte, error)   { return []byte(t.text), nil }
func (e sliceErr) Error() string               { return strings.Join(e, ",") }
func (e stringErr) Error() string              { return string(e) }
func (e dataErr) Error() string                { return fmt.Sprint(e.Code, e.Err) }
func (e dataErr) Unwrap() error                { return e.Err }
func (e badErr) Error() string                 { return "holds a channel" }
func (e mapErr) Error() string                 { return "a map" }
func (e jsonErr) Error() string                { return e.text }
func (e jsonErr) MarshalJSON() ([]byte, error) { return json.Marshal("<" + e.text + ">") }

func (g generator) object(depth int) map[string]any {
	m := make(map[string]any)
	for range g.IntN(pick(g, []int{1, 3, 6, 20})) {
		m[g.text()+pick(g, pieces)] = g.value(depth + 1)
	}
	return m
}

// value returns a random value. JSON can represent nearly all of them.
func (g generator) value(depth int) any {
	if g.chance(1) {
		return g.broken()
	}
	if depth < 4 && g.chance(25) {
		return g.container(depth)
	}
	if g.chance(40) {
		return g.unusual()
	}
	return g.scalar()
}

func (g generator) scalar() any {
	switch g.IntN(18) {
	case 0:
		return nil
	case 1:
		return g.chance(50)
	case 2:
		return g.Int()
	case 3:
		return int8(g.Int())
	case 4:
		return int16(g.Int())
	case 5:
		return int32(g.Int())
	case 6:
		return -g.Int64()
	case 7:
		return uint(g.Uint64())
	case 8:
		return uint8(g.Uint64())
	case 9:
		return uint32(g.Uint64())
	case 10:
		return g.Uint64()
	case 11:
		return g.float()
	case 12:
		return float32(g.float() / 4)
	case 13:
		return time.Duration(g.Int64())
	case 14:
		return g.time()
	}
	return g.text()
}

func (g generator) container(depth int) any {
	switch g.IntN(7) {
	case 0:
		return g.object(depth)
	case 1:
		return nested(g.object(depth))
	case 2:
		return pick(g, []any{map[string]any(nil), nested(nil), []any(nil), []string(nil), []byte(nil), (*tagged)(nil),
			map[string]any{}})
	case 3:
		list := make([]string, g.IntN(4))
		for i := range list {
			list[i] = g.text()
		}
		return list
	case 4:
		deep := g.value(4)
		for range g.IntN(60) {
			deep = map[string]any{"deep": deep}
		}
		return deep
	}
	list := make([]any, g.IntN(4))
	for i := range list {
		list[i] = g.value(depth + 1)
	}
	return list
}

func (g generator) unusual() any {
	t := g.time()
	switch g.IntN(20) {
	case 0:
		return []byte(g.text())
	case 1:
		return json.RawMessage(pick(g, []string{`{"a": 1,  "<b>":"&` + "\u2028" + `"}`, ` [ ] `, `"\ud800"`, `1e400`,
			`{"a":1,"a":2}`, "\"\u009b\""}))
	case 2:
		return json.Number(pick(g, []string{"1", "1.50", "-0", "1e5", ""}))
	case 3:
		return tagged{Name: g.text(), HTML: "<>&", hidden: 1, Any: g.scalar(), Pointer: &tagged{}}
	case 4:
		return &tagged{Name: g.text(), Any: []int{1, 2}}
	case 5:
		return marshals{pick(g, []string{`"<html> &"`, "{ \"a\" : 1 }", "null", "\"\u2029\xff\""})}
	case 6:
		return pick(g, []any{marshalsPtr{"x"}, &marshalsPtr{"x"}, (*marshalsPtr)(nil)})
	case 7:
		return texts{g.text()}
	case 8:
		return map[texts]int{{g.text()}: 1, {"b"}: 2}
	case 9:
		return map[int]string{10: g.text(), 9: "b", -1: "c"}
	case 10:
		return map[string]string{g.text(): g.text(), "b": "c"}
	case 11:
		return named(g.text())
	case 12:
		return count(g.IntN(9))
	case 13:
		return &t
	case 14:
		return g.error()
	case 15:
		return &url.URL{Scheme: "http", Host: "a<b>", RawQuery: g.text()}
	case 16:
		return http.Header{"X-Some": {g.text()}, "Accept": nil}
	case 17:
		return big.NewInt(g.Int64())
	case 18:
		return [3]int{1, 2, 3}
	}
	return []map[string]any{g.object(4)}
}

// broken returns a value that JSON cannot represent.
func (g generator) broken() any {
	self := map[string]any{}
	self["self"] = self
	ring := &loop{}
	ring.Next = ring
	list := []any{nil}
	list[0] = list
	return pick(g, []any{
		make(chan int), func() {}, complex(1, 2), math.NaN(), math.Inf(1), float32(
			math.Inf(-1)), refuses{}, &refuses{}, self, ring, list,
		marshals{"{"}, marshals{""}, json.RawMessage("{]"), json.Number("nope"), map[string]any{"a": make(chan int),
			"b": math.NaN()},
		map[bool]int{true: 1}, panics{}, struct{ C chan int }{}, []any{1, io.Reader(strings.NewReader("")), func() {}},
		badErr{},
	})
}

func (g generator) error() error {
	switch g.IntN(12) {
	case 0:
		return errors.New(g.text())
	case 1:
		return fmt.Errorf("%s: %w", g.text(), g.error())
	case 2:
		return errors.Join(errors.New("a"), stringErr(g.text()))
	case 3:
		return stringErr(g.text())
	case 4:
		return sliceErr{g.text(), "b"}
	case 5:
		return dataErr{Code: 7, Err: io.EOF}
	case 6:
		return &dataErr{Code: 7, Err: stringErr("inner"), ch: make(chan int)}
	case 7:
		return &url.Error{Op: "Get", URL: g.text(), Err: context.Canceled}
	case 8:
		return context.DeadlineExceeded
	case 9:
		return jsonErr{g.text()}
	case 10:
		return mapErr{g.text(): 1}
	}
	if g.chance(10) {
		return badErr{}
	}
	return io.EOF
}

// as returns v with each nested value converted by data.
func as(v any, data func(map[string]any) any) any {
	switch v := v.(type) {
	case nested:
		if v == nil {
			return data(nil)
		}
		return data(each(v, data))
	case map[string]any:
		if v == nil || isLoop(v) {
			return v
		}
		return each(v, data)
	case []any:
		if v == nil || len(v) == 1 && isList(v[0]) {
			return v
		}
		list := make([]any, len(v))
		for i := range v {
			list[i] = as(v[i], data)
		}
		return list
	}
	return v
}

func each(m map[string]any, data func(map[string]any) any) map[string]any {
	made := make(map[string]any, len(m))
	for k, v := range m {
		made[k] = as(v, data)
	}
	return made
}

func isLoop(m map[string]any) bool { _, ok := m["self"].(map[string]any); return ok }
func isList(v any) bool            { _, ok := v.([]any); return ok }
