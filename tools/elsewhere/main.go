// Command elsewhere checks the types of packages for another operating system:
//
//	elsewhere [-tests] [-tags TAGS] SYSTEM/ARCHITECTURE FOLDER...
//
// It checks all packages in each folder. The types of the standard library and of dependencies are read from their
// sources, without the bodies of functions, so that nothing is compiled: a build for a system that Go's cache does not
// have takes a minute.
package main

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	var config packages.Config
	flag.BoolVar(&config.Tests, "tests", false, "check the tests, too")
	tags := flag.String("tags", "", "build with these `tags`")
	flag.Parse()
	if flag.NArg() < 2 {
		fmt.Fprintln(os.Stderr, "usage: elsewhere [-tests] [-tags TAGS] SYSTEM/ARCHITECTURE FOLDER...")
		os.Exit(2)
	}
	system, architecture, _ := strings.Cut(flag.Arg(0), "/")
	config.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+architecture, "CGO_ENABLED=0")
	config.BuildFlags = []string{"-tags=" + *tags}
	failed := false
	for _, folder := range flag.Args()[1:] {
		for _, mistake := range check(config, folder) {
			fmt.Fprintf(os.Stderr, "%s: %s\n", flag.Arg(0), mistake)
			failed = true
		}
	}
	if failed {
		os.Exit(1)
	}
}

// check returns the mistakes in the packages below a folder.
func check(config packages.Config, folder string) (mistakes []string) {
	root, err := os.Getwd()
	if err != nil {
		return []string{err.Error()}
	}
	config.Mode = packages.LoadAllSyntax
	config.Dir = folder
	config.ParseFile = func(files *token.FileSet, name string, text []byte) (*ast.File, error) {
		file, err := parser.ParseFile(files, name, text, parser.SkipObjectResolution)
		// The main package of a test is a file of Go's cache, whose name has no ending.
		if file != nil && !strings.HasPrefix(name, root) && strings.HasSuffix(name, ".go") {
			withoutBodies(file)
		}
		return file, err
	}
	loaded, err := packages.Load(&config, "./...")
	if err != nil {
		return []string{err.Error()}
	}
	if len(loaded) == 0 {
		return []string{"no packages in " + folder}
	}
	for _, p := range loaded {
		for _, e := range p.Errors {
			mistakes = append(mistakes, e.Error())
		}
	}
	return mistakes
}

// withoutBodies makes each function of a file external. The mistakes that follow, such as unused imports, are not
// reported, because they are in dependencies.
func withoutBodies(file *ast.File) {
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			f.Body = nil
		}
	}
}
