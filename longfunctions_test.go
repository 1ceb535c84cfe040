package weir_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// functionLines is the largest number of lines of a function, from the word func
// to the closing brace.
const functionLines = 60

// TestFunctionLength limits the length of functions outside of tests, with the
// functions that they contain.
func TestFunctionLength(t *testing.T) {
	checked := 0
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		name := entry.Name()
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (name == "testdata" || name == "node_modules" || len(name) > 1 && name[0] == '.'):
			return filepath.SkipDir
		case entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			checked++
			lines := 1 + fset.Position(f.End()).Line - fset.Position(f.Pos()).Line
			if lines > functionLines {
				t.Errorf("%s: %s has %d lines, want at most %d", fset.Position(f.Pos()), f.Name.Name, lines, functionLines)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if checked == 0 {
		t.Error("no function has been checked")
	}
}
