package front_test

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/weirhq/weir/front/feature/files"
)

// evict removes a file from the page cache, if the file system has one.
func evict(t *testing.T, name string) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
		t.Fatal(err)
	}
}

// TestForbiddenFileGets403 asks for a file that nobody may read, root included.
func TestForbiddenFileGets403(t *testing.T) {
	t.Parallel()
	d := openDoor(t, upstream(t, hello).URL,
		routes(folder("/proc/sys/vm").route("/{path...}", func(c *files.Config) { c.Fallback = "/swappiness" })))
	resp, body := get(t, httpClient(t), d.url("/compact_memory"))
	if resp.StatusCode != 403 || body != "403 Forbidden\n" {
		t.Errorf("%s, %q", resp.Status, body)
	}
	if e := d.completed(t, "/compact_memory"); e.Data["refused"] != "the file may not be read" {
		t.Errorf("the event is %s", e.raw)
	}
}
