package front

import (
	"os"
	"strings"
	"testing"
)

func TestSchemaIsATree(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range schema {
		parent, name := k.parent()
		switch {
		case seen[k.path]:
			t.Errorf("%s stands twice", k.path)
		case (k.read == nil) != (k.later != ""):
			t.Errorf("%s is either read or built later", k.path)
		case parent != "" && !seen[parent]:
			t.Errorf("%s stands before %s, or without it", k.path, parent)
		case name == "":
			t.Errorf("%q has no name", k.path)
		}
		seen[k.path] = true
	}
}

// The manual holds every key, the ones not built yet in their own section.
func TestManualHoldsEveryKey(t *testing.T) {
	text, err := os.ReadFile("../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	built, later, ok := strings.Cut(string(text), "## Not supported yet")
	if !ok {
		t.Fatal("the manual has no section for what is not supported yet")
	}
	for _, k := range schema {
		if isContainer(k.path) {
			continue // the keys below it are what there is to say
		}
		path := strings.NewReplacer(".*.", ".NAME.", ".*", ".NAME").Replace(k.path)
		path = strings.Replace(path, "routes.NAME.", "routes.", 1)
		section := built
		if k.later != "" {
			section = later
		}
		if !strings.Contains(section, "`"+path+"`") {
			t.Errorf("the manual lacks `%s` in its section", path)
		}
	}
}

// The file that the manual shows at a glance is one that works.
func TestManualShowsAConfiguration(t *testing.T) {
	text, err := os.ReadFile("../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "```yaml\n")
	block, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("the manual shows no file")
	}
	if _, err := ParseConfig("docs/configuration.md", []byte(block), nil); err != nil {
		t.Error(err)
	}
}

func isContainer(path string) bool {
	for _, k := range schema {
		if strings.HasPrefix(k.path, path+".") {
			return true
		}
	}
	return false
}
