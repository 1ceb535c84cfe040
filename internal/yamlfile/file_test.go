package yamlfile_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"github.com/weirhq/weir/internal/yamlfile"
)

func TestReadMakesATree(t *testing.T) {
	for _, c := range []struct {
		src  string
		want any
	}{
		{"a", "a"},
		{"null", nil},
		{"~", nil},
		{"''", ""},
		{"[]", []any{}},
		{"{}", yaml.MapSlice{}},
		{"[a, 'b c', 1, true, null]", []any{"a", "b c", "1", "true", nil}},
		{"b: 1\na: [x: y]\n", yaml.MapSlice{{Key: "b", Value: "1"},
			{Key: "a", Value: []any{yaml.MapSlice{{Key: "x", Value: "y"}}}}}},
		{"a: |\n  x\n  y\n", yaml.MapSlice{{Key: "a", Value: "x\ny\n"}}},
		{"a:\n- b\n- c: d\n", yaml.MapSlice{{Key: "a", Value: []any{"b", yaml.MapSlice{{Key: "c", Value: "d"}}}}}},
		{"[http://a:1, 12:30]", []any{"http://a:1", "12:30"}},
		{`["a": b]`, []any{yaml.MapSlice{{Key: "a", Value: "b"}}}},
		{"010", "010"},
		{"1e3", "1e3"},
	} {
		f, root := yamlfile.Read("f", "a test", []byte(c.src))
		if err := f.Err(); err != nil {
			t.Errorf("%q: %v", c.src, err)
			continue
		}
		if diff := cmp.Diff(c.want, root.Value()); diff != "" {
			t.Errorf("%q (-want +got):\n%s", c.src, diff)
		}
	}
}

func TestReadFindsEveryMistake(t *testing.T) {
	src := "a: &x 1\nb: *x\na: 2\n? c\n: 3\n<<: {d: 4}\ne: !!str 5\nf: [*y]\n---\ng: 6\n"
	f, _ := yamlfile.Read("f.yaml", "a test", []byte(src))
	want := []string{
		"f.yaml:1:4: anchors are not supported; write the value where it is used",
		"f.yaml:2:4: aliases are not supported; write the value again",
		`f.yaml:3:1: "a" is given twice, first on line 1; keep one of the two`,
		"f.yaml:4:1: this cannot be a key; write a plain word",
		"f.yaml:6:1: merge keys are not supported; write the keys here",
		`f.yaml:7:4: the tag "!!str" is not supported; remove it`,
		"f.yaml:8:5: aliases are not supported; write the value again",
		`f.yaml:9:1: a second document begins here, but a test is one document; remove it and the "---"`,
	}
	if diff := cmp.Diff(strings.Join(want, "\n"), fmt.Sprint(f.Err())); diff != "" {
		t.Errorf("mistakes (-want +got):\n%s", diff)
	}
}

func TestErrIsInTheFilesOrder(t *testing.T) {
	f, _ := yamlfile.Read("f", "a test", []byte("a: b\nc: d\n"))
	if err := f.Err(); err != nil {
		t.Fatalf("a file without mistakes has %v", err)
	}
	f.Mistakef(yamlfile.Pos{Line: 2, Col: 1}, "", "second")
	f.Mistakef(yamlfile.Pos{Line: 1, Col: 9}, "", "beyond the line's end")
	f.Mistakef(yamlfile.Pos{Line: 9, Col: 0}, "", "beyond the\x1b[31m file's end")
	want := "f:1:5: beyond the line's end\nf:2:1: second\nf:3:1: beyond the\ufffd[31m file's end"
	if got := fmt.Sprint(f.Err()); got != want {
		t.Errorf("mistakes:\n%s\nwant\n%s", got, want)
	}
	var first yamlfile.Mistake
	if !errors.As(f.Err(), &first) || first.What != "beyond the line's end" {
		t.Errorf("errors.As found %v", first)
	}
}

