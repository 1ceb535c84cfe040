package weir_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"path/filepath"
	"testing"
)

// TestExportedTypesHaveExamples checks that each exported type of a library has an example whose output is compared.
func TestExportedTypesHaveExamples(t *testing.T) {
	for _, dir := range []string{"proxy", "limit"} {
		t.Run(dir, func(t *testing.T) {
			names, err := filepath.Glob(filepath.Join(dir, "*.go"))
			if err != nil {
				t.Fatal(err)
			}
			fset := token.NewFileSet()
			var files []*ast.File
			for _, name := range names {
				f, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
				if err != nil {
					t.Fatal(err)
				}
				files = append(files, f)
			}
			p, err := doc.NewFromFiles(fset, files, "github.com/weirhq/weir/"+dir)
			if err != nil {
				t.Fatal(err)
			}
			if len(p.Types) < 10 {
				t.Fatalf("only %d types were found", len(p.Types))
			}
			for _, typ := range p.Types {
				if len(typ.Examples) == 0 || typ.Examples[0].Output == "" {
					t.Errorf("%s has no example with an output", typ.Name)
				}
			}
		})
	}
}
