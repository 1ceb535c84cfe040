package send_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/weirhq/weir/log/logvet/send"
)

// userModule returns the folder of a module with the packages of testdata. It
// requires package log in the same way as a user's module.
func userModule(t *testing.T) string {
	t.Helper()
	log, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata")); err != nil {
		t.Fatal(err)
	}
	const require = "module example.org/user\n\ngo 1.23.0\n\nrequire github.com/weirhq/weir/log v0.1.0\n\n"
	goMod := require + fmt.Sprintf("replace github.com/weirhq/weir/log => %s\n", log)
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(goMod), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestAnalyzerFindsMisusedEvents(t *testing.T) {
	analysistest.Run(t, userModule(t), send.Analyzer, "./...")
}

// TestCommandFindsMisusedEvents runs the command as a user does.
func TestCommandFindsMisusedEvents(t *testing.T) {
	tool := filepath.Join(t.TempDir(), "logvet")
	if out, err := exec.Command("go", "build", "-o", tool, "..").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	for _, c := range []struct {
		args []string
		exit int
	}{
		{[]string{tool, "./..."}, 3},
		{[]string{"go", "vet", "-vettool=" + tool, "./..."}, 1},
	} {
		cmd := exec.Command(c.args[0], c.args[1:]...)
		cmd.Dir = userModule(t)
		cmd.Env = append(os.Environ(), "GOWORK=off")
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != c.exit {
			t.Errorf("%q: got %v, want exit code %d\n%s", c.args, err, c.exit, out)
		}
		for _, want := range []string{"event is lost: it has no Send",
			"call of Int on an event after its Send: it is ignored"} {
			if !strings.Contains(string(out), want) {
				t.Errorf("%q: no %q in\n%s", c.args, want, out)
			}
		}
	}
}
