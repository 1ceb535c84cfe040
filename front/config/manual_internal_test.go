package config

import (
	"flag"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/certtest"
)

var update = flag.Bool("update", false, "write the index of docs/configuration/README.md anew")

const manual = "../../docs/configuration/"

// The tables of docs/configuration describe each key once, and no other keys.
func TestManualDescribesEveryKey(t *testing.T) {
	pages := manualPages(t)
	named := map[string]bool{}
	for _, k := range schema {
		path := manualPath(k.Path)
		named[path] = true
		switch {
		case k.Doc == "" && !isContainer(k.Path):
			t.Errorf("%s has no Doc", k.Path)
		case k.Doc != "" && len(pages[path]) != 1:
			t.Errorf("`%s` is in the tables of %q, want one page", path, pages[path])
		}
	}
	for path, in := range pages {
		if !named[path] {
			t.Errorf("%q describe `%s`, which is not a key", in, path)
		}
	}
}

// docs/configuration/README.md ends with an index of the keys, which -update writes.
func TestManualIndex(t *testing.T) {
	const name, heading = manual + "README.md", "\n## All keys\n"
	text := readManual(t, name)
	before, _, ok := strings.Cut(text, heading)
	if !ok {
		t.Fatalf("%s has no index", name)
	}
	want := before + heading + index(manualPages(t))
	if text == want {
		return
	}
	if !*update {
		t.Fatalf("the index of %s is old; write it with: go test ./front/config -run ManualIndex -update", name)
	}
	if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// index returns a table of all keys with a Doc. pages has the pages that describe them.
func index(pages map[string][]string) string {
	rows := map[string]string{}
	add := func(k key, path, page, meaning string) {
		rows[path] = "| [`" + path + "`](" + page + ") | " + meaning + " | " + alsoIn(k.Path) + " |\n"
	}
	for _, k := range schema {
		path := manualPath(k.Path)
		if k.Doc != "" && len(pages[path]) > 0 {
			add(k, path, pages[path][0], k.Doc)
		}
		_, name := k.Parent()
		long := manualPath(k.Path + "." + k.Short)
		if k.Short != "" && k.Doc == "" && name != "*" && len(pages[long]) > 0 {
			add(k, path, pages[long][0], "short for `"+long+"`")
		}
	}
	var b strings.Builder
	b.WriteString("\nEach key leads to its page. The table is made from the code: `go test ./front/config -update` writes it.\n\n" +
		"| key | meaning | also in |\n|---|---|---|\n")
	for _, path := range slices.Sorted(maps.Keys(rows)) {
		b.WriteString(rows[path])
	}
	return b.String()
}

// alsoIn returns the places around a route in which a key of a route can be.
func alsoIn(path string) string {
	if !strings.HasPrefix(path, routePath+".") || strings.HasPrefix(path, routePath+".group") {
		return ""
	}
	var places []string
	for _, place := range []struct {
		name   string
		refuse func(key) (why, hint string)
	}{{"defaults", refusedInDefaults}, {"group", refusedInGroup}} {
		refused := slices.ContainsFunc(schema, func(k key) bool {
			why, _ := place.refuse(k)
			return why != "" && (path == k.Path || strings.HasPrefix(path, k.Path+"."))
		})
		if !refused {
			places = append(places, place.name)
		}
	}
	return strings.Join(places, ", ")
}

// manualPages returns the pages of the manual whose tables describe a key, by the key.
func manualPages(t *testing.T) map[string][]string {
	t.Helper()
	files, err := filepath.Glob(manual + "*.md")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	code := regexp.MustCompile("`([^`]+)`")
	pages := map[string][]string{}
	for _, file := range files {
		inTable := false
		for line := range strings.Lines(readManual(t, file)) {
			switch {
			case line == "| key | meaning | default | example |\n":
				inTable = true
			case !strings.HasPrefix(line, "|"):
				inTable = false
			case inTable:
				cell, _, _ := strings.Cut(line[1:], "|")
				for _, found := range code.FindAllStringSubmatch(cell, -1) {
					pages[found[1]] = append(pages[found[1]], filepath.Base(file))
				}
			}
		}
	}
	return pages
}

// manualPath returns the name of a key in the manual.
func manualPath(path string) string {
	path = strings.NewReplacer(".*.", ".NAME.", ".*", ".NAME").Replace(path)
	return strings.NewReplacer("routes.NAME.", "routes.", "split.NAME.", "split.", "servers.NAME.", "servers.",
		"certificates.NAME.", "certificates.").Replace(path)
}

// The configuration at the beginning of docs/configuration/README.md is valid.
func TestManualShowsAConfiguration(t *testing.T) {
	_, rest, _ := strings.Cut(readManual(t, manual+"README.md"), "```yaml\n")
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

// isContainer reports whether a key is a mapping of others.
func isContainer(path string) bool {
	for _, k := range schema {
		if strings.HasPrefix(k.Path, path+".") {
			return true
		}
	}
	return false
}

func readManual(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
