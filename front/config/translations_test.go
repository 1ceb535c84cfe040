package config_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirhq/weir/front/config"
)

// TestPublicTranslationsAreValid checks that the translations in examples/moving/public have no mistakes but the files
// of their sites, which do not exist here, and that the table in docs/moving.md has their sizes, which are smaller than
// those of the originals.
func TestPublicTranslationsAreValid(t *testing.T) {
	files, err := filepath.Glob("../../examples/moving/public/*.yaml")
	if err != nil || len(files) < 16 {
		t.Fatalf("%d translations, %v", len(files), err)
	}
	table, err := os.ReadFile("../../docs/moving.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, err = config.Parse(file, src, nil)
		var mistakes config.Mistakes
		errors.As(err, &mistakes)
		for _, m := range mistakes {
			if !strings.Contains(m.What, "no such file or directory") {
				t.Errorf("%v", m)
			}
		}
		name := filepath.Base(file)
		_, row, _ := strings.Cut(string(table), "\n| ["+strings.TrimSuffix(name, ".yaml")+"](../examples/moving/public/"+name+") | ")
		var original, own int
		fmt.Sscanf(row, "%d | %d |", &original, &own)
		if size := sizeOf(string(src)); own != size || size >= original {
			t.Errorf("%s has %d bytes; docs/moving.md has %d, and %d for the original", name, size, own, original)
		}
	}
}

// TestPublicTranslationsForwardWhatTheOriginalsDo checks paths that a location of the original without a slash at its end
// has, and a pattern for the paths below it has not.
func TestPublicTranslationsForwardWhatTheOriginalsDo(t *testing.T) {
	site := t.TempDir()
	if err := os.WriteFile(filepath.Join(site, "500.html"), []byte("wrong"), 0o600); err != nil {
		t.Fatal(err)
	}
	here := strings.NewReplacer("/home/mastodon/live/public", site,
		"certificates: [{cert: server.crt, key: server.key}]", "acme: {domains: a.example}")
	for _, c := range []struct{ file, host, path, want string }{
		{"mastodon", "example.com", "/api/v1/streaming", "streaming"},
		{"mastodon", "example.com", "/api/v1/streaming/public", "streaming"},
		{"mastodon", "example.com", "/api/v1/timelines/home", "backend"},
		{"mastodon", "example.com", "/packs/js/a.js", ""},
		{"cryptpad", "your-main-domain.com", "/cryptpad_websocket", "websocket"},
		{"cryptpad", "your-sandbox-domain.com", "/cryptpad_websocket/a", "websocket"},
		{"cryptpad", "your-main-domain.com", "/pad/", "cryptpad"},
		{"harbor", "a.example", "/service/notifications", ""},
		{"harbor", "a.example", "/service/token", "core"},
		{"harbor", "a.example", "/v2/", "core"},
	} {
		src, err := os.ReadFile("../../examples/moving/public/" + c.file + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		read := parse(t, here.Replace(string(src)), nil)
		entry, _ := upstreamTable(t, read).Lookup("GET", c.host, "", c.path, nil)
		if entry == nil || entry.Value != c.want {
			t.Errorf("%s: %s is forwarded by %+v, want to %q", c.file, c.path, entry, c.want)
		}
	}
}

// sizeOf returns the bytes of a file without comments, blank lines and indentation.
func sizeOf(text string) (n int) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			n += len(line) + 1
		}
	}
	return n
}
