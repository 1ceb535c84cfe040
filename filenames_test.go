package weir_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestNamedFilesExist checks that the Go files that the architecture, CONTRIBUTING and the comments of packages name
// exist somewhere in the tree.
func TestNamedFilesExist(t *testing.T) {
	var files, docs []string
	for _, path := range textFiles(t) {
		name := filepath.Base(path)
		if strings.HasSuffix(name, ".go") {
			files = append(files, "/"+filepath.ToSlash(path))
		}
		if name == "doc.go" || name == "architecture.md" || name == "CONTRIBUTING.md" {
			docs = append(docs, path)
		}
	}
	all, named, checked := strings.Join(files, "\n")+"\n", regexp.MustCompile(`[a-z0-9_/]+\.go\b`), 0
	for _, doc := range docs {
		for _, name := range named.FindAllString(readPage(t, doc), -1) {
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
