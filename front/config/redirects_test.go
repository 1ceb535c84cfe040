package config_test

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/internal/mistaketest"
)

// withRedirects is a configuration with the file of redirects r.csv.
const withRedirects = "redirects: r.csv\n" + smallest

// parseRedirects parses a configuration with a file of redirects.
func parseRedirects(t testing.TB, yaml, lines string) (*config.Config, error) {
	t.Helper()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "r.csv"), []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	return config.Parse(filepath.Join(folder, "weir.yaml"), []byte(yaml), nil)
}

func TestParseRedirects(t *testing.T) {
	c, err := parseRedirects(t, withRedirects, "\ufefffrom,to,status\r\n"+
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
	want := []config.Redirect{
		{From: "/a", To: "/b", Status: 307},
		{From: "/c/*", To: "/d/*", Status: 308},
		{From: "/e,f", To: `https://example.com/?q="x"`, Status: 301},
		{From: "www.example.com/g", To: "/h?", Status: 302},
		{From: "/i", To: "/j", Status: 307},
		{From: "/é", To: "/ü x#ö", Status: 307},
	}
	if diff := cmp.Diff(want, c.Redirects, compareNetworks); diff != "" {
		t.Errorf("redirects (-want +got):\n%s", diff)
	}
}

// Each case is a file of redirects and its mistakes: the position, then parts
// of the message. The configuration has the routes "/taken", "GET /get/{x...}",
// "/{id}/page" and "/{path...}".
func TestParseRedirectsMistakes(t *testing.T) {
	const yaml = `redirects: r.csv
upstreams: {a: {servers: http://a}}
routes:
  - {to: a, match: /taken}
  - {to: a, match: "GET /get/{x...}"}
  - {to: a, match: "/{id}/page"}
  - {to: a, match: "/{path...}"}
`
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

		{"twice", "/a,/b\n/x,/y\n/a,/c\n", []string{`3:1 "/a" is given twice, first on line 1`}},
		{"twice, as the same line", "/a,/b\n/a,/b\n", []string{`2:1 given twice`}},
		{"twice, escaped", "/ü,/b\n/%c3%bc,/c\n", []string{`2:1 "/%c3%bc" is the same as "/ü" on line 1`}},
		{"a prefix twice", "/a/*,/b\n/a/*,/c\n", []string{`2:1 "/a/*" is given twice`}},
		{"shadowed by a route", "/b,/c\n/taken,/b2\n",
			[]string{`2:1 "/taken" is shadowed by the route "/taken" on line 4 of`}},
		{"a prefix shadowed by a route", "/*,/b\n", []string{`1:1 "/*" is shadowed by the route "/{path...}" on line 7`}},
		{"shadowed for GET", "/get/*,/b/*\n", []string{`1:1 "/get/*" is shadowed by the route "GET /get/{x...}" on line 5`}},

		{"a chain", "/a,/b\n/b,/c\n/c,/d?x=1\n",
			[]string{`1:4 "/b" is redirected again on line 2|write /d?x=1`,
				`2:4 "/c" is redirected again on line 3|write /d?x=1`}},
		{"a chain with a query and a fragment", "/a,/b?x=1#y\n/b,https://example.com\n",
			[]string{`1:4 again on line 2|write https://example.com`}},
		{"a chain of escapes", "/a,/ü\n/%C3%BC,/c\n", []string{`1:4 again on line 2`}},
		{"a chain of prefixes", "/a/*,/b/*\n/b/*,/c/*\n", []string{`1:6 "/b/*" is redirected again on line 2|write /c/*`}},
		{"a chain to one address", "/a/*,/b/x\n/b/*,/c\n", []string{`1:6 again on line 2|write /c`}},
		{"a chain that leaves a prefix again", "/b/*,/c/*\n/c/*,/b/z\n/b/z,/d\n",
			[]string{`1:6 again on line 2|write /d`, `2:6 again on line 3|write /d`}},
		{"a chain on a host", "a.example/x,/y\na.example/y,/z\nb.example/y,/y2\n", []string{`1:13 again on line 2|write /z`}},

		{"a loop of one", "/a,/a\n", []string{`1:4 loop: /a -> /a`}},
		{"a loop with a query", "/a,/a?x=1\n", []string{`1:4 loop: /a -> /a`}},
		{"a loop of two", "/a,/b\n/b,/a\n", []string{`1:4 loop: /a -> /b -> /a`, `2:4 loop: /b -> /a -> /b`}},
		{"into a loop", "/z,/a\n/a,/b\n/b,/a\n", []string{`1:4 "/z" leads into a loop`, `2:4 loop`, `3:4 loop`}},
		{"a loop of a prefix", "/a/*,/a/b\n", []string{`1:6 loop: /a/* -> /a/b -> /a/b`}},
		{"a loop of prefixes", "/a/*,/b/*\n/b/*,/a/*\n", []string{`1:6 loop: /a/* -> /b/* -> /a/*`, `2:6 loop`}},
		{"a loop that grows", "/a/*,/a/b/*\n", []string{`1:6 more than 20 redirects: /a/* -> /a/b/* -> /a/b/b/*`}},
		{"a loop of a prefix and a path", "/a/*,/b/*\n/b/x,/a/x\n", []string{`2:6 loop: /b/x -> /a/x -> /b/x`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := parseRedirects(t, yaml, c.lines)
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

func TestParseRedirectsAccepts(t *testing.T) {
	const yaml = `redirects: r.csv
upstreams: {a: {servers: http://a}}
routes:
  - {to: a, match: "/a/{id}"}
  - {to: a, match: "/a/index.html"}
  - {to: a, match: "h.example/{path...}"}
`
	for name, lines := range map[string]string{
		"nothing":                                "",
		"a header and nothing":                   "from,to\n",
		"the end of a prefix that a route takes": "/a/*,/a/index.html\n",
		"a path and the paths below":             "/b,/x\n/b/,/y\n/b/*,/z\n",
		"a prefix within a prefix":               "/b/*,/x/*\n/b/c/*,/y/*\n",
		"escaped characters":                     "/%2A,/x\n/b%3Fc,/y\n/%7Bid%7D,/z\n/%3Aid,/w\n/a:b,/v\n",
		"the same path of a host":                "h.example/b,/x\n/b,/y\nm\u00fcnchen.example/b,/z\n",
		"another host":                           "/b,https://example.com/b\n",
		"a prefix to the root":                   "/old/*,/*\n",
	} {
		if _, err := parseRedirects(t, yaml, lines); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The path is relative to the folder of the configuration. Only a regular file
// is read.
func TestParseRedirectsFile(t *testing.T) {
	folder := t.TempDir()
	for _, c := range []struct{ name, want string }{
		{"r.csv", `1:12 "` + folder + `/r.csv"|no such file|relative to the folder`},
		{"/no/such/r.csv", `1:12 "/no/such/r.csv"|no such file`},
		{".", `1:12 not a regular file`},
		{"/dev/zero", `1:12 not a regular file`},
	} {
		src := fmt.Sprintf("redirects: %s\n%s", c.name, smallest)
		_, err := config.Parse(filepath.Join(folder, "weir.yaml"), []byte(src), nil)
		var ms config.Mistakes
		if !errors.As(err, &ms) {
			t.Fatalf("%s: the error is %v", c.name, err)
		}
		mistaketest.Want(t, ms, []string{c.want})
	}
}

// The mistakes of both files are reported together, first those of the
// configuration.
func TestParseRedirectsReportsBothFiles(t *testing.T) {
	_, err := parseRedirects(t, "lisen: x\n"+withRedirects, "a,/b\n")
	var ms config.Mistakes
	if !errors.As(err, &ms) {
		t.Fatal(err)
	}
	mistaketest.Want(t, ms, []string{`1:1 "lisen"`, `1:1 no path`})
}

// FuzzParseRedirects checks that no input panics, that each mistake has a
// position in the file, and that accepted lines stay the same when encoding/csv
// writes them and they are parsed again.
func FuzzParseRedirects(f *testing.F) {
	for _, lines := range []string{"/a,/b\n", "from,to,status\n/a/*,/b/*,301\n", "\"/a\",\"/b\"\"\"\n",
		"# x\n,,\n a/é , /b?x#y \n", "/a,/b\n/b,/a\n"} {
		f.Add(lines)
	}
	f.Fuzz(func(t *testing.T, lines string) {
		c, err := parseRedirects(t, withRedirects, lines)
		if err != nil {
			checkMistakes(t, []byte(lines), err)
			return
		}
		var again bytes.Buffer
		w := csv.NewWriter(&again)
		for _, r := range c.Redirects {
			w.Write([]string{r.From, r.To, strconv.Itoa(r.Status)})
		}
		w.Flush()
		same, err := parseRedirects(t, withRedirects, again.String())
		if err != nil || !cmp.Equal(c.Redirects, same.Redirects, compareNetworks) {
			t.Errorf("%q was read as\n%v\nwhich, written again, is\n%v, %v", lines, c.Redirects, same, err)
		}
	})
}
