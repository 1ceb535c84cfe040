package target_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirhq/weir/internal/testkit"
	"github.com/weirhq/weir/load/target"
)

func TestCommandsOfCurlAreRead(t *testing.T) {
	form := target.Header{Name: "Content-Type", Value: "application/x-www-form-urlencoded"}
	file := testkit.TempFile(t, "data", "a {{b}}\r\nc\n")
	for _, c := range []struct {
		name, text string
		want       []target.Target
	}{
		{"Chromium", `curl 'http://a.example/x?q=\[1\]' \
  -X 'PUT' \
  -H 'accept: */*' \
  -H 'x-empty;' \
  -b 'a=b; c=d' \
  -H 'content-length: 9' -H 'connection: keep-alive' \
  --data-raw $'{"it\'s":"\u0021\n"}' \
  --compressed ;
curl 'http://a.example/' -H 'accept-encoding: gzip' --insecure --compressed &
`, []target.Target{
			{Method: "PUT", URL: "http://a.example/x?q=[1]", Header: []target.Header{{Name: "accept", Value: "*/*"}, {Name: "x-empty"},
				{Name: "Cookie", Value: "a=b; c=d"}, {Name: "Accept-Encoding", Value: "deflate, gzip, br, zstd"}, form},
				Body: target.Body{Text: "{\"it's\":\"!\n\"}"}},
			{URL: "http://a.example/", Header: []target.Header{{Name: "accept-encoding", Value: "gzip"}}},
		}},
		{"Firefox", "# saved\r\ncurl 'http://a.example/' --compressed -X POST -H 'User-Agent: Mozilla/5.0' -A other --data-raw $'\\xc3\\xa4 \\ud83d\\ude00'",
			[]target.Target{{Method: "POST", URL: "http://a.example/", Header: []target.Header{{Name: "User-Agent", Value: "Mozilla/5.0"},
				{Name: "Accept-Encoding", Value: "deflate, gzip, br, zstd"}, form}, Body: target.Body{Text: "ä 😀"}}}},
		{"by hand", "curl -sSLXPATCH -u me:pw a.example -d a=1 -d'b=2' -b x=1 --cookie y=2 -H 'Accept:' # comment\n" +
			`curl "http://a.example/\"$%20a" -I` + "\n\ncurl -G --data-urlencode 'n=ä {{seq}}&' --data-urlencode =x http://a.example/?z",
			[]target.Target{
				{Method: "PATCH", URL: "http://a.example", Header: []target.Header{{Name: "Cookie", Value: "x=1; y=2"},
					{Name: "Authorization", Value: "Basic bWU6cHc="}, form}, Body: target.Body{Text: "a=1&b=2"}},
				{Method: "HEAD", URL: "http://a.example/\"$%20a"},
				{URL: "http://a.example/?z&n=%C3%A4%20{{seq}}%26&x"},
			}},
		{"files and JSON", "curl http://a.example/ -d @" + file + "\ncurl http://a.example/ --data-binary @" + file +
			"\ncurl --json '{' --json '}' http://a.example/ -H 'Accept: text/plain'",
			[]target.Target{
				{Method: "POST", URL: "http://a.example/", Header: []target.Header{form}, Body: target.Body{Text: `a {{"{{"}}b}}c`}},
				{Method: "POST", URL: "http://a.example/", Header: []target.Header{form}, Body: target.Body{Text: "a {{\"{{\"}}b}}\r\nc\n"}},
				{Method: "POST", URL: "http://a.example/", Header: []target.Header{{Name: "Accept", Value: "text/plain"},
					{Name: "Content-Type", Value: "application/json"}}, Body: target.Body{Text: "{}"}},
			}},
	} {
		if diff := cmp.Diff(c.want, readTargets(t, c.text)); diff != "" {
			t.Errorf("%s: want - got +\n%s", c.name, diff)
		}
	}
	list, err := target.Read(strings.NewReader("curl https://a.example -k"), "curl.txt", nil)
	if err != nil || !list.Insecure {
		t.Errorf("-k: %+v, %v", list, err)
	}
}

