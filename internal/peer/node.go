package peer

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// GRPCNode returns the program that uses @grpc/grpc-js. Without node or npm, the test is skipped.
func GRPCNode(t testing.TB) GRPC {
	t.Helper()
	for _, name := range []string{"node", "npm"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("needs %s: %v", name, err)
		}
	}
	return GRPC{"node", filepath.Join(npmPackages(t, "grpc-js", "main.js"), "main.js")}
}

// AxeCore returns the script of axe-core, which finds faults of pages for people who cannot see them or use no mouse.
func AxeCore(t testing.TB) (script string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(npmPackages(t, "axe-core"), "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// npmPackages returns a folder of the user's cache with the packages that a folder of the module of peers names, and with
// its files. The first test that needs it installs them with npm.
func npmPackages(t testing.TB, name string, files ...string) (folder string) {
	t.Helper()
	module := moduleFolder(t)
	return cached(t, name+"-"+version(t, module, "./"+name), func(built string) {
		if err := os.Mkdir(built, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, file := range append([]string{"package.json", "package-lock.json"}, files...) {
			src, err := os.ReadFile(filepath.Join(module, name, file))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(built, file), src, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts")
		cmd.Dir = built
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("npm ci could not install %s from the registry (apt install npm): %v\n%s", name, err, out)
		}
	})
}
