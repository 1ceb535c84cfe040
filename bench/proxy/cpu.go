package proxy

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/weirhq/weir/internal/process"
)

// cpuOf returns the CPU time that the process and its descendants have used so far.
func cpuOf(pid int) (time.Duration, error) {
	all, err := processes()
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

// processes returns the processes of this machine by PID.
func processes() (map[int]process.Stat, error) {
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	all := make(map[int]process.Stat, len(files))
	for _, file := range files {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil {
			return nil, err
		}
		stat, err := process.ReadStat(pid)
		if errors.Is(err, os.ErrProcessDone) {
			continue
		}
		if err != nil {
			return nil, err
		}
		all[pid] = stat
	}
	return all, nil
}
