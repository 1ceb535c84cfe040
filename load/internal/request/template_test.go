package request

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/testkit"
	"github.com/weirhq/weir/load/internal/random"
)

// texts returns the texts of a template for the first n requests.
func texts(t *testing.T, text string, where place, n int) []string {
	t.Helper()
	parsed, err := ParseTemplate(text)
	if err == nil {
		err = new(LineFiles).resolve(parsed, where)
	}
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for seq := range uint64(n) {
		r := random.New(1, seq)
		out = append(out, string(parsed.Append(nil, seq, seq, &r, nil)))
	}
	return out
}

func TestTemplatesAreFilledIn(t *testing.T) {
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
		EscapeTemplate("{{a}}"):    {"{{a}}"},
		EscapeTemplate("{{{{{ }}"): {"{{{{{ }}"},
	} {
		if got := texts(t, text, inBody, len(want)); !slices.Equal(got, want) {
			t.Errorf("%s yields %q, want %q", text, got, want)
		}
	}
}

func TestRandomNumbersAreEven(t *testing.T) {
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

func TestUUIDsFollowTheSeed(t *testing.T) {
	version4 := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	seen := map[string]bool{}
	for _, s := range texts(t, "{{uuid}} {{uuid}}", inBody, 2000) {
		for _, id := range strings.Fields(s) {
			if !version4.MatchString(id) || seen[id] {
				t.Fatalf("%s is not a UUID of version 4, or came before", id)
			}
			seen[id] = true
		}
	}
	if again := texts(t, "{{uuid}} {{uuid}}", inBody, 1)[0]; !seen[again[:36]] || !seen[again[37:]] {
		t.Errorf("the same seed makes another UUID: %s", again)
	}
}

func TestNowIsTheCurrentTime(t *testing.T) {
	before := time.Now().UnixMilli()
	got, err := strconv.ParseInt(texts(t, "{{now}}", inBody, 1)[0], 10, 64)
	if after := time.Now().UnixMilli(); err != nil || got < before || got > after {
		t.Errorf("{{now}} is %d, %v; want %d to %d", got, err, before, after)
	}
}

func TestLinesAreUsedInTurn(t *testing.T) {
	users := testkit.TempFile(t, "users.txt", "anna\r\nböb & co/x\n\ncarl")
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
	if got := texts(t, `{{line "`+testkit.TempFile(t, "one", "x\n")+`"}}`, inBody, 2); !slices.Equal(got, []string{"x", "x"}) {
		t.Errorf("one line yields %q", got)
	}
}

func TestBadTemplatesAreRejected(t *testing.T) {
	for text, want := range map[string]string{
		"ab{{":                                "column 3: {{ begins a template that no }} ends",
		"{{seq":                               "column 1: {{ begins",
		"{{seq}":                              "column 1: {{ begins",
		"{{}}":                                "the template {{}}: it is empty",
		"ab {{usr}}":                          `column 4: the template {{usr}}: there is no "usr"; there are {{seq}}, {{uuid}}, {{rand 1 100}}, {{line "file"}} and {{now}}`,
		"{{Seq}}":                             `there is no "Seq"`,
		"{{seq 1}}":                           "seq takes 0 words, and has 1",
		"{{rand 1}}":                          "rand takes 2 words, and has 1",
		"{{rand 1 x}}":                        `"x" is not an integer`,
		"{{rand 1.5 2}}":                      `"1.5" is not an integer`,
		"{{rand 2 1}}":                        "2 is above 1",
		"{{line}}":                            "line takes 1 words, and has 0",
		`{{line "a}}`:                         "column 8: the quoted text of a template does not end",
		`{{"a" seq}}`:                         "a quoted text takes no words",
		"{{rand 1 " + "9999999999999999999}}": "is not an integer of 64 bits",
	} {
		if _, err := ParseTemplate(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v\nwant %s", text, err, want)
		}
	}
}

// TestTemplateLinesAreShared checks that templates share the lines of a file.
func TestTemplateLinesAreShared(t *testing.T) {
	line := `{{line "` + testkit.TempFile(t, "lines", "a b\nc\n") + `"}}`
	var files LineFiles
	lines := func(where place) *[]byte {
		template, err := ParseTemplate(line)
		if err == nil {
			err = files.resolve(template, where)
		}
		if err != nil {
			t.Fatal(err)
		}
		return &template[0].lines[0]
	}
	first := lines(inURL)
	if lines(inURL) != first || lines(inHeader) != lines(inBody) {
		t.Error("two templates have two copies of a file's lines")
	}
}
