package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirhq/weir/front/config"
)

var longFlag = regexp.MustCompile(`(?m)^ +(?:-\w, )?(--[a-z0-9-]+)`)

// flagsIn returns the flags that a text lists.
func flagsIn(text string) (flags []string) {
	for _, match := range longFlag.FindAllStringSubmatch(text, -1) {
		flags = append(flags, match[1])
	}
	slices.Sort(flags)
	return slices.Compact(flags)
}

// formatted returns a manual page as text. groff has no warning about it.
func formatted(t *testing.T, page string) string {
	t.Helper()
	cmd := exec.Command("groff", "-man", "-ww", "-Tascii", "-P-c", page)
	var warnings strings.Builder
	cmd.Stderr = &warnings
	text, err := cmd.Output()
	if err != nil || warnings.Len() > 0 {
		t.Fatalf("groff of %s: %v (apt-get install groff)\n%s", page, err, warnings.String())
	}
	return regexp.MustCompile(".\b").ReplaceAllString(string(text), "") // bold text is printed twice
}

// TestManualAgreesWithHelp compares the manual pages and the completion with --help.
func TestManualAgreesWithHelp(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	runs(t, 0, "man", dir)
	index := formatted(t, filepath.Join(dir, "weir.1"))
	pages := map[string]bool{"weir.1": true}
	for _, match := range regexp.MustCompile(`(?m)^  ([a-z][a-z -]*\S)  `).FindAllStringSubmatch(prints(t, "--help"), -1) {
		command := strings.Fields(match[1])
		for i := range command {
			pages["weir-"+strings.Join(command[:i+1], "-")+".1"] = true
		}
		if name := "weir-" + command[0]; !strings.Contains(index, name+"(1)") {
			t.Errorf("weir.1 does not name %s", name)
		}
		help := flagsIn(prints(t, append(command, "--help")...))
		page := formatted(t, filepath.Join(dir, "weir-"+strings.Join(command, "-")+".1"))
		if diff := cmp.Diff(help, flagsIn(page)); diff != "" {
			t.Errorf("the page of weir %s (-help +page):\n%s", match[1], diff)
		}
		var completed []string
		for line := range strings.Lines(prints(t, append(append([]string{"complete", "--"}, command...), "--")...)) {
			if word, _, ok := strings.Cut(line, "\t"); ok {
				completed = append(completed, word)
			}
		}
		slices.Sort(completed)
		if diff := cmp.Diff(help, completed); diff != "" {
			t.Errorf("the completion of weir %s (-help +completion):\n%s", match[1], diff)
		}
	}
	keys := formatted(t, filepath.Join(dir, "weir.yaml.5"))
	for _, k := range config.Keys() {
		if !regexp.MustCompile(`(?m)^ {7}` + regexp.QuoteMeta(k.Path) + `( |$)`).MatchString(keys) {
			t.Errorf("weir.yaml.5 does not have %s", k.Path)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	pages["weir.yaml.5"] = true
	for _, e := range entries {
		if !pages[e.Name()] {
			t.Errorf("weir --help has no command for %s", e.Name())
		}
		delete(pages, e.Name())
	}
	if len(pages) > 0 {
		t.Errorf("no pages: %v", pages)
	}
}

// prints runs weir and returns its stdout.
func prints(t *testing.T, args ...string) string {
	t.Helper()
	return output(t, runs(t, 0, args...))
}

// TestCompletedValuesAreAccepted uses the values that the completion has.
func TestCompletedValuesAreAccepted(t *testing.T) {
	t.Parallel()
	for _, flag := range []string{"--level=", "--format=", "--color="} {
		values := strings.Fields(prints(t, "complete", "--", "tail", flag))[1:]
		if len(values) < 3 {
			t.Errorf("%s has the values %q", flag, values)
		}
		for _, value := range values {
			runs(t, 0, "tail", value, os.DevNull)
		}
	}
}
