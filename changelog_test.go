package weir_test

import (
	"strings"
	"testing"
)

// The section of the first release says what it contains, and not how that came about: nobody has an earlier version.
// It has at most 60 lines. Remove this test with the release.
func TestChangelogIsShort(t *testing.T) {
	_, section, ok := strings.Cut(readPage(t, "CHANGELOG.md"), "\n## Unreleased\n")
	if !ok {
		t.Fatal("CHANGELOG.md has no section Unreleased")
	}
	if lines := strings.Count(section, "\n"); lines > 60 {
		t.Errorf("the section Unreleased has %d lines, want at most 60", lines)
	}
	for _, word := range []string{"Before, ", "no longer", "Earlier", "is gone"} {
		if strings.Contains(section, word) {
			t.Errorf("the section Unreleased says %q: it has no changes, only contents", word)
		}
	}
}
