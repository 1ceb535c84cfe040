package yamlfile_test

import (
	"strings"
	"testing"

	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"
	"github.com/google/go-cmp/cmp"

	"github.com/weirhq/weir/internal/yamlfile"
)

func TestReformatWritesTheUsualForm(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"indentation", "a:\n    b: 1\n    c:\n    - x\n    -   y: 1\n        z: 2\n",
			"a:\n  b: 1\n  c:\n    - x\n    - y: 1\n      z: 2\n"},
		{"brackets", "a: {b : 1,c: [ x,y, ] , }\n", "a: {b: 1, c: [x, y]}\n"},
		{"brackets over several lines", "a: {\n  b: 1,\n  c: 2\n}\n", "a: {b: 1, c: 2}\n"},
		{"a long collection", "a: {b: " + strings.Repeat("x", 60) + ", c: [" + strings.Repeat("y", 60) + "]}\n",
			"a:\n  b: " + strings.Repeat("x", 60) + "\n  c: [" + strings.Repeat("y", 60) + "]\n"},
		{"the longest line", "- [" + strings.Repeat("x", 116) + "]\n", "- [" + strings.Repeat("x", 116) + "]\n"},
		{"one column more", "- [" + strings.Repeat("x", 117) + "]\n", "- - " + strings.Repeat("x", 117) + "\n"},
		{"empty lines", "\n\n# first\n\n\na:\n\n  b: 1\n\n\n  c: 2\n\n\nd: 3\n\n\n", "# first\n\na:\n  b: 1\n\n  c: 2\n\nd: 3\n"},
		{"comments on lines", "a: 1     #x\n#y\nb: # z\n      # w\n   c: 2\n", "a: 1 #x\n#y\nb: # z\n  # w\n  c: 2\n"},
		{"comments at the end", "a:\n    b: 1\n    # of b\n  # also\n# of c\nc: 2\n# of all\n",
			"a:\n  b: 1\n  # of b\n  # also\n# of c\nc: 2\n# of all\n"},
		{"line ends of Windows", "# one\r\na: 1\r\n# two\r\nb: |\r\n  x\r\n  y\r\n# three\r\n", "# one\na: 1\n# two\nb: |\n  x\n  y\n# three\n"},
		{"comments in brackets", "a: [ # in\n  x, # of x\n  y # of y\n  # last\n] # after\nb: [ # empty\n]\n",
			"a: # in\n  - x # of x\n  - y # of y\n  # last\n  # after\n# empty\nb: []\n"},
		{"comments before a value", "a:\n  # one\n  1 # two\n-: x\n", "# one\na: 1 # two\n-: x\n"},
		{"comments after a dash", "- # one\n  # two\n  a: 1\n-\n  # three\n  b: 2\n", "- # one\n  # two\n  a: 1\n# three\n- b: 2\n"},
		{"quotes", `a: ['x', "y z", 'it''s', "q\"q", "\t", '1', "off", 'true', "a: b", "1:30", "/{x}", '', 'None', "0s"]` + "\n",
			`a: [x, y z, "it's", 'q"q', "\t", "1", "off", "true", "a: b", "1:30", "/{x}", "", "None", "0s"]` + "\n"},
		{"quotes in a line", "a: '/{x}'\nb: 'http://c:1'\n'd': \"- e\"\n'404': f\n\"g:h\": i\n",
			"a: /{x}\nb: http://c:1\nd: \"- e\"\n\"404\": f\n\"g:h\": i\n"},
		{"a quoted text for a shell", `a: ["b", 'c "$d"']` + "\n", `a: [b, 'c "$d"']` + "\n"},
		{"a URL in brackets", "a: [http://b:1, \"http://b:2\"]\n", "a: [http://b:1, \"http://b:2\"]\n"},
		{"block scalars", "a: |   # one\n      x\n        y\n\n      z\n\n\nb: >-\n   x\n   y\nc: |+\n  x\n\nd: 1\n",
			"a: | # one\n  x\n    y\n\n  z\n\nb: >-\n  x\n  y\nc: |+\n  x\n\nd: 1\n"},
		{"a block scalar with a digit", "a: |2\n    x\n  y\n", "a: \"  x\\ny\\n\"\n"},
		{"an empty block scalar", "a: |\nb: 1\n", "a: \"\"\nb: 1\n"},
		{"a text of several lines", "a: x\n  y # z\n", "a: x y # z\n"},
		{"a long text of several lines", "a: " + strings.Repeat("x", 60) + "\n  " + strings.Repeat("y", 60) + "\n  z\n",
			"a: >-\n  " + strings.Repeat("x", 60) + "\n  " + strings.Repeat("y", 57) + "yyy z\n"},
		{"values that are missing", "a:\nb: # x\nc: ~\nd: [null, {e}]\n", "a:\nb: # x\nc: ~\nd: [null, {e: null}]\n"},
		{"other line ends", "\ufeffa: 1\r\n\r\nb: 2 # c\r\n", "a: 1\n\nb: 2 # c\n"},
		{"the beginning of a document", "# a\n---\nb: 1\n", "# a\nb: 1\n"},
		{"only comments", "\n# a\n\n\n# b", "# a\n\n# b\n"},
		{"nothing", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := yamlfile.Reformat("f", "a test", []byte(c.src))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if again, _ := yamlfile.Reformat("f", "a test", got); string(again) != string(got) {
				t.Errorf("the second time:\n%s", again)
			}
		})
	}
}

func TestReformatReportsMistakesOfSyntax(t *testing.T) {
	_, err := yamlfile.Reformat("weir.yaml", "a test", []byte("a: 1\nb: [\n"))
	if err == nil || !strings.HasPrefix(err.Error(), "weir.yaml:2:") {
		t.Errorf("got %v", err)
	}
}

// FuzzReformat checks that a new layout has the same values and the same comments in the same order, and stays as it is
// when it is formatted again.
func FuzzReformat(f *testing.F) {
	for _, src := range []string{"a: [b, # c\n {d: e}] # f\n", "- # a\n  # b\n  - c: |+\n      d\n\n  # e\n# f\n",
		"a: {b: 'c', \"d\": e f}\n\n# g\nh: >-\n i\n\n  j\nk: l\n  m\n", "# a\n\n- {b: http://c:1}\n-\n- ~\n"} {
		f.Add([]byte(src))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		file, root := yamlfile.Read("f", "a test", src)
		if file.Err() != nil {
			return
		}
		got, err := yamlfile.Reformat("f", "a test", src)
		if err != nil {
			t.Fatalf("%v\nof\n%s", err, src)
		}
		after, same := yamlfile.Read("f", "a test", got)
		if err := after.Err(); err != nil {
			t.Fatalf("%v\nof\n%s", err, got)
		}
		var before, now any
		if root != nil && same != nil {
			before, now = root.Value(), same.Value()
		}
		if diff := cmp.Diff(before, now); diff != "" {
			t.Errorf("(-want +got):\n%s\nof\n%s", diff, got)
		}
		if diff := cmp.Diff(comments(file.Source()), comments(got)); diff != "" {
			t.Errorf("comments (-want +got):\n%s\nof\n%s", diff, got)
		}
		if again, err := yamlfile.Reformat("f", "a test", got); err != nil || string(again) != string(got) {
			t.Errorf("the second time: %v\n%s\ninstead of\n%s", err, again, got)
		}
	})
}

// comments returns the comments of a file.
func comments(src []byte) (all []string) {
	for _, tk := range lexer.Tokenize(string(src)) {
		if tk.Type == token.CommentType {
			all = append(all, strings.TrimSpace(tk.Value))
		}
	}
	return all
}
