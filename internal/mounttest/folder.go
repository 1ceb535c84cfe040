// Package mounttest has folders for tests whose files change together, as a ConfigMap or a Secret
// does in the folder where it is mounted.
package mounttest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// A Folder has links to files in the folder ..data, which is itself a link to the folder with the
// present files.
type Folder struct {
	Path string

	t      testing.TB
	states int
}

// New returns a folder without files, which the end of the test removes.
func New(t testing.TB) *Folder { return &Folder{Path: t.TempDir(), t: t} }

// At returns the path of a file.
func (f *Folder) At(name string) string { return filepath.Join(f.Path, name) }

// Set replaces all files, in the steps of a kubelet: it writes the files to a new folder, replaces the
// link ..data by a rename, links new files, and removes the links of others and the earlier folder.
func (f *Folder) Set(files map[string]string) {
	f.t.Helper()
	f.states++
	folder := fmt.Sprintf("..%d", f.states)
	f.must(os.Mkdir(f.At(folder), 0o755))
	for name, content := range files {
		f.must(os.WriteFile(filepath.Join(f.At(folder), name), []byte(content), 0o644))
	}
	f.must(os.Symlink(folder, f.At("..data_tmp")))
	f.must(os.Rename(f.At("..data_tmp"), f.At("..data")))
	for name := range files {
		if err := os.Symlink(filepath.Join("..data", name), f.At(name)); err != nil && !os.IsExist(err) {
			f.must(err)
		}
	}
	links, err := filepath.Glob(f.At("[^.]*"))
	f.must(err)
	for _, link := range links {
		if _, ok := files[filepath.Base(link)]; !ok {
			f.must(os.Remove(link))
		}
	}
	f.must(os.RemoveAll(f.At(fmt.Sprintf("..%d", f.states-1))))
}

// Break removes the link ..data, so that no file exists until the next Set.
func (f *Folder) Break() {
	f.t.Helper()
	f.must(os.Remove(f.At("..data")))
}

func (f *Folder) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}
