package yamlfile_test

import (
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/mistaketest"
	"github.com/weirhq/weir/internal/yamlfile"
)

// Each source has the one mistake in its syntax of which the place and parts of the message and of the hint are wanted.
func TestSyntaxMistakesNameTheLineAndTheCorrection(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"a tab", "a:\n\tb: 1\n", "2:1 a tab indents line 2|only spaces"},
		{"a tab after spaces", "a:\n  b:\n  \tc: 1\n", "3:3 a tab indents line 3|only spaces"},
		{"a tab before the second key", "a:\n  - b: 1\n\tc: 2\n", "3:1 a tab indents line 3"},
		{"a tab before a comment", "a: 1\n\t# b\nc: 2\n", "2:1 a tab indents line 2"},
		{"a tab, with Windows line ends", "a:\r\n\tb: 1\r\n", "2:1 a tab indents line 2"},
		{"keys below a value", "a: 1\n  b: 2\n", "2:3 line 2 is indented as if it was in line 1|indent it by 0, as line 1"},
		{"keys below a value in quotes", "- a: \"1\"\n    b: 2\n", "2:5 in line 1, which has a value|indent it by 2"},
		{"a list below a value", "a: \":80\"\n  - \":81\"\n", "2:3 a list begins on line 2|as in [a, b]"},
		{"no blank after a colon", "a:1\nb: 2\n", `1:1 "a:1" is not a key with a value|write a: 1`},
		{"no blank before quotes", "a:\":80\"\nb: 2\n", `1:1 "a:\":80\"" is not a key|write a: ":80"`},
		{"no blank in a list", "a:\n  - b:/x\n    c: d\n", `2:5 "b:/x" is not a key|write b: /x`},
		{"no blank after the second key", "- b: /x\n  c:d\n", `2:3 "c:d" is not a key|write c: d`},
		{"no blank after a dash", "a:\n  -b: /x\n   c: d\n", `2:3 "-b: /x" has no blank after the dash|write - b: /x`},
		{"no colon", "watch\na: 1\n", `1:1 "watch" has no colon|as in watch: VALUE`},
		{"no colon before a value", "listen :80\na: 1\n", `1:1 "listen :80" is not a key|write listen: :80`},
		{"an equals sign", "listen = :80\na: 1\n", `1:1 "listen = :80" is not a key|write listen: :80`},
		{"an equals sign after a key", "a: 1\nwatch=true\n", `2:1 "watch=true"|write watch: true`},
		{"a directive of nginx", "listen 80;\na: 1\n", `1:1 "listen 80;" is not a key|write listen: 80`},
		{"a semicolon", "a: \":80\";\n", "1:9 the line ends in a semicolon|remove it"},
		{"double quotes", "a: \":80\nb: 2\n", `1:4 the quote is not closed|close it with "`},
		{"single quotes", "a: '/x\nb: 2\n", "1:4 the quote is not closed|close it with '"},
		{"quotes until the next ones", "a: \":80\nb: \"x\"\n", `1:4 the quote ends only on line 2|close it with "`},
		{"other quotes", "a: \":80'\nb: 2\n", "1:4 the quote is not closed"},
		{"text after quotes", "a: \"GET\" /x\n", `1:10 "/x" is after the end of the quotes|the whole value`},
		{"an open bracket", "a: [1, 2\nb: {c: [3]}\n", `1:4 the '[' is not closed|close it with ']'`},
		{"an open brace", "- {a: 1, b: 2\n- {a: 1, b: /{c}}\n", `1:3 the '{' is not closed`},
		{"another bracket", "a: [1}\nb: 2\n", `1:4 the '[' is closed by the '}' on line 1|close it with ']'`},
		{"a bracket too many", "a: [1]]\n", `1:7 the ']' closes no bracket|remove it`},
		{"no comma", "a: [\"1\" \"2\"]\n", `1:9 "2`},
		{"a brace in a value", "a: {b: /x/{id}, c: 1}\n", "1:11 put quotes around a value that contains a brace"},
		{"a value that begins with a brace", "a: {id}/y\n", `1:8 "/y" is after the end of the brackets|put quotes`},
		{"an item with too few blanks", "a:\n  - b: 1\n - b: 2\n", "3:2 line 3 is indented by 1, unlike the list|indent it by 2, as line 2"},
		{"an item with too many blanks", "a:\n  - b: 1\n    - b: 2\n", "3:5 line 3 is indented by 4, unlike the list|indent it by 2"},
		{"a key below a dash", "a:\n  - b: 1\n  c: 2\n", "3:3 line 3 is indented by 2, unlike the keys|indent it by 4, as line 2"},
		{"a key with too few blanks", "a:\n    b: 1\n   c: 2\n", "3:4 line 3 is indented by 3, unlike the keys|indent it by 4, as line 2"},
		{"a colon in a value", "a: GET: /x\n", `1:4 "GET: /x" contains a colon|put quotes`},
		{"a backslash", `a: "^\d+$"` + "\n", "1:7 put single quotes"},
		{"a host with an asterisk", "a: *:80\n", `1:4 aliases are not supported|put quotes around "*:80"`},
		{"a percent sign", "a: %x\n", "1:4 put quotes"},
		{"a comment of C", "// x\na: 1\n", `1:1 "// x" is not a comment|begins with #`},
		{"a Caddyfile", "{\n\temail a@b.c\n}\n\na.example {\n\trespond hi\n}\n", `5:1 "a.example {" begins a block`},
		{"a block of nginx", "a: 1\nserver {\n  listen: 80\n}\n", `2:1 "server {" begins a block|"server:"`},
		{"Latin-1", "# caf\xe9\na: 1\n", "1:6 0xe9 is not UTF-8|save the file as UTF-8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, _ := yamlfile.Read("f", "a test", []byte(c.src))
			if f.Err() == nil {
				t.Fatalf("%q has no mistake", c.src)
			}
			mistaketest.Want(t, f.Err(), []string{c.want})
		})
	}
}

// FuzzSyntaxMistakes checks that every source that is not YAML has a mistake at a place in the file.
func FuzzSyntaxMistakes(f *testing.F) {
	for _, src := range []string{"a: [", "a: \"", "{\n", "- -\n -", "a: |\n  [\n b: ]", "\t", "a:\r\n\tb", "a: 'b''c\n", "é: [\"ü\" 1", ": ]"} {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src string) {
		file, root := yamlfile.Read("f", "a test", []byte(src))
		if err := file.Err(); root == nil && err == nil && strings.Trim(src, " \r\n\ufeff") != "" {
			t.Skip("a comment")
		}
		lines := strings.Split(strings.TrimPrefix(src, "\ufeff"), "\n")
		for _, m := range file.Mistakes() {
			if m.Line < 1 || m.Line > len(lines) || m.Col < 1 || m.Col > len([]rune(lines[m.Line-1]))+1 {
				t.Errorf("%q: %v is outside of the file", src, m)
			}
		}
	})
}
