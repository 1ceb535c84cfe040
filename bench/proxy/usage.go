package proxy

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/weirhq/weir/internal/process"
)

// cpuOf returns the CPU time that the process and its descendants have used so far.
func cpuOf(pid int) (time.Duration, error) {
	p, err := process.Open(pid)
	if err != nil {
		return 0, err
	}
	defer p.Close()
	s, err := p.SampleTree()
	return s.CPU, err
}

// memoryOf returns the private memory of the process and its descendants in bytes: pages that no other process maps.
func memoryOf(pid int) (int64, error) {
	all, err := process.ReadStats()
	if err != nil {
		return 0, err
	}
	if _, ok := all[pid]; !ok {
		return 0, fmt.Errorf("process %d is gone", pid)
	}
	var sum int64
	for _, p := range all {
		if !descends(all, p.PID, pid) {
			continue
		}
		rollup, err := os.ReadFile("/proc/" + strconv.Itoa(p.PID) + "/smaps_rollup")
		if err != nil {
			return 0, err
		}
		private, err := parsePrivate(rollup)
		if err != nil {
			return 0, fmt.Errorf("process %d: %w", p.PID, err)
		}
		sum += private
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

// parsePrivate returns the sum of Private_Clean and Private_Dirty in bytes, see proc_pid_smaps(5).
func parsePrivate(rollup []byte) (int64, error) {
	var sum int64
	found := 0
	for line := range bytes.Lines(rollup) {
		f := bytes.Fields(line)
		if len(f) == 3 && (string(f[0]) == "Private_Clean:" || string(f[0]) == "Private_Dirty:") {
			kib, err := strconv.ParseInt(string(f[1]), 10, 64)
			if err != nil {
				return 0, err
			}
			sum += kib << 10
			found++
		}
	}
	if found != 2 {
		return 0, fmt.Errorf("smaps_rollup has no private memory: %.200q", rollup)
	}
	return sum, nil
}
