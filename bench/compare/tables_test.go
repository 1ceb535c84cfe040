package compare

import (
	"maps"
	"os"
	"strings"
	"testing"
)

// A comparison is a table of a document: the text of the cells, by row and by program.
type comparison map[string]map[string]string

// parseComparison returns the first table of a document whose head names the programs, as in "| | Weir | nginx |". Cells
// lose their bold type and their links.
func parseComparison(document string) comparison {
	table := comparison{}
	var programs []string
	for line := range strings.Lines(document) {
		cells := splitCells(line)
		switch {
		case programs == nil && strings.HasPrefix(line, "| | Weir |"):
			programs = cells[1:]
		case programs != nil && len(cells) == 0:
			return table
		case programs != nil && cells[0] != "---":
			row := map[string]string{}
			for i, p := range programs {
				row[strings.ToLower(p)] = cells[1+i]
			}
			table[cells[0]] = row
		}
	}
	return table
}

// splitCells returns the cells of a line of a table, and nil for another line.
func splitCells(line string) []string {
	line, ok := strings.CutPrefix(strings.TrimSpace(line), "|")
	if !ok {
		return nil
	}
	cells := strings.Split(strings.TrimSuffix(line, "|"), "|")
	for i, c := range cells {
		cells[i] = plain(strings.TrimSpace(c))
	}
	return cells
}

// plain returns a cell without ** and without the targets of links.
func plain(cell string) string {
	cell = strings.ReplaceAll(cell, "**", "")
	for {
		before, rest, ok := strings.Cut(cell, "[")
		text, rest, ok2 := strings.Cut(rest, "](")
		_, after, ok3 := strings.Cut(rest, ")")
		if !ok || !ok2 || !ok3 {
			return cell
		}
		cell = before + text + after
	}
}

func TestTablesOfComparisonAreParsed(t *testing.T) {
	t.Parallel()
	got := parseComparison("text\n| a | b |\n|---|---|\n| c | d |\n\n" +
		"| | Weir | HAProxy |\n|---|---|---|\n| Cache | **no** | small |\n| Names | [4 policies](a.md#b), x | |\n\nend\n" +
		"| | Weir |\n|---|---|\n| Other | yes |\n")
	want := comparison{"Cache": {"weir": "no", "haproxy": "small"}, "Names": {"weir": "4 policies, x", "haproxy": ""}}
	if !maps.EqualFunc(got, want, func(a, b map[string]string) bool { return maps.Equal(a, b) }) {
		t.Errorf("parseComparison: %v, want %v", got, want)
	}
}

// readComparison returns the table of a file of the repository.
func readComparison(t *testing.T, file string) comparison {
	t.Helper()
	text, err := os.ReadFile("../../" + file)
	if err != nil {
		t.Fatal(err)
	}
	return parseComparison(string(text))
}
