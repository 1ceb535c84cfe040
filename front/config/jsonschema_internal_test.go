package config

import (
	"cmp"
	"encoding/json"
	"os"
	"strings"
	"testing"
)

func TestJSONSchemaFileIsCurrent(t *testing.T) {
	const name = "../../docs/configuration/weir.schema.json"
	want := string(JSONSchema())
	if *update {
		if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got := readManual(t, name); got != want {
		t.Errorf("%s is old; write it with: go test ./front/config -run JSONSchemaFile -update", name)
	}
}

// The JSON Schema has each key with its meaning, and no others.
func TestJSONSchemaHasEveryKey(t *testing.T) {
	var root map[string]any
	if err := json.Unmarshal(JSONSchema(), &root); err != nil {
		t.Fatal(err)
	}
	w := keyWalk{root["definitions"].(map[string]any), map[string]string{}}
	w.walk(root, "", nil)
	want := map[string]string{}
	for _, k := range schema {
		path := strings.ReplaceAll(k.Path, ".*", "")
		want[path] = cmp.Or(want[path], k.Doc)
	}
	for path, doc := range want {
		if found, ok := w.found[path]; !ok || !strings.HasPrefix(found, doc) {
			t.Errorf("%s has the description %q, want %q", path, found, doc)
		}
	}
	for path := range w.found {
		inRoute := path
		for _, place := range []string{"routes.group.", "defaults."} {
			if rest, ok := strings.CutPrefix(path, place); ok {
				inRoute = "routes." + rest
			}
		}
		_, isKey := want[path]
		_, isKeyOfRoute := want[inRoute]
		if !isKey && !isKeyOfRoute {
			t.Errorf("%s is in the JSON Schema, and not a key", path)
		}
	}
}

// A keyWalk finds the keys of a JSON Schema and their descriptions. Paths have no element for an element of a list and
// for a name that the user chooses.
type keyWalk struct {
	defined map[string]any
	found   map[string]string
}

func (w *keyWalk) walk(schema map[string]any, path string, refs []string) {
	if ref, ok := schema["$ref"].(string); ok {
		for _, before := range refs {
			if before == ref {
				return // a group in a group
			}
		}
		schema, refs = w.defined[strings.TrimPrefix(ref, "#/definitions/")].(map[string]any), append(refs, ref)
	}
	if doc, ok := schema["description"].(string); ok && w.found[path] == "" {
		w.found[path] = doc
	}
	for _, part := range []string{"items", "additionalProperties"} {
		if below, ok := schema[part].(map[string]any); ok {
			w.walk(below, path, refs)
		}
	}
	forms, _ := schema["anyOf"].([]any)
	for _, form := range forms {
		w.walk(form.(map[string]any), path, refs)
	}
	properties, _ := schema["properties"].(map[string]any)
	for name, below := range properties {
		key := strings.TrimPrefix(path+"."+name, ".")
		if _, ok := w.found[key]; !ok {
			w.found[key] = ""
		}
		w.walk(below.(map[string]any), key, refs)
	}
}
