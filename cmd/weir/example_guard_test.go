package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/weirhq/weir/lab/guard"
	"github.com/weirhq/weir/lab/report"
)

// TestGuardExamplesAreValid reads the workflow files of examples/guard as YAML, checks their scripts with sh -n, and
// runs their commands of weir lab guard up to a condition that is wrong.
func TestGuardExamplesAreValid(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../examples/guard/*.yml")
	if err != nil || len(files) != 2 {
		t.Fatalf("found %v, error %v; want two files", files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var document any
		if err := yaml.Unmarshal(text, &document); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		found := 0
		for _, script := range texts(document) {
			if !strings.Contains(script, "weir lab guard") {
				continue
			}
			found++
			script = regexp.MustCompile(`\$\{\{.*?\}\}`).ReplaceAllString(script, "main")
			if out, err := exec.Command("sh", "-n", "-c", script).CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s", file, err, out)
			}
			_, command, _ := strings.Cut(script, "weir ")
			args := words(strings.Join(strings.Fields(strings.ReplaceAll(command, "\\\n", " ")), " "))
			at := 0
			for args[at] != "--" {
				at++
			}
			args = append(args[:at:at], "--fail", "wrong", "--", "service")
			cmd := exec.Command("weir", args...)
			out, _ := cmd.CombinedOutput() // it exits with 2
			if !strings.HasPrefix(string(out), `weir: error: --fail: "wrong" is not METRIC > BOUND`) {
				t.Errorf("%s: weir %q: %v, %s", file, args, cmd.ProcessState, out)
			}
		}
		if found != 1 {
			t.Errorf("%s has %d commands of weir lab guard, want 1", file, found)
		}
	}
}

// TestOtavaExampleNamesColumnsOfAHistory compares the columns in examples/guard/otava.yaml with those of --history.
func TestOtavaExampleNamesColumnsOfAHistory(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../examples/guard/otava.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Tests map[string]struct {
			Time       string `yaml:"time_column"`
			Attributes []string
			Metrics    map[string]struct{ Column string }
		}
	}
	if err := yaml.Unmarshal(text, &config); err != nil {
		t.Fatal(err)
	}
	condition, err := guard.ParseCondition("CPU per request > 5%")
	if err != nil {
		t.Fatal(err)
	}
	columns := report.GuardHistoryColumns([]guard.Condition{condition})
	for _, test := range config.Tests {
		names := append(test.Attributes, test.Time)
		for _, m := range test.Metrics {
			names = append(names, m.Column)
		}
		for _, name := range names {
			if !slices.Contains(columns, name) {
				t.Errorf("a history has no column %q: it has %q", name, columns)
			}
		}
		if len(names) != 3 {
			t.Errorf("got the columns %q, want three", names)
		}
	}
}

// texts returns all texts in a YAML document.
func texts(node any) (all []string) {
	switch n := node.(type) {
	case string:
		all = append(all, n)
	case []any:
		for _, item := range n {
			all = append(all, texts(item)...)
		}
	case map[string]any:
		for _, item := range n {
			all = append(all, texts(item)...)
		}
	}
	return all
}
