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

// TestOperatingPageExplainsEachEvent checks that docs/operating.md explains each event of the front door that has no
// request.
func TestOperatingPageExplainsEachEvent(t *testing.T) {
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

// TestAlertsLeadToTheirRunbooks checks that each alert leads to a heading of docs/operating.md whose text has its name,
// in bold if it is critical.
func TestAlertsLeadToTheirRunbooks(t *testing.T) {
	page := readPage(t, "docs/operating.md")
	sections := map[string]string{}
	for _, part := range regexp.MustCompile(`(?m)^##`).Split(page, -1)[1:] {
		for anchor := range headings("##" + part) {
			sections[anchor] = part
		}
	}
	alert := regexp.MustCompile(`(?s)- alert: (\w+)\n.*?severity: (\w+)\}.*?runbook_url: (\S+)`)
	found := alert.FindAllStringSubmatch(readPage(t, "deploy/prometheus/weir-rules.yaml"), -1)
	for _, match := range found {
		name, text := match[1], "`"+match[1]+"`"
		if match[2] == "critical" {
			text = "**" + text + "**"
		}
		anchor, ok := strings.CutPrefix(match[3], "https://github.com/weirhq/weir/blob/main/docs/operating.md#")
		if !ok || !strings.Contains(sections[anchor], text) || strings.Contains(sections[anchor], "**"+text+"**") {
			t.Errorf("%s leads to %s, which does not have %s", name, match[3], text)
		}
	}
	if len(found) < 20 {
		t.Errorf("found %d alerts", len(found))
	}
}
