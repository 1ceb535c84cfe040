package redirects_test

import (
	"bytes"
	"encoding/csv"
	"errors"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/feature/redirects"
	"github.com/weirhq/weir/front/internal/configtest"
	"github.com/weirhq/weir/internal/mistaketest"
)

// withRedirects is a configuration with the file of redirects r.csv.
const withRedirects = "redirects: r.csv\nroutes: [{match: /, respond: {status: 200}}]\n"

func TestRedirectsAreReadFromFile(t *testing.T) {
	c, err := configtest.ParseBeside(t, withRedirects, "r.csv", "\ufefffrom,to,status\r\n"+
		"# moved in 2016\r\n"+
		"/a,/b\r\n"+
		"\r\n"+
		",,\r\n"+
		"/c/*, /d/* ,308\n"+
		`"/e,f","https://example.com/?q=""x""",301`+"\n"+
		"www.example.com/g,/h?,302\n"+
		"/i,/j,\n"+
		"/é,/ü x#ö")
	if err != nil {
		t.Fatal(err)
	}
	want := []redirects.Redirect{
		{From: "/a", To: "/b", Status: 307, Line: 3},
		{From: "/c/*", To: "/d/*", Status: 308, Line: 6},
		{From: "/e,f", To: `https://example.com/?q="x"`, Status: 301, Line: 7},
		{From: "www.example.com/g", To: "/h?", Status: 302, Line: 8},
		{From: "/i", To: "/j", Status: 307, Line: 9},
		{From: "/é", To: "/ü x#ö", Status: 307, Line: 10},
	}
	if diff := cmp.Diff(want, c.Redirects, cmpopts.IgnoreFields(redirects.Redirect{}, "File")); diff != "" {
		t.Errorf("redirects (-want +got):\n%s", diff)
	}
}

// Each case is a file of redirects and its mistakes: the position, then parts of the message.
func TestRedirectFileMistakesAreReported(t *testing.T) {
	for _, c := range []struct {
		name, lines string
		want        []string
	}{
		{"no comma", "/a\n", []string{"1:1 no comma|from,to"}},
		{"semicolons", "/a;/b\n/c;/d\n", []string{"1:1 no comma", "2:1 no comma"}},
		{"four fields", "/a,/b,301,x\n", []string{"1:11 4 fields|quotes"}},
		{"a header below", "/a,/b\nfrom,to\n", []string{`2:1 "from" has no path`}},
		{"not CSV", "/a,/b\n/é,\"/x\" y\n/c,/d,3\n", []string{`2:7 not CSV`, `3:7 "3"`}},
		{"a quote without end", "/a,/b\n/c,\"/x\n/d,/e\n", []string{`2:1 not CSV`}},
		{"not text", "/a,/\xff\n", []string{"1:5 0xff"}},
		{"no from", ",/b\n", []string{`1:1 "" has no path`}},
		{"no to", "/a,\n", []string{`1:4 "" is neither a path nor a URL`}},
		{"a status", "/a,/b,303\n", []string{`1:7 "303" is not a status|301, 302, 307 or 308`}},

		{"a from without a slash", "a,/b\n", []string{`1:1 "a" has no path`}},
		{"a from with a scheme", "https://a/b,/b\n", []string{`1:1 a scheme|leave https:// out`}},
		{"a from with a query", "/é?x=1,/b\n", []string{`1:3 query|%3F`}},
		{"a from with a fragment", "/a#b,/b\n", []string{`1:3 fragment|%23`}},
		{"a from with a blank", "/a b,/b\n", []string{`1:3 blank|%20`}},
		{"a from with a star", "/a*b,/b\n/a/*/b,/c\n/d*,/e\n", []string{`1:3 "*"|/old/*|%2A`, `2:4 "*"`, `3:3 "*"`}},
		{"a from with parameters", "/a/{id},/b\n/b/:id,/c\n", []string{`1:4 no parameters|%7B`, `2:4 no parameters|%3A`}},
		{"a from with dots", "/a/../b,/b\n", []string{`1:1 dot segment`}},
		{"a from with a bad escape", "/a%2,/b\n", []string{`1:1 bad escape`}},
		{"a from with empty segments", "/a//b,/b\n", []string{`1:4 never reaches a route`}},
		{"a from with a bad host", "a b/x,/b\n", []string{`1:1 `}},

		{"a to without a slash", "/a,b\n", []string{`1:4 "b" is neither`}},
		{"a to of another scheme", "/a,javascript:alert(1)\n/b,ftp://x/y\n", []string{`1:4 neither`, `2:4 neither`}},
		{"a to of another host", "/a,//evil.example/x\n", []string{`1:4 another host|https://evil.example/x`}},
		{"a to with a backslash", "/a,/\\evil\n/b,/%5Cevil\n", []string{`1:4 backslash`, `2:4 backslash`}},
		{"a to with a bad host", "/a,https://ü.example/\n/b,https:///x\n/c,https://u:hunter2@a/\n",
			[]string{`1:4 no valid host`, `2:4 no valid host`, `3:4 no valid host`}},
		{"a to with line breaks", "/a,\"/b\r\nSet-Cookie: x\"\n/b,\"/c\rd\"\n",
			[]string{`1:4 control character`, `3:4 control character`}},
		{"a to with a star", "/a/*,/b*\n/b/*,/b/*/c\n", []string{`1:8 "*"|%2A`, `2:9 "*"`}},
		{"a to with a star, a from without", "/a,/b/*\n", []string{`1:4 its from does not`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := configtest.ParseBeside(t, withRedirects, "r.csv", c.lines)
			var ms config.Mistakes
			if !errors.As(err, &ms) {
				t.Fatalf("the error is %v", err)
			}
			mistaketest.Want(t, ms, c.want)
			for _, m := range ms {
				if filepath.Base(m.File) != "r.csv" {
					t.Errorf("%v\nis not said of r.csv", m)
				}
			}
			if strings.Contains(ms.Error(), "hunter2") {
				t.Errorf("%v\nshows a password", ms)
			}
		})
	}
}

