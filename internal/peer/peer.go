// Package peer builds the servers of other projects that tests need: the programs of the
// module in the folder peers.
package peer

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	gomodule "golang.org/x/mod/module"
)

// Program returns the path of an executable of a package, which is a tool or a folder of the
// module peers, such as "./name". The folder may be a module of its own. The first test that
// needs the program builds it into a folder in the user's cache, where later runs find it.
func Program(t testing.TB, pkg string) string {
	t.Helper()
	module := moduleFolder(t)
	name, _, _ := gomodule.SplitPathVersion(pkg)
	if own := filepath.Join(module, pkg); isModule(own) {
		module, pkg = own, "."
	}
	return cached(t, path.Base(name)+"-"+version(t, module, pkg), func(built string) {
		cmd := exec.Command("go", "build", "-C", module, "-o", built, pkg)
		cmd.Env = append(os.Environ(), "GOWORK=off")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("go build %s: %v\n%s", pkg, err, out)
		}
	})
}

// cached returns the path of a file or a folder in the user's cache. build makes it if it does not exist. Other tests,
// of this process and of others, may need it at the same time: one of them builds it and the others wait.
func cached(t testing.TB, name string, build func(built string)) string {
	t.Helper()
	file := filepath.Join(cacheFolder(t), name)
	if _, err := os.Stat(file); err == nil {
		return file
	}
	lock := openLock(t, file)
	defer lock.Close() // which releases it
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file); err == nil {
		return file
	}
	built := file + ".new"
	if err := os.RemoveAll(built); err != nil {
		t.Fatal(err)
	}
	build(built)
	if err := os.Rename(built, file); err != nil {
		t.Fatal(err)
	}
	return file
}

// cacheFolder returns a folder for files that tests share.
func cacheFolder(t testing.TB) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(cache, "weir-peers")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	return folder
}

// openLock opens a file that processes can lock in place of another file.
func openLock(t testing.TB, file string) *os.File {
	t.Helper()
	lock, err := os.OpenFile(file+".lock", os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	return lock
}

// moduleFolder returns the folder of the module peers. A test runs in the folder of its
// package.
func moduleFolder(t testing.TB) string {
	t.Helper()
	folder, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if module := filepath.Join(folder, "peers"); isModule(module) {
			return module
		}
		if folder == filepath.Dir(folder) {
			t.Fatal("no folder above the test contains peers/go.mod")
		}
		folder = filepath.Dir(folder)
	}
}

// isModule reports whether a folder is that of a module.
func isModule(folder string) bool {
	_, err := os.Stat(filepath.Join(folder, "go.mod"))
	return err == nil
}

// version returns a text that differs if the program does: a hash of the module's versions,
// of the version of Go, and of the source files if the package is in the module.
func version(t testing.TB, module, pkg string) string {
	t.Helper()
	hash := sha256.New()
	fmt.Fprintln(hash, runtime.Version(), pkg)
	files := []string{filepath.Join(module, "go.mod"), filepath.Join(module, "go.sum")}
	own, err := filepath.Glob(filepath.Join(module, pkg, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(files, own...) {
		src, err := os.ReadFile(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		rel, err := filepath.Rel(module, name) // clones share the program
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(hash, rel, len(src))
		hash.Write(src)
	}
	return fmt.Sprintf("%x", hash.Sum(nil)[:8])
}
