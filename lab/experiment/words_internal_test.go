package experiment

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSplitWordsFollowsQuotes(t *testing.T) {
	for _, c := range []struct {
		text   string
		want   []string
		offset int // of the mistake; -1 is none
	}{
		{"", nil, -1},
		{" a  b\tc\n", []string{"a", "b", "c"}, -1},
		{`a 'b c' "d e" f\ g`, []string{"a", "b c", "d e", "f g"}, -1},
		{`'' ""`, []string{"", ""}, -1},
		{`a''b"c"d`, []string{"abcd"}, -1},
		{`'\' "\"" "\x"`, []string{`\`, `"`, `\x`}, -1},
		{"a=${port} $HOME *", []string{"a=${port}", "$HOME", "*"}, -1},
		{"a#b", []string{"a#b"}, -1},
		{"a 'b", nil, 2},
		{`a "b\"`, nil, 2},
		{`a b\`, nil, 3},
		{"a | b", nil, 2},
		{"a b>c", nil, 3},
		{"a # b", nil, 2},
		{"é `b`", nil, 3},
	} {
		got, refused := splitWords(c.text)
		offset := -1
		if refused != nil {
			offset = refused.Offset
		}
		if !cmp.Equal(got, c.want) || offset != c.offset {
			t.Errorf("splitWords(%q) = %q, wrong at %d, want %q, %d", c.text, got, offset, c.want, c.offset)
		}
	}
}

// FuzzSplitWords compares with a shell.
func FuzzSplitWords(f *testing.F) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		f.Skip("there is no shell to compare with")
	}
	for _, text := range []string{"a b", `'a b' "c\"d" e\ f`, `"\\ \x" ''`, "a''b # c", `\'"\$"`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		// Texts that a shell expands, or whose meaning is more than
		// words, cannot be compared.
		if strings.ContainsAny(text, "$`*?[]~!{}=\x00\r\n") || len(text) > 100 {
			return
		}
		words, refused := splitWords(text)
		if refused != nil {
			return
		}
		out, err := exec.Command(sh, "-c", `for w in `+text+`; do printf '%s\0' "$w"; done`).Output()
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		var want strings.Builder
		for _, word := range words {
			want.WriteString(word + "\x00")
		}
		if string(out) != want.String() {
			t.Errorf("splitWords(%q) = %q, and a shell says %q", text, words, out)
		}
	})
}
