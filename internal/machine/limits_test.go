package machine_test

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/machine"
	"github.com/weirhq/weir/internal/testkit"
)

const limitsFile = `Limit                     Soft Limit           Hard Limit           Units
Max processes             unlimited            unlimited            processes
Max open files            1024                 524288               files
Max locked memory         8388608              8388608              bytes
`

// TestReadReturnsLimitsOfMachines reads the limits of several machines, given as files.
func TestReadReturnsLimitsOfMachines(t *testing.T) {
	common := map[string]string{
		"proc/self/limits":                      limitsFile,
		"proc/sys/net/ipv4/ip_local_port_range": "32768\t60999\n",
		"proc/sys/net/core/somaxconn":           "4096\n",
		"proc/sys/fs/file-max":                  "9223372036854775807\n",
	}
	base := machine.Limits{
		OpenFiles: 1024, OpenFilesHard: 524288, MachineFiles: 9223372036854775807,
		PortLow: 32768, PortHigh: 60999, Backlog: 4096,
	}
	with := func(change func(*machine.Limits)) machine.Limits {
		l := base
		change(&l)
		return l
	}
	for _, c := range []struct {
		name  string
		files map[string]string
		want  machine.Limits
	}{
		{"no cgroup", nil, base},
		{"no limit of files", map[string]string{"proc/self/limits": "Max open files  unlimited  unlimited  files\n"},
			with(func(l *machine.Limits) { l.OpenFiles, l.OpenFilesHard = machine.Unlimited, machine.Unlimited })},
		{"version 2", map[string]string{
			"proc/self/cgroup": "0::/system.slice/weir.service\n",
			"sys/fs/cgroup/system.slice/weir.service/cpu.max":    "150000 100000\n",
			"sys/fs/cgroup/system.slice/weir.service/memory.max": "268435456\n",
		}, with(func(l *machine.Limits) { l.CPUs, l.Memory = 1.5, 256<<20 })},
		{"version 2, limited above", map[string]string{
			"proc/self/cgroup":             "0::/a/b\n",
			"sys/fs/cgroup/a/cpu.max":      "50000 100000\n",
			"sys/fs/cgroup/a/memory.max":   "1048576\n",
			"sys/fs/cgroup/a/b/cpu.max":    "max 100000\n",
			"sys/fs/cgroup/a/b/memory.max": "2097152\n",
		}, with(func(l *machine.Limits) { l.CPUs, l.Memory = .5, 1<<20 })},
		{"version 2 in a container, that sees itself as the root", map[string]string{
			"proc/self/cgroup":         "0::/docker/0123\n",
			"sys/fs/cgroup/cpu.max":    "200000 100000\n",
			"sys/fs/cgroup/memory.max": "max\n",
		}, with(func(l *machine.Limits) { l.CPUs = 2 })},
		{"version 1", map[string]string{
			"proc/self/cgroup":                             "4:memory:/a\n3:cpu,cpuacct:/a\n0::/\n",
			"sys/fs/cgroup/cpu/a/cpu.cfs_quota_us":         "300000\n",
			"sys/fs/cgroup/cpu/a/cpu.cfs_period_us":        "100000\n",
			"sys/fs/cgroup/cpu/cpu.cfs_quota_us":           "-1\n",
			"sys/fs/cgroup/cpu/cpu.cfs_period_us":          "100000\n",
			"sys/fs/cgroup/memory/a/memory.limit_in_bytes": "536870912\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes":   "9223372036854771712\n",
		}, with(func(l *machine.Limits) { l.CPUs, l.Memory = 3, 512<<20 })},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := t.TempDir()
			for _, files := range []map[string]string{common, c.files} {
				for name, text := range files {
					testkit.WriteFile(t, filepath.Join(root, name), text)
				}
			}
			got, err := machine.Read(root)
			if err != nil || got != c.want {
				t.Errorf("got  %+v, %v\nwant %+v", got, err, c.want)
			}
		})
	}
}

// TestReadToleratesMissingFiles checks that missing files leave all limits 0 and that
// a malformed file is an error.
func TestReadToleratesMissingFiles(t *testing.T) {
	if got, err := machine.Read(t.TempDir()); err != nil || got != (machine.Limits{}) {
		t.Errorf("an empty machine: %+v, %v; want nothing", got, err)
	}
	root := t.TempDir()
	testkit.WriteFile(t, filepath.Join(root, "proc/self/limits"), "Max open files  1024\n")
	if _, err := machine.Read(root); err == nil || !strings.Contains(err.Error(), "does not have two limits") {
		t.Errorf("half a line: error %v", err)
	}
}

// TestRaiseOpenFilesRaisesTheLimit raises the limit of the test process, and counts a file
// that it opens.
func TestRaiseOpenFilesRaisesTheLimit(t *testing.T) {
	n, err := machine.RaiseOpenFiles()
	if err != nil || n == 0 {
		t.Fatalf("raised to %d, %v", n, err)
	}
	if got, err := machine.Read("/"); err == nil && got.OpenFiles != 0 && got.OpenFiles != got.OpenFilesHard {
		t.Errorf("raised to %d, want the hard limit, %d", got.OpenFiles, got.OpenFilesHard)
	}
	before := machine.OpenFilesNow()
	if before == 0 {
		t.Skip("needs /proc to count open files")
	}
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got := machine.OpenFilesNow(); got != before+1 {
		t.Errorf("%d files are open, want %d", got, before+1)
	}
}

// TestMemoryBelowReturnsTheLowerLimit combines the limit of the cgroup with a GOMEMLIMIT.
func TestMemoryBelowReturnsTheLowerLimit(t *testing.T) {
	for _, c := range []struct{ cgroup, goMemLimit, want int64 }{
		{0, math.MaxInt64, 0}, {1000, math.MaxInt64, 1000}, {0, 900, 900}, {1000, 900, 900}, {1000, 2000, 1000},
	} {
		if got := (machine.Limits{Memory: c.cgroup}).MemoryBelow(c.goMemLimit); got != c.want {
			t.Errorf("%d with GOMEMLIMIT=%d: %d, want %d", c.cgroup, c.goMemLimit, got, c.want)
		}
	}
}
