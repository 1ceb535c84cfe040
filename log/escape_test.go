package log_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/weirhq/weir/log"
)

// rawControl returns the first character of a line that must not be in it
// unescaped, or "". It does not use the rules of the encoder.
func rawControl(line string) string {
	body, ok := strings.CutSuffix(line, "\n")
	if !ok {
		return "no newline at the end"
	}
	if !utf8.ValidString(body) {
		return "invalid UTF-8"
	}
	const forbidden = "\u061C\u200E\u200F\u2028\u2029\u202A\u202B\u202C\u202D\u202E\u2066\u2067\u2068\u2069"
	for i, c := range body {
		if c < ' ' || c > '~' && c < '\u00A0' || strings.ContainsRune(forbidden, c) {
			return fmt.Sprintf("%U at %d", c, i)
		}
	}
	return ""
}

// asParsed returns s as a JSON parser decodes it: each byte of invalid UTF-8
// becomes U+FFFD.
func asParsed(s string) string { return string([]rune(s)) }

// TestEveryCodePointIsEncoded logs a field for each code point, some hundreds in a line.
func TestEveryCodePointIsEncoded(t *testing.T) {
	var w lineWriter
	logger := log.New(&w, log.Options{MaxEventBytes: 1 << 20})
	stride := rune(sized(61, 1)) // for code points without special treatment
	var texts []string
	for c := rune(0); c <= utf8.MaxRune; c++ {
		switch {
		case c >= 0xD800 && c < 0xE000: // surrogates are not valid in UTF-8
			continue
		case c >= 0x3000 && c%stride != 0:
			continue
		}
		if texts = append(texts, string(c)); len(texts) == 0x400 {
			checkFields(t, &w, logger.Info("event"), texts)
			texts = nil
		}
	}
	checkFields(t, &w, logger.Info("event"), texts)
}

func checkFields(t *testing.T, w *lineWriter, e log.Event, texts []string) {
	t.Helper()
	w.lines = nil
	for _, text := range texts {
		e.Str(text, text)
	}
	e.Send()
	if raw := rawControl(w.lines[0]); raw != "" {
		t.Errorf("from %+q on: %s", texts[0], raw)
	}
	data := dataOf(t, w.lines[0])
	for _, text := range texts {
		if data[text] != text {
			t.Errorf("%+q: decoded as %+q", text, data[text])
		}
	}
}

// TestEveryByteIsEncodedEverywhere tries each byte at each offset of texts of each
// length, because the encoder processes eight bytes at once.
func TestEveryByteIsEncodedEverywhere(t *testing.T) {
	lengths := sized([]int{1, 5, 8, 9, 17}, []int{1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 17})
	for _, length := range lengths {
		for at := range length {
			for b := range 256 {
				text := []byte(strings.Repeat("a", length))
				text[at] = byte(b)
				checkText(t, string(text))
			}
		}
	}
}

// additional has the escapes that encoding/json does not use.
var additional = strings.NewReplacer(func() (pairs []string) {
	for _, c := range "\u007F\u061C\u200E\u200F\u202A\u202B\u202C\u202D\u202E\u2066\u2067\u2068\u2069" {
		pairs = append(pairs, string(c), fmt.Sprintf(`\u%04x`, c))
	}
	for c := rune(0x80); c <= 0x9F; c++ {
		pairs = append(pairs, string(c), fmt.Sprintf(`\u%04x`, c))
	}
	return pairs
}()...)

// checkText compares text, as key and as value, with the output of
// encoding/json.
func checkText(t *testing.T, text string) {
	t.Helper()
	options := log.Options{Namespace: "test", MaxEventBytes: 1 << 20}
	line := lineWith(t, options, func(e log.Event) log.Event {
		return e.Str(text, text).Any("any", []string{text}).TraceID(text + "x").Err(fmt.Errorf("%s", text))
	})
	quoted := additional.Replace(plainJSON(t, text))
	inner := quoted[1 : len(quoted)-1]
	want := prefix + `,"trace_id":"` + inner + `x","severity":3,"data":{` + quoted + ":" + quoted + `,"any":[` +
		quoted + `]},` +
		`"errors":[{"message":` + quoted + `}]}` + "\n"
	if line != want {
		t.Fatalf("%q:\ngot  %swant %s", text, line, want)
	}
	if raw := rawControl(line); raw != "" {
		t.Fatalf("%q: %s in %q", text, raw, line)
	}
	if got, ok := dataOf(t, line)[asParsed(text)]; text != "any" && (!ok || got != asParsed(text)) {
		t.Fatalf("%q: decoded as %q", text, got)
	}
}

