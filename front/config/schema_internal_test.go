package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/certtest"
)

func TestSchemaIsATree(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range schema {
		parent, name := k.Parent()
		switch {
		case seen[k.Path]:
			t.Errorf("%s occurs twice", k.Path)
		case k.Read == nil:
			t.Errorf("%s is not read", k.Path)
		case parent != "" && !seen[parent]:
			t.Errorf("%s is before %s, or %[2]s is missing", k.Path, parent)
		case name == "":
			t.Errorf("%q has no name", k.Path)
		}
		seen[k.Path] = true
	}
}

// docs/configuration.md contains every key.
func TestManualHoldsEveryKey(t *testing.T) {
	text, err := os.ReadFile("../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range schema {
		if isContainer(k.Path) {
			continue // the manual describes the keys below it
		}
		path := strings.NewReplacer(".*.", ".NAME.", ".*", ".NAME").Replace(k.Path)
		path = strings.NewReplacer("routes.NAME.", "routes.", "split.NAME.", "split.",
			"servers.NAME.", "servers.",
			"certificates.NAME.", "certificates.").Replace(path)
		if !strings.Contains(string(text), "`"+path+"`") {
			t.Errorf("the manual lacks `%s`", path)
		}
	}
}

// The configuration at the beginning of docs/configuration.md is valid.
func TestManualShowsAConfiguration(t *testing.T) {
	text, err := os.ReadFile("../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "```yaml\n")
	block, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("the manual shows no file")
	}
	folder := t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, "public"), 0o755); err != nil {
		t.Fatal(err)
	}
	root := certtest.Root(t, "root")
	root.Issue(t, certtest.Options{}).Write(t, folder, "shop")
	root.Write(t, folder, "clients-ca")
	root.Write(t, folder, "internal-ca")
	root.Issue(t, certtest.Options{Client: true}).Write(t, folder, "weir")
	if err := os.WriteFile(filepath.Join(folder, "servers.yaml"), []byte("- http://127.0.0.1:8094\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Parse(filepath.Join(folder, "weir.yaml"), []byte(block), nil); err != nil {
		t.Error(err)
	}
}

func isContainer(path string) bool {
	for _, k := range schema {
		if strings.HasPrefix(k.Path, path+".") {
			return true
		}
	}
	return false
}
