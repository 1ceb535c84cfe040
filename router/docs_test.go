package router_test

import (
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/weirhq/weir/router"
)

// TestDocsShowTheTree compares the tree, the table of requests and the conflict in docs/router.md
// with the code.
func TestDocsShowTheTree(t *testing.T) {
	doc := readDoc(t, "../docs/router.md")
	table := newTable(t, docsPatterns...)
	if tree := "    " + strings.ReplaceAll(strings.TrimSuffix(table.String(), "\n"), "\n",
		"\n    "); !strings.Contains(doc, tree) {
		t.Errorf("docs/router.md lacks the tree\n%s", tree)
	}
	rows := 0
	for _, row := range tableRows(doc, "request") {
		method, path, _ := strings.Cut(codeIn(row[0])[0], " ")
		want := codeIn(row[1])[0]
		rows++
		if m := lookup(table, method, "", path, nil); m.Pattern != want {
			t.Errorf("docs/router.md says %s reaches %s, got %+v", row[0], want, m)
		}
	}
	if want := 9; rows != want {
		t.Errorf("%d rows of requests in docs/router.md, want %d", rows, want)
	}
}

func TestDocsShowAConflict(t *testing.T) {
	message := panicOf(func() {
		var r router.Router
		r.Handle("GET /users/{id:int}", http.NotFoundHandler())
		r.Handle("/users/{code:hex}", http.NotFoundHandler())
	})
	place := regexp.MustCompile(`registered at [^)]*`)
	plain := func(text string) string { return place.ReplaceAllString(strings.Join(strings.Fields(text), " "), "") }
	if doc := readDoc(t, "../docs/router.md"); !strings.Contains(plain(doc), plain(message)) {
		t.Errorf("docs/router.md lacks the message\n%s", message)
	}
}

// The patterns that docs/router.md explains are valid.
func TestDocsHavePatterns(t *testing.T) {
	rows := tableRows(readDoc(t, "../docs/router.md"), "pattern")
	if len(rows) < 10 {
		t.Errorf("%d rows of patterns in docs/router.md", len(rows))
	}
	for _, row := range rows {
		newTable(t, codeIn(row[0])[0])
	}
}

// The code in the router's pages is also in the examples, which are compiled and run. A
// blank line in it may replace omitted code.
func TestDocsCodeIsRun(t *testing.T) {
	source := squeezed(readDoc(t, "example_test.go") + readDoc(t, "example_moving_test.go"))
	for page, want := range map[string]int{"../docs/router.md": 1, "../docs/router-moving.md": 4, "../README.md": 1} {
		found := 0
		for _, block := range strings.Split(readDoc(t, page), "```go\n")[1:] {
			code, _, _ := strings.Cut(block, "```")
			if page == "../README.md" && !strings.Contains(code, "router.") {
				continue // from another library
			}
			found++
			for part := range strings.SplitSeq(code, "\n\n") {
				if !strings.Contains(source, squeezed(part)) {
					t.Errorf("%s: this is not in the examples:\n%s", page, part)
				}
			}
		}
		if found != want {
			t.Errorf("%s: %d pieces of code, want %d", page, found, want)
		}
	}
}

// TestDocsOfMovingAreRun compares the right columns of the tables in docs/router-moving.md
// with example_moving_test.go, which runs. Patterns are parsed here instead.
func TestDocsOfMovingAreRun(t *testing.T) {
	doc := readDoc(t, "../docs/router-moving.md")
	source := squeezed(readDoc(t, "example_moving_test.go"))
	pattern := regexp.MustCompile(`^([A-Z,]+ )?/`)
	constraints := router.Constraints{"code": router.Regexp("[A-Z]{3}")}
	cells := 0
	for _, row := range tableRows(doc, "there") {
		for _, code := range codeIn(row[1]) {
			cells++
			if pattern.MatchString(code) {
				if _, err := router.NewTable(constraints, []router.Entry[int]{{Pattern: code}}); err != nil {
					t.Error(err)
				}
			} else if !strings.Contains(source, squeezed(code)) {
				t.Errorf("docs/router-moving.md: %s is not in example_moving_test.go", code)
			}
		}
	}
	if cells < 50 {
		t.Errorf("%d pieces of code in tables: the page has lost some", cells)
	}
}

// Links in the router's pages lead to existing files.
func TestDocsLinkToFiles(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)
	for _, page := range []string{"../docs/router.md", "../docs/router-moving.md"} {
		for _, found := range link.FindAllStringSubmatch(readDoc(t, page), -1) {
			if _, err := os.Stat("../docs/" + found[1]); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}
	}
}

func readDoc(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// tableRows returns the cells of all tables of a page whose first column has this
// heading.
func tableRows(doc, heading string) (rows [][]string) {
	inside := false
	for line := range strings.Lines(doc) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		switch {
		case !strings.HasPrefix(line, "|"):
			inside = false
		case strings.TrimSpace(cells[0]) == heading:
			inside = true
		case inside && !strings.HasPrefix(line, "|---"):
			rows = append(rows, cells)
		}
	}
	return rows
}

var codeSpan = regexp.MustCompile("`[^`]+`")

func codeIn(text string) []string {
	all := codeSpan.FindAllString(text, -1)
	for i := range all {
		all[i] = strings.Trim(all[i], "`")
	}
	return all
}

// squeezed returns a text with each run of blanks replaced by a space.
func squeezed(text string) string { return strings.Join(strings.Fields(text), " ") }
