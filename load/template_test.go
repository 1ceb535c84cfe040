package load

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// texts returns what a template yields for the first n requests, in a place.
func texts(t *testing.T, text string, where place, n int) []string {
	t.Helper()
	parsed, err := parseTemplate(text)
	if err == nil {
		err = new(lineFiles).resolve(parsed, where)
	}
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for seq := range uint64(n) {
		r := requestRandom(1, seq)
		out = append(out, string(parsed.append(nil, seq, seq, &r)))
	}
	return out
}

func writeFile(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestTemplateText(t *testing.T) {
	for text, want := range map[string][]string{
		"":                         {"", ""},
		"plain }} { } {a}":         {"plain }} { } {a}"},
		"{{seq}}":                  {"0", "1", "2"},
		"a{{seq}}b{{ seq }}c":      {"a0b0c", "a1b1c"},
		"{{\tseq\t}}":              {"0"},
		`{{"{{"}}seq}}`:            {"{{seq}}"},
		`{{"}}"}}`:                 {"}}"},
		`{{"\"\u00e9\n"}}`:         {"\"é\n"},
		"{{rand 7 7}}":             {"7", "7"},
		"{{rand -3 -3}}":           {"-3"},
		escapeTemplate("{{a}}"):    {"{{a}}"},
		escapeTemplate("{{{{{ }}"): {"{{{{{ }}"},
	} {
		if got := texts(t, text, inBody, len(want)); !slices.Equal(got, want) {
			t.Errorf("%s yields %q, want %q", text, got, want)
		}
	}
}

func TestTemplateRandom(t *testing.T) {
	seen := map[string]int{}
	for _, s := range texts(t, "{{rand -1 2}}", inBody, 4000) {
		seen[s]++
	}
	for _, s := range []string{"-1", "0", "1", "2"} {
		// A binomial count of 4000 with p = 1/4 has a deviation of 27.
		if n := seen[s]; n < 850 || n > 1150 {
			t.Errorf("{{rand -1 2}} was %s %d times of 4000", s, n)
		}
	}
	if len(seen) != 4 {
		t.Errorf("{{rand -1 2}} yields %v", seen)
	}
	least, most := strconv.Itoa(math.MinInt64), strconv.Itoa(math.MaxInt64)
	for _, s := range texts(t, "{{rand "+least+" "+most+"}}", inBody, 100) {
		if _, err := strconv.ParseInt(s, 10, 64); err != nil {
			t.Error(err)
		}
	}
	if got := texts(t, "{{rand "+most+" "+most+"}}", inBody, 1)[0]; got != most {
		t.Errorf("the largest number is %s, want %s", got, most)
	}
}

func TestBelow(t *testing.T) {
	for _, c := range []struct{ n, span, want uint64 }{
		{0, 5, 0}, {math.MaxUint64, 5, 4}, {math.MaxUint64, 1, 0}, {17, 0, 17}, {1 << 63, 10, 5},
	} {
		if got := below(c.n, c.span); got != c.want {
			t.Errorf("below(%d, %d) = %d, want %d", c.n, c.span, got, c.want)
		}
	}
}

func TestTemplateUUID(t *testing.T) {
	version4 := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	seen := map[string]bool{}
	for _, s := range texts(t, "{{uuid}} {{uuid}}", inBody, 2000) {
		for _, id := range strings.Fields(s) {
			if !version4.MatchString(id) || seen[id] {
				t.Fatalf("%s is no UUID of version 4, or came before", id)
			}
			seen[id] = true
		}
	}
	if again := texts(t, "{{uuid}} {{uuid}}", inBody, 1)[0]; !seen[again[:36]] || !seen[again[37:]] {
		t.Errorf("the same seed makes another UUID: %s", again)
	}
	if got := string(appendUUID(nil, 0x0123456789abcdef, 0xf123456789abcdef)); got != "01234567-89ab-4def-b123-456789abcdef" {
		t.Errorf("the bytes are written as %s", got)
	}
}

func TestTemplateNow(t *testing.T) {
	before := time.Now().UnixMilli()
	got, err := strconv.ParseInt(texts(t, "{{now}}", inBody, 1)[0], 10, 64)
	if after := time.Now().UnixMilli(); err != nil || got < before || got > after {
		t.Errorf("{{now}} is %d, %v; want %d to %d", got, err, before, after)
	}
}

func TestTemplateLines(t *testing.T) {
	users := writeFile(t, "users.txt", "anna\r\nböb & co/x\n\ncarl")
	for _, c := range []struct {
		where place
		want  []string
	}{
		{inBody, []string{"anna", "böb & co/x", "", "carl", "anna"}},
		{inHeader, []string{"anna", "böb & co/x", "", "carl", "anna"}},
		{inURL, []string{"anna", "b%C3%B6b%20%26%20co%2Fx", "", "carl", "anna"}},
	} {
		if got := texts(t, `{{line "`+users+`"}}`, c.where, 5); !slices.Equal(got, c.want) {
			t.Errorf("in place %d: %q, want %q", c.where, got, c.want)
		}
		if got := texts(t, `{{line `+users+`}}`, c.where, 5); !slices.Equal(got, c.want) {
			t.Errorf("without quotes, in place %d: %q, want %q", c.where, got, c.want)
		}
	}
	if got := texts(t, `{{line "`+writeFile(t, "one", "x\n")+`"}}`, inBody, 2); !slices.Equal(got, []string{"x", "x"}) {
		t.Errorf("one line yields %q", got)
	}
}

func TestTemplateLinesRefuse(t *testing.T) {
	empty := writeFile(t, "empty", "")
	odd := writeFile(t, "odd", "a\nb\x01c\n")
	target := func(where place, file string) Target {
		text := `x{{line "` + file + `"}}`
		switch where {
		case inHeader:
			return Target{URL: "http://a/", Header: []Header{{"X", text}}}
		case inURL:
			return Target{URL: "http://a/" + text}
		}
		return Target{URL: "http://a/", Body: Body{Text: text}}
	}
	for _, c := range []struct {
		target Target
		want   string
	}{
		{target(inBody, empty), "body column 2: " + empty + " is empty"},
		{target(inURL, empty), "URL column 11: " + empty + " is empty"},
		{target(inBody, "/no/such/file"), "/no/such/file: no such file"},
		{target(inHeader, odd), `header "X": column 2: ` + odd + `:2:2: the control character '\x01'`},
	} {
		if _, err := compile([]Target{c.target}, false, ""); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v\nwant %s", c.target, err, c.want)
		}
	}
	for _, where := range []place{inBody, inURL} { // there it does no harm
		if _, err := compile([]Target{target(where, odd)}, false, ""); err != nil {
			t.Error(err)
		}
	}
}

func TestTemplateRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"ab{{":                                "column 3: {{ begins a template, and no }} ends it",
		"{{seq":                               "column 1: {{ begins",
		"{{seq}":                              "column 1: {{ begins",
		"{{}}":                                "the template {{}}: it is empty",
		"ab {{usr}}":                          `column 4: the template {{usr}}: there is no "usr"; there are {{seq}}, {{uuid}}, {{rand 1 100}}, {{line "file"}} and {{now}}`,
		"{{Seq}}":                             `there is no "Seq"`,
		"{{seq 1}}":                           "seq takes 0 words, and has 1",
		"{{rand 1}}":                          "rand takes 2 words, and has 1",
		"{{rand 1 x}}":                        `"x" is no integer`,
		"{{rand 1.5 2}}":                      `"1.5" is no integer`,
		"{{rand 2 1}}":                        "2 is above 1",
		"{{line}}":                            "line takes 1 words, and has 0",
		`{{line "a}}`:                         "column 8: the quoted text of a template does not end",
		`{{"a" seq}}`:                         "quoted text stands alone",
		"{{rand 1 " + "9999999999999999999}}": "is no integer of 64 bits",
	} {
		if _, err := parseTemplate(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v\nwant %s", text, err, want)
		}
	}
}

// TestTemplateLinesAreShared has a file stand in all places of many targets.
func TestTemplateLinesAreShared(t *testing.T) {
	line := `{{line "` + writeFile(t, "lines", "a b\nc\n") + `"}}`
	target := Target{URL: "http://a/" + line, Header: []Header{{"X", line}}, Body: Body{Text: line}}
	p, err := compile([]Target{target, target}, false, "")
	if err != nil {
		t.Fatal(err)
	}
	lines := func(text template, i int) *[]byte { return &text[i].lines[0] }
	first, second := p.targets[0], p.targets[1]
	if lines(first.front, 1) != lines(second.front, 1) || lines(first.front, 3) != lines(second.body, 0) {
		t.Error("two targets have two copies of a file's lines")
	}
	if got := string(p.script(0, 1, 1).next().head); !strings.HasPrefix(got, "POST /a%20b ") || !strings.Contains(got, "X: a b\r\n") {
		t.Errorf("got %q", got)
	}
}

// TestTemplateAlloc checks that making a request takes no memory.
func TestTemplateAlloc(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	line := `{{line "` + writeFile(t, "lines", "a\nb\n") + `"}}`
	all := "{{seq}}{{uuid}}{{rand 1 100}}{{now}}" + line
	for name, target := range map[string]Target{
		"fixed":     {URL: "http://a/"},
		"URL":       {URL: "http://a/" + all},
		"header":    {URL: "http://a/", Header: []Header{{"X", all}}},
		"body":      {URL: "http://a/", Body: Body{Text: all}},
		"file":      {URL: "http://a/" + all, Body: Body{File: strings.NewReader("x"), Size: 1}},
		"all of it": {URL: "http://a/" + all, Header: []Header{{"X", all}}, Body: Body{Text: all}},
	} {
		p, err := compile([]Target{target}, false, "")
		if err != nil {
			t.Fatal(err)
		}
		s := p.script(0, 1, 1)
		for range 1000 { // the buffer grows with the number
			s.next()
		}
		if n := testing.AllocsPerRun(1000, func() { s.next() }); n != 0 {
			t.Errorf("%s: %v allocations a request, want 0", name, n)
		}
	}
}

func BenchmarkMessage(b *testing.B) {
	for _, c := range []struct{ name, path string }{
		{"fixed", ""}, {"text", `{{"x"}}{{seq}}`}, {"seq", "{{seq}}{{seq}}{{seq}}{{seq}}{{seq}}{{seq}}{{seq}}{{seq}}{{seq}}{{seq}}"},
		{"rand", strings.Repeat("{{rand 1 100}}", 10)}, {"uuid", strings.Repeat("{{uuid}}", 10)}, {"now", strings.Repeat("{{now}}", 10)},
	} {
		b.Run(c.name, func(b *testing.B) {
			p, err := compile([]Target{{URL: "http://a/" + c.path}}, false, "")
			if err != nil {
				b.Fatal(err)
			}
			s := p.script(0, 1, 1)
			b.ReportAllocs()
			for b.Loop() {
				s.next()
			}
		})
	}
}