func TestExpandReplacesVariables(t *testing.T) {
	value := func(inside string) (string, *yamlfile.Refusal) {
		if strings.HasPrefix(inside, "no") {
			return "", yamlfile.Refuse("", "there is no %s", inside)
		}
		return "<" + inside + ">", nil
	}
	for _, c := range []struct {
		text, want string
		wrong      []int // offsets
	}{
		{"", "", nil},
		{"a${b}c", "a<b>c", nil},
		{"$${b}$", "${b}$", nil},
		{"${a{1}}${b", "<a{1}>", []int{7}},
		{"é${no}${nope}", "é", []int{2, 7}},
	} {
		got, refusals := yamlfile.Expand(c.text, value)
		var wrong []int
		for _, r := range refusals {
			wrong = append(wrong, r.Offset)
		}
		if got != c.want || !cmp.Equal(wrong, c.wrong) {
			t.Errorf("Expand(%q) = %q, wrong at %v, want %q, %v", c.text, got, wrong, c.want, c.wrong)
		}
	}
}

// TestFormattedTreeIsReadBack checks that Read parses the result of Format into the same tree, for any
// text.
func TestFormattedTreeIsReadBack(t *testing.T) {
	texts := []string{"a", "", "null", "~", "true", "010", "-1", "-", "a: b", "a #b", "#", "x\ny\n", "\ttab",
		`"q" \ 'r'`, "${port}", "{x}", "é\u2028\u0085\U0001f600\ufeff", "\x1b\x00", "a,b", "%x", "@x", "`x", "- x",
		"? x", "! x", "&x", "*x", "|", ">", "<<", " blank "}
	var list []any
	var mapping yaml.MapSlice
	for _, text := range texts {
		list = append(list, text, []any{text, nil}, yaml.MapSlice{{Key: text, Value: text}})
		mapping = append(mapping, yaml.MapItem{Key: text, Value: yaml.MapSlice{{Key: "in", Value: text},
			{Key: "list", Value: []any{text}}}})
	}
	for _, value := range []any{nil, "a b", []any{}, yaml.MapSlice{}, list, mapping,
		yaml.MapSlice{{Key: "a", Value: yaml.MapSlice{}}, {Key: "b", Value: nil}}} {
		written := yamlfile.Of(value).Format()
		f, root := yamlfile.Read("f", "a test", written)
		if err := f.Err(); err != nil {
			t.Errorf("%v\nof\n%s", err, written)
			continue
		}
		if diff := cmp.Diff(value, root.Value()); diff != "" {
			t.Errorf("(-want +got):\n%s\nof\n%s", diff, written)
		}
	}
}

// FuzzRead checks that nothing panics, that mistakes have positions within the file,
// and that a file is equal after writing and reading it again.
func FuzzRead(f *testing.F) {
	for _, src := range []string{"a: [b, {c: d}]\n", "a: |\n b\n", "- 'x'\n- \"\\x41\"\n", "{a: b:c, 'd': ~}",
		"a: >-\n  b\n\n  c\n", "k: 0x1F\nl: 1_000\nm: .inf\n"} {
		f.Add([]byte(src))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		file, root := yamlfile.Read("f", "a test", src)
		if file.Err() != nil {
			lines := strings.Split(string(src), "\n")
			for _, m := range file.Mistakes() {
				if m.Line < 1 || m.Line > len(lines) || m.Col < 1 || m.Col > 1+utf8.RuneCountInString(lines[m.Line-1]) {
					t.Errorf("%v stands outside of the file", m)
				}
			}
			return
		}
		if root == nil {
			return
		}
		written := root.Format()
		again, same := yamlfile.Read("f", "a test", written)
		if err := again.Err(); err != nil {
			t.Fatalf("%v\nof\n%s", err, written)
		}
		if diff := cmp.Diff(root.Value(), same.Value()); diff != "" {
			t.Errorf("(-want +got):\n%s\nof\n%s", diff, written)
		}
	})
}
