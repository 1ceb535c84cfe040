package weir_test

import (
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// mapRow is a row of the map of packages: a branch or none, names, and either two spaces and a description, or
// nothing.
var mapRow = regexp.MustCompile(`^(?:([├└])── )?([a-z0-9/]+(?:, [a-z0-9/]+)*)(?:  .*)?$`)

// packagesIn returns the packages in a map. The packages of a branch are below the last one without a branch. In a
// list, a name without a folder is in the folder of the name before it.
func packagesIn(diagram string) (names []string) {
	root := ""
	for line := range strings.SplitSeq(diagram, "\n") {
		m := mapRow.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		for i, name := range strings.Split(m[2], ", ") {
			switch {
			case i > 0 && !strings.Contains(name, "/"):
				name = path.Join(path.Dir(names[len(names)-1]), name)
			case m[1] != "":
				name = path.Join(root, name)
			default:
				root = name
			}
			names = append(names, name)
		}
	}
	return names
}

// TestPackageMap checks that the map in docs/architecture.md has every package once, except examples and packages
// for tests, and that all that it names is in the tree.
func TestPackageMap(t *testing.T) {
	text, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), "\n## Packages\n")
	_, after, _ = strings.Cut(after, "```\n")
	diagram, _, found := strings.Cut(after, "```\n")
	if !found {
		t.Fatal("docs/architecture.md has no map of packages")
	}
	names := packagesIn(diagram)
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			t.Errorf("the map has %s twice", name)
		}
		if info, err := os.Stat(name); err != nil || !info.IsDir() {
			t.Errorf("the map has %s, which is not a folder", name)
		}
	}
	for name := range layers { // TestLayers checks that it has all packages
		exempt := name == "" || strings.HasPrefix(name, "examples/") || strings.HasSuffix(name, "test")
		if !exempt && !slices.Contains(names, name) {
			t.Errorf("the map does not have %s", name)
		}
	}
}
