package weir_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestGlossaryNamesFilesWithItsWords checks that each file in docs/glossary.md exists and contains the
// word of its row, in any case, as words or as one identifier. It also checks that
// the rows of each section are in alphabetical order.
func TestGlossaryNamesFilesWithItsWords(t *testing.T) {
	text, err := os.ReadFile("docs/glossary.md")
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile(`^\| ([^|]+) \| [^|]+ \| \[(.+)\]\(\.\./(.+)\) \|$`)
	rows, last := 0, ""
	for _, line := range strings.Split(string(text), "\n") {
		if strings.HasPrefix(line, "## ") {
			last = ""
		}
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| word ") {
			continue
		}
		m := row.FindStringSubmatch(line)
		if m == nil || m[2] != m[3] {
			t.Errorf("%q is not of the form | word | meaning | [file](../file) |", line)
			continue
		}
		word, file := strings.ToLower(m[1]), m[2]
		if word <= last {
			t.Errorf("%s is after %s", word, last)
		}
		rows, last = rows+1, word
		source, err := os.ReadFile(file)
		if err != nil {
			t.Errorf("%s: %v", word, err)
			continue
		}
		lower := strings.ToLower(string(source))
		if !strings.Contains(lower, word) && !strings.Contains(lower, strings.ReplaceAll(word, " ", "")) {
			t.Errorf("%s does not contain %q", file, word)
		}
	}
	if rows == 0 {
		t.Error("docs/glossary.md has no rows")
	}
}
