package alp_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// alpModule is a module that requires only alp. It is separate so that alp is built with the versions in its own
// go.mod, and so that these do not affect the comparison.
const alpModule = `module alp

go 1.26

require github.com/tkuchiki/alp v1.0.21
`

// buildAlp returns the path of alp's executable.
func buildAlp(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(alpModule), 0o644); err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-mod=mod", "-o", "alp", "github.com/tkuchiki/alp/cmd/alp")
	build.Dir = dir
	build.Env = append(os.Environ(), "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v: %s", build, err, out)
	}
	return filepath.Join(dir, "alp")
}

// buildWeir returns the path of the weir executable, built from this tree.
func buildWeir(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "weir")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", file, "./cmd/weir")
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v: %s", build, err, out)
	}
	return file
}
