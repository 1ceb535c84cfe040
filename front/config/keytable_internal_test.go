package config

import (
	"cmp"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/yamlfile"
)

// The decision about the language ends with a table of all keys, which -update writes. What the table says is what the
// reader of each key says.
func TestKeyTableIsCurrent(t *testing.T) {
	const name, heading = "../../docs/decisions/configuration-language.md", "\n## All keys\n"
	text := readManual(t, name)
	before, _, ok := strings.Cut(text, heading)
	if !ok {
		t.Fatalf("%s has no table of the keys", name)
	}
	want := before + heading + keyTable()
	if text == want {
		return
	}
	if !*update {
		t.Fatalf("the table of the keys in %s is old; write it with: go test ./front/config -run KeyTable -update", name)
	}
	if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

func keyTable() string {
	all := describe(schema)
	rows := map[string]string{}
	for _, k := range schema {
		d := all[k.Path]
		if parent, name := k.Parent(); name == "*" && all[parent].List {
			continue // an element of a list
		}
		cells := []string{"`" + manualPath(k.Path) + "`", typeOf(k, d), cmp.Or(d.Unit, d.Examples), codes(d.Default), strings.Join(placesOf(k.Path), ", "),
			combining(k, all)}
		for i := range cells {
			cells[i] = strings.ReplaceAll(cells[i], "|", `\|`)
		}
		rows[k.Path] = "| " + strings.Join(cells, " | ") + " |\n"
	}
	var b strings.Builder
	b.WriteString(`
The table is made from the code that reads the keys: each key is asked which values it accepts, and its default is the
value that the reader has before it reads the key. ` + "`go test ./front/config -update`" + ` writes the table.

- A list may be one value without brackets. Of several types, any is accepted.
- The places are those of the key itself: the top of the file, an upstream, or ` + "`defaults`" + `, a group and a route.
- "own" is a value that is not inherited. ` + "`hosts` and `prefix`" + ` become parts of the patterns. Another action
  replaces an outer one with all its keys.

| key | type | unit | default | may be given in | combines with an outer value |
|---|---|---|---|---|---|
`)
	for _, path := range slices.Sorted(maps.Keys(rows)) {
		b.WriteString(rows[path])
	}
	return b.String()
}

// codes returns the elements of a list as code.
func codes(list string) string {
	if list == "" {
		return ""
	}
	return "`" + strings.ReplaceAll(list, ", ", "`, `") + "`"
}

// typeOf returns the values that a key accepts.
func typeOf(k key, d *yamlfile.Description) string {
	var types []string
	if d.Single {
		types = append(types, singleType(d))
	}
	switch {
	case d.Single && d.List:
		types[0] = "list of: " + types[0]
	case d.List:
		types = append(types, "list of mappings")
	}
	switch fields := d.Fields && !d.List || hasFields(k.Path); {
	case fields && d.Names:
		types = append(types, "mapping with keys and names")
	case d.Names:
		types = append(types, "mapping with names")
	case fields:
		types = append(types, "mapping")
	}
	r, _ := newReader("weir.yaml", nil, nil)
	yes := r.Normalise(k.Path, yamlfile.Of("true"))
	if yes.Kind == yamlfile.Mapping && len(yes.Pairs) == 0 && !d.List && !k.NotEmpty && !slices.ContainsFunc(schema, func(below key) bool {
		parent, _ := below.Parent()
		return parent == k.Path && below.Required != ""
	}) {
		types = append(types, "`true`")
	}
	if k.Short != "" {
		types = append(types, "value of `"+k.Short+"`")
	}
	if k.Off != nil {
		types = append(types, "`off`")
	}
	return strings.Join(types, "; ")
}

// hasFields reports whether a mapping has keys that are not names.
func hasFields(path string) bool {
	return slices.ContainsFunc(schema, func(k key) bool {
		parent, name := k.Parent()
		return parent == path && name != "*"
	})
}

// singleType returns the form of a single value.
func singleType(d *yamlfile.Description) string {
	name := d.Name
	switch first, last := d.Range(); {
	case first != "" && last != "":
		name += " from " + first + " to " + last
	case first != "":
		name += " from " + first
	case last != "":
		name += " up to " + last
	}
	words := codes(strings.Join(d.Words, ", "))
	if name == "" || words == "" {
		return words + name
	}
	return words + ", " + name
}

// True stands for a mapping with its defaults, not for one that must not be empty.
func TestKeyTableListsNoTrueForAFilledMapping(t *testing.T) {
	all := describe(schema)
	for _, k := range schema {
		switch strings.TrimPrefix(k.Path, routePath+".") {
		case "access", "when", "error_pages", "tls", "log.rotate", "log.spill", "upstreams.*.servers", "split.*.when":
			if what := typeOf(k, all[k.Path]); strings.Contains(what, "`true`") {
				t.Errorf("%s is %s", k.Path, what)
			}
		}
	}
}

// Each key says which values it accepts.
func TestKeysDescribeThemselves(t *testing.T) {
	for path, d := range describe(schema) {
		if !d.Single && !d.List && !d.Names && !d.Fields {
			t.Errorf("%s accepts no value: its function does not read it with a function of Reader", path)
		}
		if d.Single && d.Name == "" && d.Words == nil {
			t.Errorf("%s has no form: let its parser call Describe", path)
		}
	}
}
