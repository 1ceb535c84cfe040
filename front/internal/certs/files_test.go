package certs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirhq/weir/front/internal/certs"
	"github.com/weirhq/weir/internal/certtest"
)

// current returns the names of the certificates of files.
func current(f *certs.Files) (names []string) {
	for _, c := range f.All() {
		names = append(names, c.Leaf.Subject.CommonName)
	}
	return names
}

func TestRefreshReplacesChangedPairs(t *testing.T) {
	folder, root := t.TempDir(), certtest.Root(t, "root")
	write := func(file, name string) certs.Pair {
		cert, key := root.Issue(t, certtest.Options{Name: name}).Write(t, folder, file)
		return certs.Pair{Cert: cert, Key: key}
	}
	a, b := write("a", "a1"), write("b", "b1")
	files, err := certs.Open([]certs.Pair{a, b})
	if err != nil {
		t.Fatal(err)
	}
	// refresh calls Refresh twice, because files settle between two calls.
	refresh := func() []certs.Change {
		t.Helper()
		next, early := files.Refresh()
		if early != nil {
			t.Errorf("files that may be half written were read: %+v", early)
		}
		var changes []certs.Change
		files, changes = next.Refresh()
		return changes
	}
	if changes := refresh(); changes != nil {
		t.Errorf("unchanged files: %+v", changes)
	}

	write("b", "b2")
	if changes := refresh(); len(changes) != 1 || changes[0].Pair != b || changes[0].Err != nil {
		t.Errorf("changes = %+v", changes)
	}
	if got := strings.Join(current(files), " "); got != "a1 b2" {
		t.Errorf("certificates: %s", got)
	}

	// Only one of the two files is new.
	next := root.Issue(t, certtest.Options{Name: "a2"})
	if err := os.WriteFile(a.Cert, certtest.PEM(next.Cert), 0o600); err != nil {
		t.Fatal(err)
	}
	if changes := refresh(); len(changes) != 1 || changes[0].Err == nil || changes[0].Cert != nil {
		t.Errorf("half a pair: changes = %+v", changes)
	}
	if got := strings.Join(current(files), " "); got != "a1 b2" {
		t.Errorf("after half a pair: %s", got)
	}
	if changes := refresh(); changes != nil {
		t.Errorf("the same mistake is reported again: %+v", changes)
	}
	if err := os.WriteFile(a.Key, next.KeyPEM(t), 0o600); err != nil {
		t.Fatal(err)
	}
	if changes := refresh(); len(changes) != 1 || changes[0].Err != nil {
		t.Errorf("the whole pair: changes = %+v", changes)
	}

	// A missing file is an error, and so is its return only once.
	if err := os.Rename(a.Key, a.Key+".old"); err != nil {
		t.Fatal(err)
	}
	if changes := refresh(); len(changes) != 1 || !os.IsNotExist(changes[0].Err) {
		t.Errorf("a missing file: %+v", changes)
	}
	if err := os.Rename(a.Key+".old", a.Key); err != nil {
		t.Fatal(err)
	}
	if changes := refresh(); changes != nil {
		t.Errorf("the same certificate again: %+v", changes)
	}
	if got := strings.Join(current(files), " "); got != "a2 b2" {
		t.Errorf("certificates: %s", got)
	}
}

// TestRefreshFollowsLinks replaces files as container platforms do: by a link to another
// folder.
func TestRefreshFollowsLinks(t *testing.T) {
	folder, root := t.TempDir(), certtest.Root(t, "root")
	for _, name := range []string{"one", "two"} {
		if err := os.Mkdir(filepath.Join(folder, name), 0o700); err != nil {
			t.Fatal(err)
		}
		root.Issue(t, certtest.Options{Name: name}).Write(t, filepath.Join(folder, name), "site")
	}
	link := filepath.Join(folder, "current")
	if err := os.Symlink("one", link); err != nil {
		t.Fatal(err)
	}
	files, err := certs.Open([]certs.Pair{{Cert: filepath.Join(link, "site.pem"), Key: filepath.Join(link, "site.key")}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("two", link+".new"); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(link+".new", link); err != nil {
		t.Fatal(err)
	}
	files, _ = files.Refresh()
	var changes []certs.Change
	if files, changes = files.Refresh(); len(changes) != 1 || changes[0].Err != nil || current(files)[0] != "two" {
		t.Errorf("changes = %+v, certificates %s", changes, current(files))
	}
}