func TestMistakesInCommandsOfCurlAreNamed(t *testing.T) {
	for text, want := range map[string]string{
		"curl http://a --limit-rate 3":      "t:1:15: the option --limit-rate of curl is not known here; leave it out if the request does not need it",
		"curl http://a --data-row x":        "t:1:15: the option --data-row of curl is not known here; it may be --data-raw",
		"curl http://a -sZ":                 "t:1:15: the option -Z of curl is not known here; leave it out",
		"curl http://a -F a=b":              "t:1:15: the option -F of curl is not known here; weir load -F sends a form",
		"curl http://a \\\n  -H":            "t:2:3: -H has no value",
		"curl http://a -H x":                `t:1:15: -H: "x" is not a header; write Name: value`,
		"curl http://a -H 'b c: d'":         "t:1:1: header \"b c\": this is not the name of a header",
		"curl http://a -b jar.txt":          `t:1:15: -b: "jar.txt" is a file of cookies; write name=value`,
		"curl http://a -u me":               "t:1:15: -u: there is no password; write user:password",
		"curl http://a -d @none":            "t:1:15: -d: open none: no such file",
		"curl http://a http://b":            `t:1:15: "http://b" is a second URL; write a command for each`,
		"curl -s":                           "t:1:1: the command has no URL",
		"curl http://a\nwget http://b":      `t:2:1: "wget" is not a command of curl`,
		"curl 'http://a":                    "t:1:6: the quotes do not end",
		"curl \"http://a":                   "t:1:6: the quotes do not end",
		"curl $'http://a":                   "t:1:6: the quotes do not end",
		"curl $'\\q'":                       `t:1:8: the escape "\\q" is not known`,
		"curl $'\\x'":                       `t:1:8: the escape "\\x" is not known`,
		"curl http://a/$HOME":               `t:1:15: '$' is for a shell; put the word in single quotes`,
		"curl \"http://a/${HOME}\"":         `t:1:16: '$' is for a shell`,
		"curl http://a | cat":               `t:1:15: '|' is for a shell`,
		"curl ^\"http://a^\" ^\n  -H ^\"a^": "t:1:6: this is a command of Windows; copy the request as cURL (bash)",
		"curl ftp://a/":                     "t:1:1: URL",
	} {
		_, err := target.Read(strings.NewReader(text), "t", nil)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

// FuzzShellWords quotes two words in each way, and reads them again. If bash is installed, its words are the same.
func FuzzShellWords(f *testing.F) {
	for style := range byte(4) {
		f.Add("a=b", `it's "x" \ $y`, style)
		f.Add("", "\n\t\r#;&|", style)
		f.Add("ä😀", "\\x41\x7f\xff", style)
	}
	bash, _ := exec.LookPath("bash")
	f.Fuzz(func(t *testing.T, one, two string, style byte) {
		one, two = strings.ReplaceAll(one, "\x00", ""), strings.ReplaceAll(two, "\x00", "")
		line := quoteWord(one, style) + " \\\n" + quoteWord(two, style+1)
		list, err := target.Read(strings.NewReader("curl http://a --data-raw "+strings.ReplaceAll(line, " \\\n", " --data-raw ")), "t", nil)
		if err != nil {
			if strings.Contains(one+two, "{{") {
				return // of a template
			}
			t.Fatalf("%q: %v", line, err)
		}
		if got := list.Targets[0].Body.Text; got != one+"&"+two {
			t.Errorf("%q: got %q", line, got)
		}
		if bash == "" || strings.Contains(one+two, "\r") { // as in a file of DOS
			return
		}
		out, err := exec.Command(bash, "-c", "printf '%s\\0%s' "+line).Output()
		if err != nil || string(out) != one+"\x00"+two {
			t.Errorf("%q: bash has %q, %v", line, out, err)
		}
	})
}

// quoteWord returns a word in one of the notations of a shell.
func quoteWord(word string, style byte) string {
	switch style % 4 {
	case 0:
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	case 1:
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(word) + `"`
	case 2:
		return "$'" + strings.NewReplacer(`\`, `\\`, "'", `\'`, "\n", `\n`, "\x7f", `\177`).Replace(word) + "'"
	}
	var b strings.Builder
	for i := range len(word) {
		switch c := word[i]; {
		case c == '\n':
			b.WriteString("'\n'")
		case c < 0x80:
			b.WriteString(`\` + word[i:i+1])
		default: // bash escapes a character, not a byte
			b.WriteByte(c)
		}
	}
	return b.String() + "''"
}
