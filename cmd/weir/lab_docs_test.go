package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirhq/weir/experiments"
	"github.com/weirhq/weir/lab/experiment"
	"github.com/weirhq/weir/load/settings"
)

func labDocs(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/lab.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// firstColumn returns the code spans in the first column of the table whose header
// begins with head.
func firstColumn(t *testing.T, markdown, head string) []string {
	t.Helper()
	_, table, ok := strings.Cut(markdown, "\n| "+head+" |")
	table, _, _ = strings.Cut(table, "\n\n")
	if !ok {
		t.Fatalf("there is no table of each %s", head)
	}
	var all []string
	for _, row := range strings.Split(table, "\n")[2:] {
		cell, _, _ := strings.Cut(strings.TrimPrefix(row, "| "), " |")
		for _, code := range regexp.MustCompile("`[^`]+`").FindAllString(cell, -1) {
			all = append(all, strings.Trim(code, "`"))
		}
	}
	return all
}

// keysOf returns the keys that an experiment's file may have in the place of KEY
// in text.
func keysOf(t *testing.T, text string) []string {
	t.Helper()
	_, err := experiment.Parse("x.yaml", []byte(strings.ReplaceAll(text, "KEY", "zzzzzzzzzzzzzzzz")))
	for line := range strings.Lines(fmt.Sprintln(err)) {
		if _, keys, ok := strings.Cut(line, "; the keys here are "); ok {
			return strings.Split(strings.TrimSpace(keys), ", ")
		}
	}
	t.Fatalf("%s: %v, want a mistake that names all keys", text, err)
	return nil
}

// TestLabDocsListEachKey compares the keys in docs/lab.md with those that a file may
// have.
func TestLabDocsListEachKey(t *testing.T) {
	t.Parallel()
	docs := labDocs(t)
	told := firstColumn(t, docs, "key")
	var want []string
	for _, place := range []struct{ parent, text string }{
		{"", "KEY: 1"}, {"service.", "service: {KEY: 1}"}, {"service.limits.", "service: {limits: {KEY: 1}}"},
	} {
		for _, key := range keysOf(t, place.text) {
			if key != "service" && key != "limits" { // keys that only contain others
				want = append(want, place.parent+key)
			}
		}
	}
	slices.Sort(told)
	slices.Sort(want)
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("the keys of a file and of docs/lab.md (-want +got):\n%s", diff)
	}
	for _, key := range keysOf(t, "include: [{KEY: 1}]") {
		if !strings.Contains(docs, "`"+key+"`") {
			t.Errorf("docs/lab.md does not say what the %s of include is", key)
		}
	}
}

// TestLabDocsDescribeEachLoadSetting checks that docs/lab.md describes each setting of a load whose
// name differs from the flag of weir load. For the others it refers to the flags.
func TestLabDocsDescribeEachLoadSetting(t *testing.T) {
	t.Parallel()
	docs := labDocs(t)
	flags := map[string]bool{}
	for _, flag := range loadFlags(t) {
		flags[strings.ReplaceAll(flag.Name, "-", "_")] = true
	}
	for _, f := range new(settings.Settings).Fields() {
		if !flags[f.Name] && !strings.Contains(docs, "`"+f.Name+"`") {
			t.Errorf("docs/lab.md does not say what %s of a load is, which weir load has no flag of", f.Name)
		}
	}
}

// TestLabDocsExperimentsAreValid parses the experiment in docs/lab.md, and checks that the
// page lists all built-in experiments.
func TestLabDocsExperimentsAreValid(t *testing.T) {
	t.Parallel()
	docs := labDocs(t)
	blocks := fenced(docs, "yaml")
	if len(blocks) == 0 {
		t.Error("docs/lab.md shows no experiment")
	}
	for _, block := range blocks {
		if _, err := experiment.Parse("docs/lab.md", []byte(block)); err != nil {
			t.Errorf("%v in\n%s", err, block)
		}
	}
	var told []string
	for _, name := range firstColumn(t, docs, "experiment") {
		name, _, _ = strings.Cut(name, " ") // log-cost -- CMD
		told = append(told, name)
	}
	slices.Sort(told)
	if diff := cmp.Diff(experiments.Names(), told); diff != "" {
		t.Errorf("the experiments and those of docs/lab.md (-want +got):\n%s", diff)
	}
}
