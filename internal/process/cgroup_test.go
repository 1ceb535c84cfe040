package process_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/weirhq/weir/internal/process"
	"github.com/weirhq/weir/internal/testkit"
)

// TestProcessesOfACgroupAreThoseOfItsGroups has a group with a group below.
func TestProcessesOfACgroupAreThoseOfItsGroups(t *testing.T) {
	dir := t.TempDir()
	testkit.WriteFile(t, filepath.Join(dir, "cgroup.procs"), "11\n12\n")
	if err := os.Mkdir(filepath.Join(dir, "below"), 0o777); err != nil {
		t.Fatal(err)
	}
	testkit.WriteFile(t, filepath.Join(dir, "below", "cgroup.procs"), "13\n")
	pids := process.InCgroup(dir)
	if slices.Sort(pids); !slices.Equal(pids, []int{11, 12, 13}) {
		t.Errorf("got %v", pids)
	}
}
