package files

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/testkit"
)

// write writes files below a folder. The content is the path.
func write(t *testing.T, folder string, paths ...string) {
	t.Helper()
	for _, path := range paths {
		testkit.WriteFile(t, filepath.Join(folder, path), path)
	}
}

// link makes a symbolic link below a folder.
func link(t *testing.T, folder, path, target string) {
	t.Helper()
	if err := os.Symlink(target, filepath.Join(folder, path)); err != nil {
		t.Fatal(err)
	}
}

// contentOf returns the content of the file that is found for a path, or the error. It looks
// it up with and without permission to wait, and by its whole path.
func contentOf(t *testing.T, s *Site, path, acceptEncoding string) (Found, string, error) {
	t.Helper()
	n, why := ParseName(path)
	if why != "" {
		t.Fatalf("%q: %s", path, why)
	}
	found, err := s.Find(n, acceptEncoding, true)
	direct := *s
	direct.Direct = true
	for name, find := range map[string]func() (Found, error){
		"without waiting":        func() (Found, error) { return s.Find(n, acceptEncoding, false) },
		"direct":                 func() (Found, error) { return direct.Find(n, acceptEncoding, true) },
		"direct without waiting": func() (Found, error) { return direct.Find(n, acceptEncoding, false) },
	} {
		other, otherErr := find()
		if WouldWait(otherErr) {
			continue
		}
		if (otherErr == nil) != (err == nil) || IsFolderError(otherErr) != IsFolderError(err) ||
			other.Type != found.Type || other.Coding != found.Coding || other.Size != found.Size || other.Path != found.Path {
			t.Errorf("%s: %s %+v, %v, otherwise %+v, %v", path, name, other, otherErr, found, err)
		}
		if otherErr == nil && !other.AddSlash {
			other.Close()
		}
	}
	if err != nil || found.AddSlash {
		return found, "", err
	}
	defer found.Close()
	b := make([]byte, found.Size+1)
	length, _, err := found.ReadAt(b, 0, true)
	return found, string(b[:length]), err
}

