package peer

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// GRPCPython returns the program that uses grpcio, which is grpc-core. The first test that needs it
// installs it with pip into a folder in the user's cache. Without Python and its package venv, the
// test is skipped.
func GRPCPython(t testing.TB) GRPC {
	t.Helper()
	if out, err := exec.Command("python3", "-c", "import ensurepip, venv").CombinedOutput(); err != nil {
		t.Skipf("needs python3 with venv: %v\n%s", err, out)
	}
	module := moduleFolder(t)
	source := filepath.Join(module, "grpc-python")
	folder := cached(t, "grpc-python-"+version(t, module, "./grpc-python"), func(built string) {
		for _, args := range [][]string{
			{"python3", "-m", "venv", built},
			{filepath.Join(built, "bin", "python"), "-m", "pip", "install", "--quiet", "--no-deps", "--only-binary=:all:",
				"--requirement", filepath.Join(source, "requirements.txt")},
		} {
			if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
				t.Fatalf("%v: %v\n%s", args, err, out)
			}
		}
	})
	return GRPC{filepath.Join(folder, "bin", "python"), filepath.Join(source, "main.py")}
}
