package ltsv_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/weirhq/weir/log/internal/ltsv"
)

func TestAppendValueEscapesControls(t *testing.T) {
	for _, c := range []struct{ value, want string }{
		{"", ""},
		{"plain text: with \"quotes\"", "plain text: with \"quotes\""},
		{"a\\b\tc\nd\re", `a\\b\tc\nd\re`},
		{"\x00\b\f\x1b[31m\x7f", `\u0000\u0008\u000c\u001b[31m\u007f`},
		{"\u0085\u2028\u202e\u2069\u061c", `\u0085\u2028\u202e\u2069\u061c`},
		{"日本語 \U0001F600 \u00a0", "日本語 \U0001F600 \u00a0"},
		{"a\xff\xc0b\xe6\x97", "a\uFFFD\uFFFDb\uFFFD\uFFFD"},
		{"\uFFFD", "\uFFFD"},
	} {
		if got := string(ltsv.AppendValue([]byte("x:"), c.value)); got != "x:"+c.want {
			t.Errorf("value %q: got %q want %q", c.value, got, "x:"+c.want)
		}
	}
}

func TestAppendLabelReplacesOtherBytes(t *testing.T) {
	for _, c := range []struct{ prefix, key, want string }{
		{"", "rows", "rows"},
		{"user.", "name", "user.name"},
		{"", "a b:c\td\"é", "a_b_c_d___"},
		{"", "", "_"},
		{"a.", "", "a."},
		{"", "status", "data.status"},
		{"", "err", "data.err"},
		{"identity", "_type", "data.identity_type"},
		{"status.", "code", "status.code"},
		{"", "data.status", "data.status"},
		{"", "Time", "Time"},
	} {
		if got := string(ltsv.AppendLabel([]byte("x"), c.prefix, c.key)); got != "x"+c.want {
			t.Errorf("label %q+%q: got %q want %q", c.prefix, c.key, got, "x"+c.want)
		}
	}
}

// TestPutLabelEqualsAppendLabel compares PutLabel with AppendLabel, its plain equivalent.
func TestPutLabelEqualsAppendLabel(t *testing.T) {
	keys := []string{"", "rows", "status", "err", "_type", "Time", "a b", "é", "a.b-c_d", strings.Repeat("long", 99)}
	for c := range 256 {
		keys = append(keys, string([]byte{'a', byte(c)}), string([]byte{byte(c), 'z', 'z', '9', '0', 'A', 'Z', '-', '.'}))
	}
	for _, prefix := range []string{"", "user.", "a b.c.", ".", "identity"} {
		for _, key := range keys {
			got := []byte("x")
			ltsv.PutLabel(&got, []byte(prefix), key)
			want := string(ltsv.AppendLabel([]byte("x\t"), prefix, key)) + ":"
			if string(got) != want {
				t.Errorf("label %q+%q: got %q want %q", prefix, key, got, want)
			}
		}
	}
}

func TestAppendJSONFlattensObjects(t *testing.T) {
	for _, c := range []struct{ key, json, want string }{
		{"n", "1.50e3", "n:1.50e3"},
		{"n", "null", "n:null"},
		{"n", "true", "n:true"},
		{"s", `"a\"b\\c\u00e9\ud83d\ude00\/\t"`, `s:a"b\\cé😀/\t`},
		{"s", `"\u202e\u007f\ufffd\ud800"`, `s:\u202e\u007f` + "\uFFFD\uFFFD"},
		{"status", `"x"`, "data.status:x"},
		{"user", `{"name":"x","id":{"n":1,"of":[1,"a\tb"]}}`, "user.name:x\tuser.id.n:1\tuser.id.of:" + `[1,"a\\tb"]`},
		{"user", `{}`, "user:{}"},
		{"status", `{}`, "data.status:{}"},
		{"status", `{"a":{},"b":[]}`, "status.a:{}\tstatus.b:[]"},
		{"", `{"":{"":1}}`, "..:1"},
		{"", `1`, "_:1"},
		{"a b", `{"c d":1,"c d":2}`, "a_b.c_d:1\ta_b.c_d:2"},
	} {
		want := "x:1\t" + c.want
		if got := string(ltsv.AppendJSON([]byte("x:1"), c.key, []byte(c.json))); got != want {
			t.Errorf("%q:%s: got %q want %q", c.key, c.json, got, want)
		}
		if got := string(ltsv.AppendJSON([]byte("x:1"), c.key, c.json)); got != want {
			t.Errorf("%q:%s as a string: got %q want %q", c.key, c.json, got, want)
		}
	}
}

