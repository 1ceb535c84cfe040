package weir_test

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	cycleFiles = 5  // packages with fewer files are not checked
	cycleShare = 30 // percent of a package's files that the largest cycle may have
)

// cycleLimits lists the packages with another limit than cycleShare, in percent.
var cycleLimits = map[string]struct {
	percent int
	why     string
}{
	"log": {percent: 40, why: "one type, Event, whose methods fill the files"},
}

// TestFileCycles limits the largest set of a package's files that depend on each
// other in a cycle. A reader can take the files outside of it one by one.
func TestFileCycles(t *testing.T) {
	checked := 0
	for _, p := range listPackages(t) {
		name := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, modulePath), "/")
		if len(p.GoFiles) < cycleFiles {
			continue
		}
		checked++
		var largest []string
		for _, c := range fileCycles(t, p) {
			if len(c) > len(largest) {
				largest = c
			}
		}
		t.Logf("%-20s %2d of %2d files in the largest cycle: %v", name, len(largest), len(p.GoFiles), largest)
		limit := cycleShare
		other, isListed := cycleLimits[name]
		if isListed {
			limit = other.percent
		}
		share := 100 * len(largest)
		if share > limit*len(p.GoFiles) {
			t.Errorf("%s: %d of %d files depend on each other in a cycle, want at most %d%%: %v",
				name, len(largest), len(p.GoFiles), limit, largest)
		}
		if isListed && share <= cycleShare*len(p.GoFiles) {
			t.Errorf("%s: %d of %d files depend on each other in a cycle: remove its row",
				name, len(largest), len(p.GoFiles))
		}
	}
	if checked == 0 {
		t.Error("no package has been checked")
	}
}

type listedPackage struct {
	Dir        string
	ImportPath string
	Export     string // file of export data
	GoFiles    []string
	ImportMap  map[string]string
	DepOnly    bool
	exports    map[string]string // file of export data by import path, of all packages
}

// listPackages returns the packages of the modules in go.work that have several.
func listPackages(t *testing.T) []listedPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-export", "-deps",
		"-json=Dir,ImportPath,Export,GoFiles,ImportMap,DepOnly", "./...", "./log/...", "./log/logvet/...", "./log/natssink/...",
		"./log/otlpsink/...", "./router/...")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var own []listedPackage
	exports := map[string]string{}
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listedPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath] = p.Export
		if !p.DepOnly {
			p.exports = exports
			own = append(own, p)
		}
	}
	return own
}

// fileCycles returns the strongly connected components with more than one file.
// File a depends on file b if a uses a package-level name, a method or a field
// that b declares.
func fileCycles(t *testing.T, p listedPackage) [][]string {
	t.Helper()
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	lookup := func(path string) (io.ReadCloser, error) {
		if mapped, ok := p.ImportMap[path]; ok {
			path = mapped
		}
		return os.Open(p.exports[path])
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	conf := types.Config{Importer: importer.ForCompiler(fset, "gc", lookup)}
	if _, err := conf.Check(p.ImportPath, fset, files, info); err != nil {
		t.Fatal(err)
	}
	fileOf := func(at token.Pos) string { return filepath.Base(fset.Position(at).Filename) }
	uses := map[string][]string{}
	for id, obj := range info.Uses {
		if obj.Pkg() == nil || obj.Pkg().Path() != p.ImportPath || !obj.Pos().IsValid() {
			continue
		}
		if from, to := fileOf(id.Pos()), fileOf(obj.Pos()); from != to && !slices.Contains(uses[from], to) {
			uses[from] = append(uses[from], to)
		}
	}
	return components(p.GoFiles, uses)
}

// components returns the strongly connected components of more than one node
// (Tarjan, "Depth-first search and linear graph algorithms", 1972).
func components(nodes []string, next map[string][]string) (found [][]string) {
	index, low := map[string]int{}, map[string]int{}
	var stack []string
	var visit func(string)
	visit = func(n string) {
		index[n] = len(index) + 1
		low[n] = index[n]
		stack = append(stack, n)
		for _, m := range next[n] {
			if index[m] == 0 {
				visit(m)
				low[n] = min(low[n], low[m])
			} else if slices.Contains(stack, m) {
				low[n] = min(low[n], index[m])
			}
		}
		if low[n] != index[n] {
			return
		}
		at := slices.Index(stack, n)
		if part := slices.Clone(stack[at:]); len(part) > 1 {
			slices.Sort(part)
			found = append(found, part)
		}
		stack = stack[:at]
	}
	for _, n := range nodes {
		if index[n] == 0 {
			visit(n)
		}
	}
	return found
}

func TestComponentsFindsCycles(t *testing.T) {
	next := map[string][]string{"a": {"b"}, "b": {"c", "d"}, "c": {"a"}, "d": {"e"}, "f": {"f", "a"}}
	got := components([]string{"f", "a", "b", "c", "d", "e"}, next)
	if len(got) != 1 || !slices.Equal(got[0], []string{"a", "b", "c"}) {
		t.Errorf("components are %v, want a, b and c", got)
	}
}
