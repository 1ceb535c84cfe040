package config

import (
	"cmp"
	"flag"
	"os"
	"path/filepath"
	"regexp"
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
func TestManualIndexIsCurrent(t *testing.T) {
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

// index returns a table of all keys. pages has the pages that describe them.
func index(pages map[string][]string) string {
	var b strings.Builder
	b.WriteString("\nEach key leads to its page. The table is made from the code: `go test ./front/config -update` writes it.\n\n" +
		"| key | meaning | also in |\n|---|---|---|\n")
	for _, k := range Keys() {
		meaning := k.Meaning
		if k.Short != "" {
			meaning = "short for `" + k.Short + "`"
		}
		page := strings.Join(pages[cmp.Or(k.Short, k.Path)], " ") // one, as TestManualDescribesEveryKey checks
		b.WriteString("| [`" + k.Path + "`](" + page + ") | " + meaning + " | " + strings.Join(k.AlsoIn, ", ") + " |\n")
	}
	return b.String()
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