func TestAppendFieldsPrefixesReservedKeys(t *testing.T) {
	for _, c := range []struct{ json, want string }{
		{`{}`, ""},
		{`{"rows":3,"status":"x","a":{"b":1}}`, "\trows:3\tdata.status:x\ta.b:1"},
	} {
		if got := string(ltsv.AppendFields(nil, []byte(c.json))); got != c.want {
			t.Errorf("%s: got %q want %q", c.json, got, c.want)
		}
	}
}

// TestLongPrefixIsNotRepeated appends an object whose keys are too long to be repeated.
func TestLongPrefixIsNotRepeated(t *testing.T) {
	key := strings.Repeat("k", 129)
	got := string(ltsv.AppendJSON(nil, key, `{"a":1,"b":{"c":"d\\e"}}`))
	if want := "\t" + key + `:{"a":1,"b":{"c":"d\\\\e"}}`; got != want {
		t.Errorf("got %q want %q", got, want)
	}
	got = string(ltsv.AppendJSON(nil, key[1:], `{"a":1}`))
	if want := "\t" + key[1:] + `.a:1`; got != want {
		t.Errorf("got %q want %q", got, want)
	}
}

func TestAppendInstantWritesSixDecimals(t *testing.T) {
	for _, c := range []struct{ instant, want string }{
		{"2026-11-21T09:30:15Z", "2026-11-21T09:30:15.000000Z"},
		{"2026-11-21T09:30:15.1Z", "2026-11-21T09:30:15.100000Z"},
		{"2026-11-21T09:30:15.999999999Z", "2026-11-21T09:30:15.999999Z"},
		{"!ERROR: year outside of 0 to 9999", "!ERROR: year outside of 0 to 9999"},
		{"Z", "Z"},
		{"a\tb", `a\tb`},
		{"", ""},
	} {
		if got := string(ltsv.AppendInstant(nil, c.instant)); got != c.want {
			t.Errorf("%q: got %q want %q", c.instant, got, c.want)
		}
	}
}

func TestAppendSecondsWritesSixDecimals(t *testing.T) {
	for _, c := range []struct {
		d    time.Duration
		want string
	}{
		{0, "0.000000"},
		{5308999, "0.005308"},
		{999, "0.000000"},
		{time.Minute + 1500*time.Millisecond, "61.500000"},
		{-1500 * time.Millisecond, "-1.500000"},
		{math.MaxInt64, "9223372036.854775"},
		{math.MinInt64, "-9223372036.854775"},
	} {
		if got := string(ltsv.AppendSeconds(nil, c.d)); got != c.want {
			t.Errorf("%d ns: got %q want %q", c.d, got, c.want)
		}
	}
}

func TestAppendingAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	dst := make([]byte, 0, 4096)
	object := []byte(`{"rows":3,"user":{"name":"a longer name, plain, of more than thirty-two bytes"},"list":[1,2` +
		`,"a text in a list, of some length"],"e":` +
		`{"f":"\"a longer name, with quotes, of more than thirty-two bytes\""}}`)
	for name, f := range map[string]func(){
		"AppendFields": func() { dst = ltsv.AppendFields(dst[:0], object) },
		"AppendValue":  func() { dst = ltsv.AppendValue(dst[:0], "日本語\x7f and a lot more text than would fit") },
		"AppendLabel":  func() { dst = ltsv.AppendLabel(dst[:0], "user.", "a key with spaces") },
	} {
		if got := testing.AllocsPerRun(100, f); got != 0 {
			t.Errorf("%s: got %v allocations want 0", name, got)
		}
	}
}

func FuzzAppendValue(f *testing.F) {
	for _, seed := range []string{"", "plain", "\\t\t\n\r\\", "\x00\u2028\xff\U0001F600"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		got := string(ltsv.AppendValue(nil, value))
		if raw := rawControl(got); raw != "" {
			t.Errorf("%q became %q, which has %s", value, got, raw)
		}
		// The decoded value must be the same as that of JSON.
		if back, want := unescape(t, got), string([]rune(value)); back != want {
			t.Errorf("%q became %q, which reads %q", value, got, back)
		}
	})
}

