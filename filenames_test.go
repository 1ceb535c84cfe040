package weir_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestNamedFilesExist checks that the Go files that the architecture, CONTRIBUTING and the comments of packages name
// exist somewhere in the tree.
func TestNamedFilesExist(t *testing.T) {
	var files, docs []string
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		name := entry.Name()
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (name == "node_modules" || len(name) > 1 && name[0] == '.'):
			return filepath.SkipDir
		case strings.HasSuffix(name, ".go"):
			files = append(files, "/"+filepath.ToSlash(path))
		}
		if name == "doc.go" || name == "architecture.md" || name == "CONTRIBUTING.md" {
			docs = append(docs, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	all, named, checked := strings.Join(files, "\n")+"\n", regexp.MustCompile(`[a-z0-9_/]+\.go\b`), 0
	for _, doc := range docs {
		text, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range named.FindAllString(string(text), -1) {
			if strings.HasSuffix(name, "/log.go") || name == "log.go" {
				continue // ONSdigital's package
			}
			checked++
			if !strings.Contains(all, "/"+name+"\n") {
				t.Errorf("%s names %s, which does not exist", doc, name)
			}
		}
	}
	if checked < 50 {
		t.Errorf("only %d names of files were found", checked)
	}
}
