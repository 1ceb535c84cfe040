package weir_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// eventName matches the name of an event where the front door defines or writes it.
var eventName = regexp.MustCompile(`(?:\b[eE]vent[A-Z]\w*\s*=|\bevent:|\.(?:Info|Warn|Error)\()\s*"([a-z][^"]+)"`)

// TestOperatingEvents checks that docs/operating.md explains each event of the front door that has no request.
func TestOperatingEvents(t *testing.T) {
	page := readPage(t, "docs/operating.md")
	ofRequests := []string{"http request received", "proxying request", "http request completed", "text/event-stream"}
	found := 0
	err := filepath.WalkDir("front", func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, match := range eventName.FindAllSubmatch(text, -1) {
			name := string(match[1])
			if strings.Contains(strings.Join(ofRequests, "\n"), name) {
				continue
			}
			found++
			if !strings.Contains(page, "`"+name+"`") {
				t.Errorf("%s: docs/operating.md does not explain the event %q", path, name)
			}
		}
		return err
	})
	if err != nil || found < 20 {
		t.Errorf("found %d events, error %v; want more than 20", found, err)
	}
}
