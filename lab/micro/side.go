package micro

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/weirhq/weir/lab/internal/checkout"
)

// A side is one of two sources whose benchmarks are compared.
type side struct {
	*checkout.Sources        // patterns are relative to their folder
	name              string // differs from that of the other side
	temp              string // for its binaries and work tree
	binaries          []binary
}

// A binary is the test binary of a package.
type binary struct {
	file    string
	dir     string // the folder of the package, in which it runs
	pkg     string // its folder, relative to the root
	several bool   // the side has several binaries, so pkg is part of the benchmarks' names
}

// newSide finds a folder, or checks out a commit. temp does not exist yet.
func newSide(ctx context.Context, dir, what, temp string) (*side, error) {
	if err := os.Mkdir(temp, 0o700); err != nil {
		return nil, err
	}
	sources, err := checkout.New(ctx, dir, what, filepath.Join(temp, "tree"))
	if err != nil {
		return nil, err
	}
	return &side{Sources: sources, name: sources.Name, temp: temp}, nil
}

// build makes a binary of each package that has benchmarks.
func (s *side) build(ctx context.Context, patterns []string, progress func(string)) error {
	packages, err := s.list(ctx, patterns)
	if err != nil {
		return err
	}
	for _, p := range packages {
		if !p.hasBenchmarks() {
			continue
		}
		b := binary{file: filepath.Join(s.temp, fmt.Sprintf("%d.test", len(s.binaries))), dir: p.Dir}
		if b.pkg, err = filepath.Rel(s.Dir, p.Dir); err != nil {
			b.pkg = p.ImportPath
		}
		progress(fmt.Sprintf("go test -c %s (%s)", p.ImportPath, s.name))
		cmd := checkout.Command(ctx, s.Dir, "go", "test", "-c", "-o", b.file, p.ImportPath)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s does not build at %s: %w:\n%s", p.ImportPath, s.name, err, tail(out))
		}
		s.binaries = append(s.binaries, b)
	}
	if len(s.binaries) == 0 {
		return fmt.Errorf("%s has no benchmarks at %s: name packages whose tests have a func Benchmark",
			strings.Join(patterns, " "), s.name)
	}
	for i := range s.binaries {
		s.binaries[i].several = len(s.binaries) > 1
	}
	return nil
}

// A goPackage is a package in the output of go list.
type goPackage struct {
	Dir, ImportPath           string
	TestGoFiles, XTestGoFiles []string
}

// A PackagesError reports that go list does not find the packages.
type PackagesError struct{ err error }

func (e *PackagesError) Error() string { return e.err.Error() }
func (e *PackagesError) Unwrap() error { return e.err }

// list returns the packages that match patterns.
func (s *side) list(ctx context.Context, patterns []string) ([]goPackage, error) {
	cmd := checkout.Command(ctx, s.Dir, "go", append([]string{"list", "-json=Dir,ImportPath,TestGoFiles,XTestGoFiles", "--"},
		patterns...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, &PackagesError{fmt.Errorf("finding %s at %s: go list: %w:\n%s", strings.Join(patterns, " "), s.name,
			err, tail(stderr.Bytes()))}
	}
	var packages []goPackage
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		packages = append(packages, p)
	}
}

var benchmarkFunc = regexp.MustCompile(`(?m)^func Benchmark`)

// hasBenchmarks searches the package's tests for a benchmark, because linking
// the tests of many packages takes long. A file that cannot be read counts as
// one: the compiler will report it.
func (p goPackage) hasBenchmarks() bool {
	for _, files := range [][]string{p.TestGoFiles, p.XTestGoFiles} {
		for _, name := range files {
			text, err := os.ReadFile(filepath.Join(p.Dir, name))
			if err != nil || benchmarkFunc.Match(text) {
				return true
			}
		}
	}
	return false
}

// tail returns the end of an output, which contains the reason of a failure.
func tail(out []byte) string {
	const most = 4 << 10
	out = bytes.TrimSpace(out)
	if len(out) > most {
		out = append([]byte("…"), out[len(out)-most:]...)
	}
	return string(out)
}