// TestNothingOutsideOfTheFolderIsServed looks up names that lead out of the folder, and files that
// are not regular. None may be read, and none may make the lookup wait.
func TestNothingOutsideOfTheFolderIsServed(t *testing.T) {
	top := t.TempDir()
	root := filepath.Join(top, "root")
	write(t, top, "secret", "root/a", "root/sub/b", "other/c", "root2/d")
	link(t, root, "up", "..")
	link(t, root, "out", "../secret")
	link(t, root, "absolute", filepath.Join(top, "secret"))
	link(t, root, "absolute-inside", filepath.Join(root, "a"))
	link(t, root, "detour", "../root/a")
	link(t, root, "sub/chain", "../up/secret")
	link(t, root, "loop", "loop")
	link(t, root, "proc", "/proc/self/root/etc/passwd")
	link(t, root, "null", "/dev/null")
	link(t, root, "inside", "sub/b")
	link(t, root, "sub/back", "../a")
	link(t, root, "folder", "sub")
	link(t, root, "dangling", "nothing")
	if err := syscall.Mkfifo(filepath.Join(root, "fifo"), 0o644); err != nil {
		t.Fatal(err)
	}
	socket, err := net.Listen("unix", filepath.Join(root, "socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()

	plainly := func(path string) (string, error) {
		f, err := regular(withoutOpenat2(Folder(root)), path)
		if err != nil {
			return "", err
		}
		defer f.Close()
		b := make([]byte, 100)
		n, _, err := f.ReadAt(b, 0, true)
		return string(b[:n]), err
	}
	site := &Site{Folder: Folder(root)}
	for path, want := range map[string]string{
		"a": "root/a", "sub/b": "root/sub/b", "inside": "root/sub/b", "sub/back": "root/a", "folder/b": "root/sub/b",
		"out": "", "up/secret": "", "up/root2/d": "", "up/other/c": "", "absolute": "", "absolute-inside": "",
		"detour": "", "sub/chain": "", "loop": "", "proc": "", "null": "", "fifo": "", "socket": "", "dangling": "",
		"a/b": "", "none": "", strings.Repeat("x/", 3000) + "x": "", strings.Repeat("é", 120): "",
	} {
		_, got, err := contentOf(t, site, path, "")
		if got != want || want == "" && err != fs.ErrNotExist {
			t.Errorf("%.50s: %q, %v, want %q", path, got, err, want)
		}
		if got, err := plainly(path); got != want || (err == nil) != (want != "") || err != nil && !missing(err) {
			t.Errorf("%.50s: without openat2 %q, %v, want %q", path, got, err, want)
		}
	}
}

func TestFindServesIndexAndFallback(t *testing.T) {
	root := t.TempDir()
	write(t, root, "index.html", "a.js", "docs/index.htm", "docs/x.html", "both/index.html", "both/index.htm",
		"empty/.keep", "odd/index.html/x", "app.html")
	both := &Site{Folder: Folder(root), Index: []string{"index.html", "index.htm"}}
	app := &Site{Folder: Folder(root), Fallback: "app.html"}
	lost := &Site{Folder: Folder(root), Fallback: "none.html"}
	for _, c := range []struct {
		site *Site
		path string
		want string // content, or "404", or "slash"
	}{
		{both, "", "index.html"},
		{both, "a.js", "a.js"},
		{both, "a.js/", "404"},
		{both, "docs/", "docs/index.htm"},
		{both, "docs", "slash"},
		{both, "both/", "both/index.html"},
		{both, "empty/", "404"},
		{both, "empty", "slash"},
		{both, "odd/", "404"},
		{both, "none", "404"},
		{both, "none/", "404"},
		{app, "", "app.html"},
		{app, "docs/", "app.html"},
		{app, "docs", "slash"},
		{app, "a/b/c", "app.html"},
		{app, "a.js/", "app.html"},
		{app, "a.js", "a.js"},
		{lost, "none", "404"},
	} {
		found, got, err := contentOf(t, c.site, c.path, "")
		switch {
		case err == fs.ErrNotExist:
			got = "404"
		case err != nil:
			t.Errorf("%q: %v", c.path, err)
		case found.AddSlash:
			got = "slash"
		}
		if got != c.want {
			t.Errorf("%q leads to %q, want %q", c.path, got, c.want)
		}
	}
}

func TestReplacedFolderIsServed(t *testing.T) {
	top := t.TempDir()
	write(t, top, "v1/a", "v2/a", "file")
	link(t, top, "root", "v1")
	site := &Site{Folder: Folder(filepath.Join(top, "root"))}
	for _, step := range []struct{ target, want string }{
		{"", "v1/a"}, {"v2", "v2/a"}, {"none", ""}, {"file", ""}, {"v1", "v1/a"},
	} {
		if step.target != "" {
			link(t, top, "next", step.target)
			if err := os.Rename(filepath.Join(top, "next"), filepath.Join(top, "root")); err != nil {
				t.Fatal(err)
			}
		}
		_, got, err := contentOf(t, site, "a", "")
		if got != step.want || IsFolderError(err) != (step.want == "") {
			t.Errorf("root -> %s: %q, %v, want %q", step.target, got, err, step.want)
		}
	}
}

func TestPrecompressedFilesAreFound(t *testing.T) {
	root := t.TempDir()
	write(t, root, "a.js", "a.js.gz", "a.js.br", "a.js.zst", "b.css", "b.css.gz", "c.js", "d.js.gz", "e.js", "e.js.gz/x")
	link(t, root, "c.js.gz", "/etc/passwd")
	write(t, root, "old.js", "old.js.gz")
	site := &Site{Folder: Folder(root), Precompressed: []string{"zstd", "br", "gzip"}}
	now := time.Now().Truncate(time.Second)
	for name, changed := range map[string]time.Time{"a.js": now.Add(1), "a.js.gz": now, "a.js.br": now, "a.js.zst": now,
		"old.js": now, "old.js.gz": now.Add(-time.Second)} {
		if err := os.Chtimes(filepath.Join(root, name), time.Time{}, changed); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ path, accept, want, coding string }{
		{"a.js", "", "a.js", ""},
		{"a.js", "gzip, deflate, br, zstd", "a.js.zst", "zstd"},
		{"a.js", "gzip, br", "a.js.br", "br"},
		{"a.js", "gzip;q=1, br;q=0.5", "a.js.gz", "gzip"},
		{"a.js", "zstd;q=0, *;q=0.1", "a.js.br", "br"},
		{"a.js", "deflate", "a.js", ""},
		{"a.js", "identity", "a.js", ""},
		{"a.js", "identity;q=1, gzip;q=0.5", "a.js", ""},
		{"a.js", "identity;q=0.6, gzip;q=0.5, br;q=0.8", "a.js.br", "br"},
		{"b.css", "identity;q=0.6, gzip;q=0.5, br;q=0.8", "b.css", ""},
		{"a.js", "identity, gzip", "a.js.gz", "gzip"},
		{"a.js", "gzip;q=0.5, zstd;q=0, br;q=0, *", "a.js", ""},
		{"a.js", "gzip;q=0.1, identity;q=0", "a.js.gz", "gzip"},
		{"b.css", "zstd, br, gzip;q=0.1", "b.css.gz", "gzip"},
		{"b.css", "zstd, br", "b.css", ""},
		{"c.js", "gzip", "c.js", ""},
		{"e.js", "gzip", "e.js", ""},
		{"old.js", "gzip", "old.js", ""},
		{"a.js.gz", "gzip", "a.js.gz", ""},
	} {
		found, got, err := contentOf(t, site, c.path, c.accept)
		if err != nil || got != c.want || found.Coding != c.coding || c.coding != "" && found.Type != typeOf(c.path) {
			t.Errorf("%s, %q: %q, %q, %q, %v, want %q, %q", c.path, c.accept, got, found.Coding, found.Type, err, c.want,
				c.coding)
		}
	}
	if _, _, err := contentOf(t, site, "d.js", "gzip"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a compressed file without the file itself: %v", err)
	}
}

func TestTypeFollowsFromTheExtension(t *testing.T) {
	for name, want := range map[string]string{
		"a.html": "text/html; charset=utf-8", "a/b.JS": "text/javascript; charset=utf-8",
		"a.mjs": "text/javascript; charset=utf-8", "a.css": "text/css; charset=utf-8", "a.svg": "image/svg+xml", "a.wasm": "application/wasm", "a.woff2": "font/woff2",
		"a.json": "application/json", "a.js.map": "application/json", "a.webp": "image/webp", "a.avif": "image/avif",
		"a.txt": "text/plain; charset=utf-8", "a.tar.gz": "application/gzip", "a": "application/octet-stream",
		"a.b/c": "application/octet-stream", "a.unheard-of": "application/octet-stream", "a.": "application/octet-stream",
	} {
		if got := typeOf(name); got != want {
			t.Errorf("typeOf(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestMissingAllocatesNothingWithoutAnError(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() { missing(nil) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
