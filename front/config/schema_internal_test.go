package config

import "testing"

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
