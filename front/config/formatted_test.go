package config_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/weirhq/weir/internal/yamlfile"
)

// TestExamplesHaveTheLayoutOfFmt formats the configurations of the examples and of the packages.
func TestExamplesHaveTheLayoutOfFmt(t *testing.T) {
	var files []string
	for _, pattern := range []string{"examples/*/weir*.yaml", "examples/moving/*/weir.yaml", "examples/moving/public/*.yaml", "deploy/systemd/weir.yaml"} {
		matches, err := filepath.Glob(filepath.Join("../..", pattern))
		if err != nil || len(matches) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(matches), err)
		}
		files = append(files, matches...)
	}
	for _, name := range files {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		formatted, err := yamlfile.Reformat(name, "a configuration", src)
		if err != nil {
			t.Error(err)
		} else if string(formatted) != string(src) {
			t.Errorf("%s: weir fmt changes it", name)
		}
	}
}
