package weir_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// functionLines is the largest number of lines of a function, from the word func
// to the closing brace.
const functionLines = 60

// TestFunctionsAreShort limits the length of functions outside of tests, with the
// functions that they contain.
func TestFunctionsAreShort(t *testing.T) {
	checked := 0
	for _, path := range textFiles(t) {
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			continue
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
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
	}
	if checked == 0 {
		t.Error("no function has been checked")
	}
}
