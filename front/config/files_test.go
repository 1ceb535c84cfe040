package config_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/feature/files"
)

// TestParseFiles checks the values and the defaults of files. A root is relative to the
// folder of the file that names it, which may be an included one.
func TestParseFiles(t *testing.T) {
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
  - {match: /c, files: {root: public, index: []}}
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
