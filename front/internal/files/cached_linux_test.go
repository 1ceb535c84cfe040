package files

import (
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/weirhq/weir/internal/testkit"
)

// TestCachedFollowsThePageCache looks at parts of a file that was written, and of one that Fetch has read
// after the page cache was emptied.
func TestCachedFollowsThePageCache(t *testing.T) {
	const size = 1<<20 + 100
	root := t.TempDir()
	testkit.WriteFile(t, filepath.Join(root, "a"), strings.Repeat("x", size))
	found, err := (&Site{Folder: Folder(root)}).Find(Name{Path: "a"}, "", true)
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	if _, wait, _ := found.ReadAt(make([]byte, 1), 0, false); wait {
		t.Skip("the file system does not report what is in the page cache")
	}
	parts := []struct {
		at int64
		n  int
	}{{0, 1}, {0, 100}, {0, cachedStep}, {5, cachedStep}, {0, cachedStep + 1}, {100, 64 << 10}, {0, size}, {size - 1, 1}}
	for _, p := range parts {
		if !found.Cached(p.at, p.n) {
			t.Errorf("%d bytes at %d are not in the page cache after they were written", p.n, p.at)
		}
	}
	if found.Cached(0, size+1) || found.Cached(size, 1) {
		t.Error("a part after the end of the file is in the page cache")
	}
	for _, p := range parts {
		if err := unix.Fsync(found.Descriptor()); err != nil {
			t.Fatal(err)
		}
		if err := unix.Fadvise(found.Descriptor(), 0, 0, unix.FADV_DONTNEED); err != nil {
			t.Fatal(err)
		}
		if n := found.Fetch(p.at, p.n); n != p.n || !found.Cached(p.at, p.n) {
			t.Errorf("Fetch of %d bytes at %d = %d", p.n, p.at, n)
		}
	}
	if n := found.Fetch(size-10, 20); n != 10 {
		t.Errorf("Fetch beyond the end = %d", n)
	}
}
