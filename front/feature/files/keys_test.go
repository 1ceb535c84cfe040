package files_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/feature/files"
	"github.com/weirhq/weir/front/internal/configtest"
)

// TestRootIsRelativeToItsConfigurationFile checks the values and the defaults of files. A root is relative to the
// folder of the file that names it, which may be an included one.
func TestRootIsRelativeToItsConfigurationFile(t *testing.T) {
	folder := t.TempDir()
	for _, sub := range []string{"public", "sites/public"} {
		if err := os.MkdirAll(filepath.Join(folder, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	absolute := t.TempDir()
	included := filepath.Join(folder, "sites", "a.yaml")
	if err := os.WriteFile(included, []byte("routes: {match: /in, files: {root: public}}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	c, err := config.Parse(filepath.Join(folder, "weir.yaml"), []byte(`
include: sites/*.yaml
upstreams: {a: {servers: [http://127.0.0.1:8080]}}
routes:
  - {match: /a, files: {root: ./public}}
  - match: /b
    files:
      root: `+absolute+`
      index: [home.html, index.htm]
      fallback: /app/index.html
      precompressed: [br, gzip]
      cache_control: "public, max-age=60"
  - {match: /c, files: {root: public, index: off}}
`), nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []files.Config
	for _, r := range c.Routes {
		got = append(got, *r.Files)
	}
	public := filepath.Join(folder, "public")
	if diff := cmp.Diff([]files.Config{
		{Root: public, Index: []string{"index.html"}},
		{Root: absolute, Index: []string{"home.html", "index.htm"}, Fallback: "/app/index.html",
			Precompressed: []string{"br", "gzip"}, CacheControl: "public, max-age=60"},
		{Root: public},
		{Root: filepath.Join(folder, "sites", "public"), Index: []string{"index.html"}},
	}, got); diff != "" {
		t.Errorf("Files (-want +got):\n%s", diff)
	}
}

func TestFilesMistakesAreReported(t *testing.T) {
	for _, c := range []struct {
		name, src string
		want      []string
	}{
		{"no root", "upstreams: {a: {servers: http://a}}\nroutes:\n- {match: /a, files: {}}\n" +
			"- {match: /b, files: {root: ./none}}\n- {match: /c, files: {root: keys.go}}\n",
			[]string{`3:15 "files" has no "root"|./public`, `4:29 the root "none": no such file|folder of this file`,
				`5:29 the root "keys.go": not a folder`}},
		{"files", "upstreams: {a: {servers: http://a}}\nroutes:\n- match: /\n  files:\n    root: .\n" +
			"    index: [.htaccess, a/b, index.html, index.html]\n    fallback: index.html\n    precompressed: [deflate, br]\n" +
			"    cache_control: \"a\\nb\"\n    list: true\n",
			[]string{`6:13 ".htaccess": the name begins with a dot`, `6:24 "a/b" is not the name of a file|index.html`,
				`6:41 index.html is given twice`, `7:15 "index.html" does not begin with a slash|"/index.html"`,
				`8:21 "deflate"|zstd, br, gzip`, `9:20 this is not the value of a header field`, `10:5 "list"`}},
		{"a fallback", "upstreams: {a: {servers: http://a}}\nroutes:\n- {match: /a, files: {root: ., fallback: /}}\n" +
			"- {match: /b, files: {root: ., fallback: /../a}}\n- {match: /c, files: {root: .}, to: a}\n",
			[]string{`3:42 "/" is a folder`, `4:42 "/../a": the name begins with a dot`, `5:33 "to" is a second action`}},
	} {
		configtest.WantMistakes(t, c.name, c.src, c.want)
	}
}