// FuzzParseFile checks that no input panics, that each mistake has a position in the file, and that lines stay the
// same when encoding/csv writes them and they are parsed again.
func FuzzParseFile(f *testing.F) {
	for _, lines := range []string{"/a,/b\n", "from,to,status\n/a/*,/b/*,301\n", "\"/a\",\"/b\"\"\"\n",
		"# x\n,,\n a/é , /b?x#y \n", "/a,/b\n/b,/a\n"} {
		f.Add(lines)
	}
	f.Fuzz(func(t *testing.T, lines string) {
		file := redirects.ParseFile("r.csv", []byte(lines))
		split := strings.Split(lines, "\n")
		for _, m := range file.Mistakes() {
			if m.Line < 1 || m.Line > len(split) || m.Col < 1 || m.Col > 1+utf8.RuneCountInString(split[m.Line-1]) {
				t.Errorf("%v\nstands outside of the file", m)
			}
		}
		var again bytes.Buffer
		w := csv.NewWriter(&again)
		for _, l := range file.Lines {
			if strings.HasPrefix(l.From, "#") {
				return // the Writer does not quote it, so that it would begin a comment
			}
			w.Write([]string{l.From, l.To, strconv.Itoa(l.Status)})
		}
		w.Flush()
		same := redirects.ParseFile("r.csv", again.Bytes())
		if len(same.Mistakes()) != 0 || len(same.Lines) != len(file.Lines) {
			t.Fatalf("%q became %q with the mistakes %v", lines, again.String(), same.Mistakes())
		}
		for i, l := range file.Lines {
			want := l.Redirect
			want.Line = same.Lines[i].Line
			if got := same.Lines[i].Redirect; got != want {
				t.Errorf("%q was read as %v, which, written again, is %v", lines, want, got)
			}
		}
	})
}
