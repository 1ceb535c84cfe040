package log_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/log"
)

type panicking struct{ with any }

func (p panicking) MarshalLog(e log.Event) error {
	e.Str("half", "written").Object("open", func(e log.Event) { e.Int("n", 1); panic(p.with) })
	panic(p.with)
}
func (p panicking) String() string               { panic(p.with) }
func (p panicking) Error() string                { panic(p.with) }
func (p panicking) MarshalJSON() ([]byte, error) { panic(p.with) }

// Each of these has a method that panics.
type (
	badString struct{ fmt.Stringer }
	badError  struct{ error }
	badJSON   struct{ json.Marshaler }
)

type failing struct{}

func (failing) MarshalLog(e log.Event) error {
	e.Str("half", "written")
	return errors.New("not today")
}

type itself struct{}

func (i itself) MarshalLog(e log.Event) error { e.Any("i", i); return nil }

type ring struct{ Next *ring }

func TestAnyEncodesValues(t *testing.T) {
	loop := &ring{}
	loop.Next = loop
	for name, c := range map[string]struct {
		value any
		want  string
	}{
		"nil":              {nil, `null`},
		"string":           {"a\x7f", `"a\u007f"`},
		"named string":     {log.IdentityUser, `"user"`},
		"int":              {1, `1`},
		"int64":            {int64(math.MinInt64), `-9223372036854775808`},
		"uint64":           {uint64(math.MaxUint64), `18446744073709551615`},
		"uint8":            {uint8(7), `7`},
		"float32":          {float32(0.1), `0.1`},
		"float64":          {1e21, `1e+21`},
		"not a number":     {math.NaN(), `"NaN"`},
		"not one inside":   {[]float64{math.NaN()}, `"!ERROR: json: unsupported value: NaN"`},
		"bool":             {true, `true`},
		"duration":         {time.Second, `1000000000`},
		"time":             {instant, `"2026-11-21T02:06:14.123456Z"`},
		"bytes":            {[]byte("hi"), `"aGk="`},
		"error":            {errors.New("e\u202e"), `"e\u202e"`},
		"text marshaler":   {netip.MustParseAddr("::1"), `"::1"`},
		"struct":           {struct{ A, B string }{"<&>", "\u0085"}, `{"A":"<&>","B":"\u0085"}`},
		"raw message":      {json.RawMessage("{ \"a\" : \"\xff\u009b\" }"), `{"a":"\ufffd\u009b"}`},
		"marshaler":        {&point{1, 2}, `{"x":1,"y":2}`},
		"panic":            {panicking{"why"}, `"!ERROR: panic: why"`},
		"panic of a panic": {panicking{panicking{"why"}}, `"!ERROR: panic: %!v(PANIC=Error method: why)"`},
		"failing":          {failing{}, `"!ERROR: not today"`},
		"panicking error":  {badError{panicking{"why"}}, `"!ERROR: panic: why"`},
		"nil inside error": {badError{}, `"!ERROR: panic: runtime error: invalid memory address or nil pointer ` +
			`dereference"`},
		"panicking json": {badJSON{panicking{"why"}}, `"!ERROR: panic: why"`},
		"nil marshaler": {(*point)(nil), `"!ERROR: panic: runtime error: invalid memory address or nil pointer ` +
			`dereference"`},
		"channel": {make(chan int), `"!ERROR: json: unsupported type: chan int"`},
	} {
		t.Run(name, func(t *testing.T) {
			line := lineOf(t, func(e log.Event) log.Event {
				return e.Int("before", 1).Any("v", c.value).Int("after", 2)
			})
			want := prefix + `,"severity":3,"data":{"before":1,"v":` + c.want + `,"after":2}}` + "\n"
			if line != want {
				t.Errorf("got  %swant %s", line, want)
			}
		})
	}
	for name, cycle := range map[string]any{"pointers": loop, "marshalers": itself{}} {
		line := lineOf(t, func(e log.Event) log.Event { return e.Any("v", cycle).Int("after", 2) })
		if !strings.Contains(line, "!ERROR: ") || dataOf(t, line)["after"] != 2.0 {
			t.Errorf("a cycle of %s: got %s", name, line)
		}
	}
}

// Types of the basic kinds, without and with a method that encoding/json calls.
type (
	namedString  string
	namedBool    bool
	namedInt8    int8
	namedInt64   int64
	namedUint16  uint16
	namedUintptr uintptr
	namedFloat   float64
	namedFloat32 float32
	namedText    int
	namedJSON    string
)

func (n namedText) MarshalText() ([]byte, error) { return []byte(strings.Repeat("i", int(n))), nil }
func (n namedJSON) MarshalJSON() ([]byte, error) { return []byte(`{"n":"` + n + `"}`), nil }

// basicValues are values of the basic kinds.
var basicValues = []any{
	nil, true, false, namedBool(true), "text", "", namedString("<a>\t\u0085\u202e\xff\"日本語"), namedString(""),
	int8(-128), int16(-1), int32(7), uint(1), uint8(255), uint16(2), uint32(math.MaxUint32), uintptr(5),
	namedInt8(-8), namedInt64(math.MinInt64), namedUint16(16), namedUintptr(9), time.Sunday, time.Hour,
	float32(0.1), namedFloat32(0.1), namedFloat32(1e21), namedFloat(0.1), namedFloat(1e-7), namedFloat(123456.75),
	math.Copysign(0, -1), namedFloat(math.Copysign(0, -1)), json.Number("1e3"), namedText(3), namedJSON("x"),
	log.LevelWarn,
}

