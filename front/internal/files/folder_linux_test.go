package files

import (
	"path/filepath"
	"testing"
)

// withoutOpenat2 returns a folder as it is opened on a system without openat2.
func withoutOpenat2(d Folder) *opening {
	return &opening{folder: d, opened: true, fd: -1, wait: true}
}

// TestPlainNamesNeedNoOpenFolder looks up names with and without links on their way.
func TestPlainNamesNeedNoOpenFolder(t *testing.T) {
	top := t.TempDir()
	write(t, top, "root/a", "root/sub/b")
	link(t, top, "link", "root")
	link(t, top, "root/c", "sub/b")
	for _, c := range []struct {
		folder, path   string
		direct, opened bool
	}{
		{"root", "a", true, false}, {"root", "sub/b", true, false}, {"root", "sub", true, false},
		{"root", "c", true, true}, {"root/", "none", true, true}, {"root", "sub/../a", true, true}, {"link", "a", false, true},
	} {
		folder := Folder(filepath.Join(top, c.folder))
		o, err := folder.open(folder.IsDirect(), true)
		if err != nil {
			t.Fatal(err)
		}
		f, err := o.file(c.path)
		if (err == nil) == (c.path == "none") || o.direct != c.direct || o.opened != c.opened {
			t.Errorf("%s in %s: direct %v, opened %v, %v", c.path, c.folder, o.direct, o.opened, err)
		}
		if err == nil {
			f.Close()
		}
		o.close()
	}
}
