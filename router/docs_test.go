package router_test

import (
	"os"
	"strings"
	"testing"
)

// The tree and the table of requests in docs/router.md are what the code does.
func TestDocsShowTheTree(t *testing.T) {
	doc, err := os.ReadFile("../docs/router.md")
	if err != nil {
		t.Fatal(err)
	}
	table := newTable(t,
		"/{$}", "/census", "/datasets/{uri...}", "/{topic}/datasets/{uri...}", "/{uri...}/alladhocs", "/{uri...}/datalist",
		"/embed/visualisations/{path...}", "GET /{release:int}", "/{path...}")
	if tree := "    " + strings.ReplaceAll(strings.TrimSuffix(table.String(), "\n"), "\n", "\n    "); !strings.Contains(string(doc), tree) {
		t.Errorf("docs/router.md lacks the tree\n%s", tree)
	}
	rows := 0
	for line := range strings.Lines(string(doc)) {
		cells := strings.Split(line, "`")
		if len(cells) < 4 || !strings.HasPrefix(line, "| `") || !strings.Contains(cells[1], " /") || strings.Contains(cells[1], "{") || cells[2] != " | " {
			continue // not a row of the table of requests
		}
		method, path, _ := strings.Cut(cells[1], " ")
		if strings.Contains(method, ",") {
			continue // a pattern
		}
		rows++
		if m := lookup(table, method, "", path, nil); m.Pattern != cells[3] {
			t.Errorf("docs/router.md says %s reaches %s, got %+v", cells[1], cells[3], m)
		}
	}
	if rows != 6 {
		t.Errorf("%d rows of requests in docs/router.md, want 6", rows)
	}
}