// FuzzAppendJSON compares with a flattener of the values that encoding/json
// decodes, which have no order.
func FuzzAppendJSON(f *testing.F) {
	for _, seed := range []string{`{"a":1,"b":{"c":[],"d":{}}}`, `["\u2028",{"a":null}]`, `"x"`,
		`{"status":true,"":""}`, ` [ 1 , 2 ] `, `"`, `{"a`} {
		f.Add("key", seed)
	}
	f.Fuzz(func(t *testing.T, key, document string) {
		ltsv.AppendJSON(nil, key, document) // also if it is not JSON
		if !json.Valid([]byte(document)) || !utf8.ValidString(document) {
			t.Skip()
		}
		var compact, value = compacted(t, document), any(nil)
		dec := json.NewDecoder(strings.NewReader(compact))
		dec.UseNumber()
		if err := dec.Decode(&value); err != nil || hasDuplicates(compact) || len(document) > 500 {
			t.Skip()
		}
		got := string(ltsv.AppendJSON(nil, key, compact))
		want := plainFlatten(nil, key, value)
		pairs := strings.Split(strings.TrimPrefix(got, "\t"), "\t")
		if raw := rawControl(strings.ReplaceAll(got, "\t", "")); raw != "" {
			t.Errorf("%q has %s", got, raw)
		}
		for i, pair := range pairs {
			label, text, _ := strings.Cut(pair, ":")
			if strings.HasPrefix(text, "[") {
				text = "[" // the order of the keys inside is unknown
			}
			pairs[i] = label + ":" + text
		}
		slices.Sort(pairs)
		slices.Sort(want)
		if !slices.Equal(pairs, want) {
			t.Errorf("%q:%s:\ngot  %q\nwant %q", key, document, pairs, want)
		}
	})
}

func plainFlatten(pairs []string, path string, value any) []string {
	label := string(ltsv.AppendLabel(nil, "", path))
	switch v := value.(type) {
	case map[string]any:
		for key, member := range v {
			pairs = plainFlatten(pairs, path+"."+key, member)
		}
		if len(v) > 0 {
			return pairs
		}
		return append(pairs, label+":{}")
	case []any:
		return append(pairs, label+":[")
	case string:
		text := string(ltsv.AppendValue(nil, v))
		if strings.HasPrefix(text, "[") {
			text = "["
		}
		return append(pairs, label+":"+text)
	case nil:
		return append(pairs, label+":null")
	default:
		return append(pairs, label+":"+fmt.Sprint(v))
	}
}

func compacted(t *testing.T, document string) string {
	t.Helper()
	b, err := json.Marshal(json.RawMessage(document))
	if err != nil {
		t.Skip(err)
	}
	return string(b)
}

// hasDuplicates reports whether decoding would lose members.
func hasDuplicates(document string) bool {
	dec := json.NewDecoder(strings.NewReader(document))
	dec.UseNumber()
	tokens, kept := 0, 0
	for {
		if _, err := dec.Token(); err != nil {
			break
		}
		tokens++
	}
	var value any
	json.Unmarshal([]byte(document), &value)
	b, _ := json.Marshal(value)
	for dec = json.NewDecoder(strings.NewReader(string(b))); ; kept++ {
		if _, err := dec.Token(); err != nil {
			return tokens != kept
		}
	}
}

// unescape decodes a value in the simple way.
func unescape(t *testing.T, s string) string {
	t.Helper()
	var text string
	quoted := `"` + strings.ReplaceAll(s, `"`, `\"`) + `"`
	if err := json.Unmarshal([]byte(quoted), &text); err != nil {
		t.Fatalf("%q: %v", s, err)
	}
	return text
}

// rawControl returns the first character of a value that must not be in it
// unescaped, or "".
func rawControl(s string) string {
	if !utf8.ValidString(s) {
		return "invalid UTF-8"
	}
	const forbidden = "\u061C\u200E\u200F\u2028\u2029\u202A\u202B\u202C\u202D\u202E\u2066\u2067\u2068\u2069"
	for i, c := range s {
		if c < ' ' || c > '~' && c < '\u00A0' || strings.ContainsRune(forbidden, c) {
			return fmt.Sprintf("%U at %d", c, i)
		}
	}
	return ""
}
