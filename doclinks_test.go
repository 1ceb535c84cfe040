package weir_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDocLinksLeadToFilesAndHeadings checks that the links in all pages lead to a file of the repository, and to a
// heading if they name one, and that pages which code and configurations name exist.
func TestDocLinksLeadToFilesAndHeadings(t *testing.T) {
	link := regexp.MustCompile(`(?:\]\(|<img src="|srcset=")([^)"\s]+)[)"]`)
	named := regexp.MustCompile(`\bdocs/[a-z0-9/-]+\.md\b`)
	links := 0
	for _, name := range textFiles(t) {
		text := readPage(t, name)
		if filepath.Ext(name) != ".md" {
			for _, page := range named.FindAllString(text, -1) {
				if _, err := os.Stat(page); err != nil {
					t.Errorf("%s names %s, which does not exist", name, page)
				}
			}
			continue
		}
		for _, found := range link.FindAllStringSubmatch(prose(text), -1) {
			target, anchor, hasAnchor := strings.Cut(found[1], "#")
			if strings.Contains(target, ":") {
				continue // another site
			}
			links++
			file := name
			if target != "" {
				file = filepath.Join(filepath.Dir(name), target)
			}
			if _, err := os.Stat(file); err != nil {
				t.Errorf("%s: %s leads to no file", name, found[1])
			} else if hasAnchor && !headings(readPage(t, file))[anchor] {
				t.Errorf("%s: %s leads to no heading", name, found[1])
			}
		}
	}
	if links < 100 {
		t.Errorf("%d links have been checked", links)
	}
}

// TestDocIndexLeadsToEveryPage checks that docs/README.md leads to every page of docs, except those below folders,
// which have an index of their own.
func TestDocIndexLeadsToEveryPage(t *testing.T) {
	index := readPage(t, "docs/README.md")
	pages, err := filepath.Glob("docs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatal(pages, err)
	}
	for _, page := range pages {
		if name := filepath.Base(page); name != "README.md" && !strings.Contains(index, "]("+name) {
			t.Errorf("docs/README.md does not lead to %s", name)
		}
	}
}

// textFiles returns the pages, Go files and configurations of the repository.
func textFiles(t *testing.T) (names []string) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		name := entry.Name()
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (name == "testdata" || name == "node_modules" || len(name) > 1 && name[0] == '.'):
			return filepath.SkipDir
		case entry.IsDir():
			return nil
		}
		switch filepath.Ext(name) {
		case ".md", ".go", ".yaml":
			names = append(names, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func readPage(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var (
	fence  = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	inline = regexp.MustCompile("`[^`\n]*`")
)

// prose returns the text of a page without its code.
func prose(page string) string { return inline.ReplaceAllString(fence.ReplaceAllString(page, ""), "`") }

// headings returns the anchors that GitHub makes of the headings of a page.
func headings(page string) map[string]bool {
	anchors := map[string]bool{}
	remove := regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	for line := range strings.Lines(fence.ReplaceAllString(page, "")) {
		marks, title, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok || marks == "" || strings.Trim(marks, "#") != "" {
			continue
		}
		anchor := strings.ReplaceAll(remove.ReplaceAllString(strings.ToLower(title), ""), " ", "-")
		anchors[anchor] = true
	}
	return anchors
}