// TestAnyEncodesLikeEncodingJSON compares the output of Any with that of encoding/json.
func TestAnyEncodesLikeEncodingJSON(t *testing.T) {
	for _, value := range basicValues {
		got := lineOf(t, func(e log.Event) log.Event { return e.Any("v", value) })
		want := prefix + `,"severity":3,"data":{"v":` + additional.Replace(plainJSON(t, value)) + "}}\n"
		if got != want {
			t.Errorf("%T %v:\n got  %s want %s", value, value, got, want)
		}
		got = lineWith(t, log.Options{Format: log.FormatLTSV}, func(e log.Event) log.Event {
			return e.Object("o", func(e log.Event) { e.Any("v", value) })
		})
		want = "\to.v:"
		if _, isJSON := value.(namedJSON); isJSON {
			want = "\to.v.n:"
		}
		if all := pairsOf(t, got); !strings.Contains(got, want) || all[len(all)-1].value != basicLTSV(t, value) {
			t.Errorf("%T %v: got %s", value, value, got)
		}
	}
	for _, value := range []any{namedFloat(math.NaN()), namedFloat32(math.Inf(1))} {
		line := lineOf(t, func(e log.Event) log.Event { return e.Any("v", value) })
		if !strings.Contains(line, `"v":"!ERROR: json: unsupported value: `) {
			t.Errorf("%T: got %s", value, line)
		}
	}
	secret := lineWith(t, log.Options{Redact: []string{"v"}},
		func(e log.Event) log.Event { return e.Any("v", nil).Any("V", namedString("x")) })
	if want := `"data":{"v":"[redacted]","V":"[redacted]"}`; !strings.Contains(secret, want) {
		t.Errorf("got %s want %s", secret, want)
	}
}

// basicLTSV returns the unescaped value that LTSV has for a value of
// basicValues.
func basicLTSV(t *testing.T, value any) string {
	if _, isJSON := value.(namedJSON); isJSON {
		return "x"
	}
	js := additional.Replace(plainJSON(t, value))
	var s string
	if json.Unmarshal([]byte(js), &s) == nil && js[0] == '"' {
		return s
	}
	return js
}

func TestCallersCodeCannotBreakTheLine(t *testing.T) {
	boom := func(log.Event) { panic("boom") }
	for name, c := range map[string]struct {
		add  func(log.Event) log.Event
		want string
	}{
		"stringer": {func(e log.Event) log.Event { return e.Stringer("v", badString{panicking{"why"}}) },
			`"v":"!ERROR: panic: why"`},
		"nil stringer": {func(e log.Event) log.Event { return e.Stringer("v", nil) },
			`"v":"!ERROR: panic: runtime error: invalid memory address or nil pointer dereference"`},
		"nil pointer": {func(e log.Event) log.Event { return e.Stringer("v", (*time.Location)(nil)) }, `"v":"UTC"`},
		"object":      {func(e log.Event) log.Event { return e.Object("v", boom) }, `"v":"!ERROR: panic: boom"`},
		"array":       {func(e log.Event) log.Event { return e.Array("v", boom) }, `"v":"!ERROR: panic: boom"`},
		"nil function": {func(e log.Event) log.Event { return e.Object("v", nil) },
			`"v":"!ERROR: panic: runtime error: invalid memory address or nil pointer dereference"`},
		"in the depth": {func(e log.Event) log.Event {
			return e.Object("v", func(e log.Event) {
				e.Array("a", func(e log.Event) { e.Int("", 1).Object("", boom).Int("", 2) }).Int("n", 3)
			})
		}, `"v":{"a":[1,"!ERROR: panic: boom",2],"n":3}`},
		"a trace id from inside, then a panic": {func(e log.Event) log.Event {
			outer := e
			return e.Object("v", func(log.Event) { outer.TraceID("t"); panic("boom") })
		}, `"v":"!ERROR: panic: boom"`},
	} {
		t.Run(name, func(t *testing.T) {
			line := lineOf(t, func(e log.Event) log.Event { return c.add(e).Int("after", 1) })
			want := prefix + `,"severity":3,"data":{` + c.want + `,"after":1}}` + "\n"
			if line != want {
				t.Errorf("got  %swant %s", line, want)
			}
		})
	}
}

// A relative is part of a cycle with two paths.
type relative struct{ parent, child *relative }

func (r *relative) MarshalLog(e log.Event) error {
	e.Any("parent", r.parent).Any("child", r.child)
	return nil
}

func TestCycleWithTwoWaysEnds(t *testing.T) {
	r := new(relative)
	r.parent, r.child = r, r
	for _, format := range []log.Format{log.FormatJSON, log.FormatLTSV} {
		line := lineWith(t, log.Options{Format: format},
			func(e log.Event) log.Event { return e.Any("r", r).Int("after", 1) })
		if !strings.Contains(line, "!ERROR: nested too deeply") || len(line) > 16<<10 {
			t.Errorf("%s: got %d bytes, %.400s", format, len(line), line)
		}
	}
}

func TestManyObjectsThatFitAreKept(t *testing.T) {
	const n = 500
	line := lineWith(t, log.Options{MaxEventBytes: 4 * n}, func(e log.Event) log.Event {
		return e.Array("a", func(e log.Event) {
			for range n {
				e.Object("", func(log.Event) {})
			}
		})
	})
	if got := strings.Count(line, "{}"); got != n {
		t.Errorf("got %d objects want %d: %.400s", got, n, line)
	}
}
