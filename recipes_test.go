package weir_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// recipe returns the recipe with a title in docs/architecture.md.
func recipe(t *testing.T, title string) string {
	t.Helper()
	text, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(text), "\n### "+title+"\n")
	if !found {
		t.Fatalf("docs/architecture.md has no recipe %q", title)
	}
	recipe, _, _ := strings.Cut(after, "\n#")
	return recipe
}

// TestRecipeMakesAFeature follows the recipe for a feature of routes: it adds testdata/recipe/teapot as a folder of
// front/feature, and to each of the three files that the recipe names an import and a line. The test of that
// feature then checks a mistake in its key, requests through a front door, and the explanation of one. The files
// in the tree stay as they are: go test gets the changed ones as an overlay.
func TestRecipeMakesAFeature(t *testing.T) {
	text := recipe(t, "Add a feature of routes")
	const path = modulePath + "/front/feature/teapot"
	overlay := map[string]string{} // the files in the tree, and what replaces them
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("testdata/recipe/teapot/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		overlay[filepath.Join(root, "front/feature/teapot", filepath.Base(file))] = filepath.Join(root, file)
	}
	folder := t.TempDir()
	for file, line := range map[string]func(*ast.File) (after token.Pos, line string){
		"front/config/config.go": func(f *ast.File) (token.Pos, string) {
			route := declared(f, "Route").(*ast.TypeSpec).Type.(*ast.StructType)
			return route.Fields.Opening, "Teapot *teapot.Config"
		},
		"front/config/features.go": func(f *ast.File) (token.Pos, string) {
			body := declared(f, "featureKeys").(*ast.FuncDecl).Body.List
			return body[0].(*ast.ReturnStmt).Results[0].(*ast.CallExpr).Lparen,
				`teapot.Keys("routes.*.teapot", func(f filling) **teapot.Config { return &f.route.Teapot }),`
		},
		"front/features.go": func(f *ast.File) (token.Pos, string) {
			return declared(f, "stages").(*ast.ValueSpec).Values[0].(*ast.CompositeLit).Lbrace,
				"func(_ *features, c configured) (stage.Stage, error) { return teapot.Stage(c.Teapot, c.of) },"
		},
	} {
		if !strings.Contains(text, "`"+file+"`") {
			t.Errorf("the recipe does not name %s", file)
		}
		changed := filepath.Join(folder, strings.ReplaceAll(file, "/", "_"))
		if err := os.WriteFile(changed, withLine(t, file, path, line), 0o600); err != nil {
			t.Fatal(err)
		}
		overlay[filepath.Join(root, file)] = changed
	}
	for _, named := range regexp.MustCompile("`(front/[a-z/]+\\.go)`").FindAllStringSubmatch(text, -1) {
		if overlay[filepath.Join(root, named[1])] == "" {
			t.Errorf("the recipe names %s, which needs no change", named[1])
		}
	}
	written, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(folder, "overlay.json")
	if err := os.WriteFile(list, written, 0o600); err != nil {
		t.Fatal(err)
	}
	// go test itself and go vet cannot change to a folder that is only in the overlay.
	binary := filepath.Join(folder, "teapot.test")
	if out, err := exec.Command("go", "test", "-c", "-vet=off", "-overlay", list, "-o", binary, path).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	follow := exec.Command(binary, "-test.v")
	follow.Dir = folder
	if out, err := follow.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: TestTeapotRespondsAndIsExplained") {
		t.Errorf("%v\n%s", err, out)
	}
}

// declared returns the declaration of a name in a file.
func declared(f *ast.File, name string) (found ast.Node) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch d := n.(type) {
		case *ast.TypeSpec:
			if d.Name.Name == name {
				found = d
			}
		case *ast.ValueSpec:
			if d.Names[0].Name == name {
				found = d
			}
		case *ast.FuncDecl:
			if d.Name.Name == name {
				found = d
			}
		}
		return found == nil
	})
	return found
}

// withLine returns the text of a file with an import and a line.
func withLine(t *testing.T, file, path string, line func(*ast.File) (after token.Pos, line string)) []byte {
	t.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, src, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	after, added := line(f)
	at := fset.Position(after).Offset + 1
	src = slices.Insert(src, at, []byte("\n"+added+"\n")...)
	return []byte(strings.Replace(string(src), "import (\n", "import (\n\t\""+path+"\"\n", 1))
}

// TestFeaturesFollowTheRecipe checks each folder of front/feature: a package comment in a file of its name, which
// package front uses, and keys, if it has some, that package front/config asks for.
func TestFeaturesFollowTheRecipe(t *testing.T) {
	folders, err := os.ReadDir("front/feature")
	if err != nil || len(folders) == 0 {
		t.Fatal(folders, err)
	}
	imports := func(files string) (all []string) {
		t.Helper()
		names, err := filepath.Glob(files)
		if err != nil || len(names) == 0 {
			t.Fatal(files, names, err)
		}
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
			if err != nil {
				t.Fatal(err)
			}
			for _, spec := range f.Imports {
				all = append(all, strings.Trim(spec.Path.Value, `"`))
			}
		}
		return all
	}
	used, asked := imports("front/*.go"), imports("front/config/features.go")
	for _, folder := range folders {
		name := folder.Name()
		path := modulePath + "/front/feature/" + name
		file := filepath.Join("front/feature", name, name+".go")
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			t.Error(err)
			continue
		}
		if !strings.HasPrefix(f.Doc.Text(), "Package "+name+" ") {
			t.Errorf("%s has no package comment", file)
		}
		if !slices.Contains(used, path) {
			t.Errorf("package front does not use the feature %s", name)
		}
		_, err = os.Stat(filepath.Join("front/feature", name, "keys.go"))
		if has, read := err == nil, slices.Contains(asked, path); has != read {
			t.Errorf("feature %s has a file of keys: %v; front/config/features.go asks for its keys: %v", name, has, read)
		}
	}
}
