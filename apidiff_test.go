package weir_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/testkit"
)

// released is the tree of a release: two modules, with a package and a command.
var released = map[string]string{
	"go.mod":     "module example.com/m\n\ngo 1.26\n",
	"p/p.go":     "package p\n\nfunc Kept() {}\n",
	"cmd/c.go":   "package main\n\nfunc Gone() {}\n\nfunc main() {}\n",
	"sub/go.mod": "module example.com/m/sub\n\ngo 1.26\n",
	"sub/s.go":   "package sub\n\ntype T struct{}\n\nfunc (*T) Gone() {}\n",
}

// TestAPIDiffFindsIncompatibleChanges compares a tree with its release, by the script of make apidiff, in a git
// repository of its own.
func TestAPIDiffFindsIncompatibleChanges(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir := t.TempDir()
	script, err := os.ReadFile(".ci/apidiff")
	if err != nil {
		t.Fatal(err)
	}
	testkit.WriteFiles(t, dir, released)
	testkit.WriteFiles(t, dir, map[string]string{".ci/apidiff": string(script)})
	git(t, dir, "init", "-q")
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-q", "-m", "release")

	out, errs, code := apidiff(t, dir, "v0.1.0")
	want := ".: there is no tag vX.Y.Z: nothing to compare yet\n" +
		"sub: there is no tag sub/vX.Y.Z: nothing to compare yet\n"
	if out != want || errs != "" || code != 0 {
		t.Errorf("without tags: %d, %s\ngot\n%swant\n%s", code, errs, out, want)
	}

	for _, tag := range []string{"v0.1.0", "v0.1.1-rc.1", "sub/v0.1.0", "sub/v0.0.9"} {
		git(t, dir, "tag", tag)
	}
	testkit.WriteFiles(t, dir, map[string]string{
		"p/p.go":   "package p\n\nfunc Kept() {}\n\nfunc Added() {}\n",
		"q/q.go":   "package q\n",
		"cmd/c.go": "package main\n\nfunc main() {}\n",
		"sub/s.go": "package sub\n\ntype T struct{}\n",
	})
	changes := `.: 2 changes since v0.1.0
  example.com/m/p
    compatible: Added: added
  example.com/m/q
    compatible: package: added
sub: 1 changes since sub/v0.1.0
  example.com/m/sub
    incompatible: (*T).Gone: removed
`
	for _, c := range []struct {
		version, errs string
		code          int
	}{
		{"v0.1.1", "apidiff: sub: v0.1.1 must not have incompatible changes since sub/v0.1.0: release a higher minor version, or keep the API\n", 1},
		{"v0.2.0", "", 0},
	} {
		if out, errs, code := apidiff(t, dir, c.version); out != changes || errs != c.errs || code != c.code {
			t.Errorf("%s: %d, %s\ngot\n%swant %d, %s\n%s", c.version, code, errs, out, c.code, c.errs, changes)
		}
	}

	git(t, dir, "tag", "-f", "sub/v1.0.0", "HEAD")
	git(t, dir, "tag", "-d", "sub/v0.1.0", "sub/v0.0.9")
	for version, want := range map[string]int{"v1.1.0": 1, "v2.0.0": 0} {
		if _, errs, code := apidiff(t, dir, version); code != want || code == 1 != strings.Contains(errs, "higher major version") {
			t.Errorf("%s: %d, %s; want %d", version, code, errs, want)
		}
	}
}

// downloading matches the lines that the go command prints for modules that are not in its cache.
var downloading = regexp.MustCompile(`(?m)^go: downloading .*\n`)

// apidiff runs the script in the repository dir for a next release.
func apidiff(t *testing.T, dir, version string) (out, errs string, code int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", ".ci/apidiff", ".", "sub")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "VERSION="+version)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
		t.Fatal(err)
	}
	if strings.Contains(stderr.String(), "golang.org/x/exp/cmd/apidiff@") {
		t.Skip("apidiff cannot be downloaded:", &stderr)
	}
	return stdout.String(), downloading.ReplaceAllString(stderr.String(), ""), cmd.ProcessState.ExitCode()
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=test", "-c", "user.email=test@example.com",
		"-c", "commit.gpgsign=false"}, args...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}
