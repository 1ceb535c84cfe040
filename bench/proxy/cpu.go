package proxy

import (
	"fmt"
	"time"

	"github.com/weirhq/weir/internal/process"
)

// cpuOf returns the CPU time that the process and its descendants have used so far.
func cpuOf(pid int) (time.Duration, error) {
	all, err := process.ReadStats()
	if err != nil {
		return 0, err
	}
	if _, ok := all[pid]; !ok {
		return 0, fmt.Errorf("process %d is gone", pid)
	}
	var sum time.Duration
	for _, p := range all {
		if descends(all, p.PID, pid) {
			sum += p.User + p.System + p.ChildrenUser + p.ChildrenSystem
		}
	}
	return sum, nil
}

func descends(all map[int]process.Stat, pid, ancestor int) bool {
	for ; pid != 0; pid = all[pid].Parent {
		if pid == ancestor {
			return true
		}
	}
	return false
}
