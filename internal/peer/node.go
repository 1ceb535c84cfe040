package peer

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// GRPCNode returns the program that uses @grpc/grpc-js. The first test that needs it installs
// it with npm into a folder in the user's cache. Without node or npm, the test is skipped.
func GRPCNode(t testing.TB) GRPC {
	t.Helper()
	for _, name := range []string{"node", "npm"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("needs %s: %v", name, err)
		}
	}
	module := moduleFolder(t)
	folder := cached(t, "grpc-js-"+version(t, module, "./grpc-js"), func(built string) {
		if err := os.Mkdir(built, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"package.json", "package-lock.json", "main.js"} {
			src, err := os.ReadFile(filepath.Join(module, "grpc-js", name))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(built, name), src, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts")
		cmd.Dir = built
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("npm ci could not install @grpc/grpc-js from the registry: %v\n%s", err, out)
		}
	})
	return GRPC{"node", filepath.Join(folder, "main.js")}
}
