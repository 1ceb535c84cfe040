package lab_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/weirhq/weir/lab/results"
)

// TestFullDiskGivesAWarning runs a service that writes more than there is room for. The run
// is kept and has a warning.
func TestFullDiskGivesAWarning(t *testing.T) {
	// Not parallel: between fork and exec, a process that another test starts holds the file that fills the disk.
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=2m"); err != nil {
		t.Skip("a small disk cannot be mounted: ", err)
	}
	defer func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	}()
	o := options(t)
	o.Dir = filepath.Join(dir, "out")
	r := run(t, parse(t, `repeats: 1
service:
  command: ["${weir}", --listen, "127.0.0.1:${port}", --lines, "20"]
  env: {`+asProgram+`: service, `+atOnce+`}
  output: file
load: {url: /`+strings.Repeat("x", 2000)+`, connections: 2, threads: 1, requests: 100}
`), o)
	for _, one := range r.Runs {
		if warnings := strings.Join(one.Warnings, " "); one.Outcome != results.Done ||
			!strings.Contains(warnings, "no room left") {
			t.Errorf("%s, %s, warnings %q; want one of the disk", one.Outcome, one.Error, warnings)
		}
	}
	if _, err := os.Stat(filepath.Join(o.Dir, "tmp")); err == nil {
		t.Error("what has filled the disk is still there")
	}
}