func FuzzText(f *testing.F) {
	for _, seed := range []string{"", "plain", "\x00\x1f\"\\\b\f\n\r\t\x7f",
		"\u0080\u009f\u00a0\u061c\u200e\u2028\u202e\u2069", "\xff\xc0\x80\xed\xa0\x80", "日本語 \U0001F600", "</script>&",
		"1234567\"", "12345678\x7f"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1000 {
			t.Skip("cut, which is another test")
		}
		checkText(t, text)
	})
}

func FuzzFloat(f *testing.F) {
	for _, seed := range []float64{0, 1, -1, 1e-6, 9.99e-7, 1e21, 9.99e20, 1e-9, 5e-324, 1.7976931348623157e308, 0.1} {
		f.Add(seed, float32(seed))
	}
	f.Fuzz(func(t *testing.T, wide float64, narrow float32) {
		if wide-wide != 0 || narrow-narrow != 0 {
			t.Skip("encoding/json has no form for NaN and the infinities")
		}
		line := lineOf(t, func(e log.Event) log.Event { return e.Float64("w", wide).Float32("n", narrow) })
		want := fmt.Sprintf(`"data":{"w":%s,"n":%s}`, plainJSON(t, wide), plainJSON(t, narrow))
		if !strings.Contains(line, want) {
			t.Errorf("got %s want %s", line, want)
		}
	})
}

// FuzzNesting adds any JSON document value by value, with Object, Array and the
// methods for scalars, and compares the line with those of Any and
// encoding/json.
func FuzzNesting(f *testing.F) {
	for _, seed := range []string{`{}`, `[[[]]]`, `{"a":{"b":[1,"x",null,true,{"c":1.5e-9}]},"":""}`, `"\u2028\u007f"`,
		`[{},{"{":"["}]`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, document string) {
		var value any
		if len(document) > 1000 || json.Unmarshal([]byte(document), &value) != nil {
			t.Skip()
		}
		want := `"data":{"v":` + additional.Replace(plainJSON(t, value)) + "}}\n"
		byHand := lineOf(t, func(e log.Event) log.Event { addValue(e, "v", value); return e })
		byAny := lineOf(t, func(e log.Event) log.Event { return e.Any("v", value) })
		raw := lineOf(t, func(e log.Event) log.Event { return e.Any("v", json.RawMessage(document)) })
		if !strings.HasSuffix(byAny, want) {
			t.Errorf("Any: got %s want %s", byAny, want)
		}
		if !strings.HasSuffix(byHand, want) && depthOf(value) < 90 {
			t.Errorf("by hand: got %s want %s", byHand, want)
		}
		if control := rawControl(raw); control != "" {
			t.Errorf("RawMessage: %s in %q", control, raw)
		}
	})
}

// addValue adds a value decoded by encoding/json, with objects in the order of
// their keys.
func addValue(e log.Event, key string, value any) {
	switch v := value.(type) {
	case map[string]any:
		e.Object(key, func(e log.Event) {
			for _, k := range sortedKeys(v) {
				addValue(e, k, v[k])
			}
		})
	case []any:
		e.Array(key, func(e log.Event) {
			for _, one := range v {
				addValue(e, "", one)
			}
		})
	case string:
		e.Str(key, v)
	case float64:
		e.Float64(key, v)
	case bool:
		e.Bool(key, v)
	default:
		e.Any(key, v)
	}
}

func depthOf(value any) int {
	deepest := 0
	switch v := value.(type) {
	case map[string]any:
		for _, one := range v {
			deepest = max(deepest, depthOf(one))
		}
	case []any:
		for _, one := range v {
			deepest = max(deepest, depthOf(one))
		}
	default:
		return 0
	}
	return deepest + 1
}
