package machine

import (
	"path"
	"strconv"
	"strings"
)

// A cgroup is a folder below /sys/fs/cgroup that may limit this process. In a
// container the process often sees its own cgroup as the root of the tree,
// although /proc contains the path outside. Therefore all folders from the path
// up to the root are read. Each of them limits its descendants.
type cgroup struct {
	dir string
	v1  bool
}

// cgroups returns the cgroups of the process and their ancestors.
func cgroups(root string, errs *[]error) []cgroup {
	var all []cgroup
	for line := range strings.Lines(string(read(root, "proc/self/cgroup", errs))) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3) // 0::/path, or 4:cpu,cpuacct:/path
		if len(parts) < 3 {
			continue
		}
		if parts[1] == "" {
			all = append(all, upwards("sys/fs/cgroup", parts[2], false)...)
			continue
		}
		for _, controller := range strings.Split(parts[1], ",") {
			if controller == "cpu" || controller == "memory" {
				all = append(all, upwards("sys/fs/cgroup/"+controller, parts[2], true)...)
			}
		}
	}
	return all
}

func upwards(mount, dir string, v1 bool) []cgroup {
	var all []cgroup
	for dir = path.Clean("/" + dir); ; dir = path.Dir(dir) {
		all = append(all, cgroup{dir: path.Join(mount, dir), v1: v1})
		if dir == "/" {
			return all
		}
	}
}

// cpus returns the cgroup's limit of CPU time per second, or 0 if it sets none.
func (g cgroup) cpus(root string, errs *[]error) float64 {
	// "150000 100000" or "max 100000"
	quota, period := word(root, g.dir+"/cpu.max", 0, errs), word(root, g.dir+"/cpu.max", 1, errs)
	if g.v1 {
		quota, period = word(root, g.dir+"/cpu.cfs_quota_us", 0, errs), word(root, g.dir+"/cpu.cfs_period_us", 0, errs)
	}
	q, _ := strconv.ParseFloat(quota, 64)
	p, _ := strconv.ParseFloat(period, 64)
	if q <= 0 || p <= 0 {
		return 0
	}
	return q / p
}

// memory returns the cgroup's limit in bytes, or 0 if it sets none.
func (g cgroup) memory(root string, errs *[]error) int64 {
	text := word(root, g.dir+"/memory.max", 0, errs)
	if g.v1 {
		text = word(root, g.dir+"/memory.limit_in_bytes", 0, errs)
	}
	n, err := strconv.ParseInt(text, 10, 64)
	const none = 1 << 60 // version 1 expresses "no limit" by a number above this
	if err != nil || n >= none {
		return 0
	}
	return n
}
