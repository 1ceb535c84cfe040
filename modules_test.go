package weir_test

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"

	"github.com/weirhq/weir/internal/testkit"
)

// nextRelease is the version in which the modules of this repository require each
// other. docs/releasing.md describes when it changes.
const nextRelease = "v0.1.0"

// proxyOfThisTree writes the repository's modules, as they would be released, into a
// folder that the go command can use as a module proxy. It returns the environment to
// use it. Other modules come from the local cache, where the build of this package has
// put them.
func proxyOfThisTree(t *testing.T) []string {
	t.Helper()
	proxy := t.TempDir()
	for _, dir := range []string{".", "log", "log/natssink", "log/otlpsink", "router"} {
		writeModule(t, proxy, module.Version{Path: path.Join(modulePath, dir), Version: nextRelease}, dir)
	}
	cache, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	local := "file://" + filepath.ToSlash(filepath.Join(strings.TrimSpace(string(cache)), "cache", "download"))
	return append(os.Environ(),
		"GOWORK=off", "GOFLAGS=-modcacherw -mod=mod", "GONOSUMDB=*",
		"GOMODCACHE="+t.TempDir(), "GOPROXY=file://"+filepath.ToSlash(proxy)+","+local+","+os.Getenv("GOPROXY"),
		"GONOPROXY=none", "GOPRIVATE=")
}

// writeModule adds the module in dir to a module proxy in the layout that
// https://go.dev/ref/mod#goproxy-protocol describes.
func writeModule(t *testing.T, proxy string, m module.Version, dir string) {
	t.Helper()
	versions := filepath.Join(proxy, filepath.FromSlash(m.Path), "@v")
	if err := os.MkdirAll(versions, 0o755); err != nil {
		t.Fatal(err)
	}
	var archive bytes.Buffer
	if err := zip.Create(&archive, m, moduleFiles(t, dir)); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{
		m.Version + ".zip":  archive.Bytes(),
		m.Version + ".mod":  text,
		m.Version + ".info": []byte(`{"Version":"` + m.Version + `"}`),
		"list":              []byte(m.Version + "\n"),
	} {
		if err := os.WriteFile(filepath.Join(versions, name), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// moduleFiles returns the files of the module in dir, without those of modules below it. It leaves out folders that git
// ignores: make test may be writing them.
func moduleFiles(t *testing.T, dir string) []zip.File {
	t.Helper()
	var files []zip.File
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case !entry.IsDir():
			rel, err := filepath.Rel(dir, name)
			files = append(files, moduleFile{name, filepath.ToSlash(rel)})
			return err
		case name == dir:
			return nil
		}
		if _, err := os.Stat(filepath.Join(name, "go.mod")); err == nil || entry.Name() == "node_modules" ||
			entry.Name()[0] == '.' {
			return filepath.SkipDir
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// A moduleFile is a file of a module, with its path in the module.
type moduleFile struct{ name, path string }

func (f moduleFile) Path() string                 { return f.path }
func (f moduleFile) Lstat() (fs.FileInfo, error)  { return os.Lstat(f.name) }
func (f moduleFile) Open() (io.ReadCloser, error) { return os.Open(f.name) }

// goCommand runs the go command in dir and returns its output.
func goCommand(t *testing.T, env []string, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir, cmd.Env = dir, env
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("go %s: %v\n%s%s", strings.Join(args, " "), err, &out, &errs)
	}
	return out.String()
}

// TestReleasedModulesCanBeUsed uses the modules of this repository as their users do.
func TestReleasedModulesCanBeUsed(t *testing.T) {
	env := proxyOfThisTree(t)
	t.Run("libraries", func(t *testing.T) { bringNothingElse(t, env) })
	t.Run("install", func(t *testing.T) { installs(t, env) })
}

// bringNothingElse checks that a module that imports only a library gets no other module: its dependencies and its
// go directive stay unchanged.
func bringNothingElse(t *testing.T, env []string) {
	for library, use := range map[string]string{
		"log":    `logger := log.New(os.Stdout, log.Options{}); logger.Info("x").Send()`,
		"router": `_ = router.New(); _ = os.Args`,
	} {
		t.Run(library, func(t *testing.T) {
			dir := t.TempDir()
			user := "module example.com/user\n\ngo " + goMod(t, library).Go.Version + "\n\n" +
				"require " + modulePath + "/" + library + " " + nextRelease + "\n"
			testkit.WriteFile(t, filepath.Join(dir, "go.mod"), user)
			testkit.WriteFile(t, filepath.Join(dir, "main.go"), "package main\n\nimport (\n\t\"os\"\n\n\t\""+modulePath+"/"+library+
				"\"\n)\n\nfunc main() { "+use+" }\n")
			goCommand(t, env, dir, "mod", "tidy")
			goCommand(t, env, dir, "build", "-o", os.DevNull, ".")
			if got, want := goCommand(t, env, dir, "list", "-m", "all"), "example.com/user\n"+modulePath+"/"+library+
				" "+nextRelease+"\n"; got != want {
				t.Errorf("go list -m all: got\n%swant\n%s", got, want)
			}
			if got, err := os.ReadFile(filepath.Join(dir, "go.mod")); err != nil || string(got) != user {
				t.Errorf("go mod tidy: got\n%swant\n%s", got, user)
			}
		})
	}
}

// goMod returns the go.mod of the module in dir.
func goMod(t *testing.T, dir string) *modfile.File {
	t.Helper()
	name := filepath.Join(filepath.FromSlash(dir), "go.mod")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := modfile.Parse(name, text, nil)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// installs checks that go install accepts the released version. It rejects a module with a replace directive. With -n,
// it resolves and loads everything and builds nothing.
func installs(t *testing.T, env []string) {
	out := goCommand(t, env, t.TempDir(), "install", "-n", modulePath+"/cmd/weir@"+nextRelease)
	if out != "" {
		t.Errorf("got output %q, want none", out)
	}
}

// Every requirement of a module of this repository has the version nextRelease.
func TestModulesRequireTheNextRelease(t *testing.T) {
	for _, dir := range []string{".", "log/logr", "log/natssink", "log/otellog", "log/otlpsink", "bench"} {
		for _, r := range goMod(t, dir).Require {
			if strings.HasPrefix(r.Mod.Path, modulePath+"/") && r.Mod.Version != nextRelease {
				t.Errorf("%s requires %s, want %s", dir, r.Mod, nextRelease)
			}
		}
	}
}

// router has a copy of internal/nearest, because its module requires no other module.
func TestNearestIsOneCode(t *testing.T) {
	ours, err := os.ReadFile("internal/nearest/nearest.go")
	if err != nil {
		t.Fatal(err)
	}
	copied, err := os.ReadFile("router/internal/nearest/nearest.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(ours, copied) {
		t.Error("router/internal/nearest/nearest.go differs from internal/nearest/nearest.go: copy one over the other")
	}
}

// The README contains the number of modules that the command is built from.
func TestReadmeCountsModules(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	list := goCommand(t, nil, ".", "list", "-deps", "-f", "{{with .Module}}{{if .Version}}{{.Path}}{{end}}{{end}}",
		"./cmd/weir")
	modules := map[string]bool{}
	for _, path := range strings.Fields(list) {
		if !strings.HasPrefix(path, modulePath) {
			modules[path] = true
		}
	}
	if want := fmt.Sprintf("downloads %d modules", len(modules)); !strings.Contains(string(text), want) {
		t.Errorf("README.md does not contain %q", want)
	}
}
