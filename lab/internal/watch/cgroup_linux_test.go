package watch_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/testkit"
	"github.com/weirhq/weir/lab/internal/watch"
	"github.com/weirhq/weir/lab/results"
)

// TestCgroupIsRead watches a folder with the files of a control group.
func TestCgroupIsRead(t *testing.T) {
	dir := t.TempDir()
	write := func(files map[string]string) {
		for name, text := range files {
			testkit.WriteFile(t, filepath.Join(dir, name), text)
		}
	}
	write(map[string]string{"cpu.stat": "usage_usec 3000000\nuser_usec 2000000\nsystem_usec 1000000\n",
		"memory.current": "1000\n", "memory.peak": "5000\n", "pids.current": "7\n"})
	w := start(t, dir)
	w.Begin()
	write(map[string]string{"cpu.stat": "usage_usec 3500000\nuser_usec 2400000\nsystem_usec 1100000\n",
		"memory.current": "2000\n", "memory.peak": "9000\n", "pids.current": "8\n"})
	w.End()
	s := w.Stop()
	u := s.Usage
	if u.CPUSeconds != 0.5 || u.UserSeconds != 0.4 || u.PeakRSS != 9000 || u.PeakThreads != 8 {
		t.Errorf("got %+v, want 0.5 s of CPU, 0.4 of them in user mode, a peak of 9000 bytes, and 8 threads", u)
	}
	if got := parts(s.Missing); !slices.Equal(got, []results.Part{results.OpenFiles, results.Switches}) {
		t.Errorf("missing are %v, want those that a control group does not count", got)
	}
}

// TestCgroupWithoutControllersLacksTheirParts has no files of the controllers of memory and PIDs.
func TestCgroupWithoutControllersLacksTheirParts(t *testing.T) {
	dir := t.TempDir()
	testkit.WriteFile(t, filepath.Join(dir, "cpu.stat"), "usage_usec 1\n")
	s := start(t, dir).Stop()
	want := []results.Part{results.Memory, results.Threads, results.OpenFiles, results.Switches}
	if got := parts(s.Missing); !slices.Equal(got, want) || !strings.Contains(s.Missing[0].Why, "has no memory.current") {
		t.Errorf("missing is %v, want %v and why", s.Missing, want)
	}
}

func TestFolderThatIsNoCgroupIsRefused(t *testing.T) {
	dir := t.TempDir()
	if _, err := watch.Start(watch.Processes{Cgroup: dir}, watch.Options{Every: time.Second}); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("got %v, want that there is none", err)
	}
	testkit.WriteFile(t, filepath.Join(dir, "cpu.stat"), "nr_periods 0\n")
	if _, err := watch.Start(watch.Processes{Cgroup: dir}, watch.Options{Every: time.Second}); err == nil ||
		!strings.Contains(err.Error(), "not a control group of version 2") {
		t.Errorf("got %v, want the version that is needed", err)
	}
}

func start(t *testing.T, cgroup string) *watch.Watcher {
	t.Helper()
	w, err := watch.Start(watch.Processes{Cgroup: cgroup}, watch.Options{Every: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func parts(missing []results.Missing) (all []results.Part) {
	for _, m := range missing {
		all = append(all, m.Part)
	}
	return all
}
