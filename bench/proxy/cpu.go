package proxy

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// tick is the unit of the times in /proc/PID/stat: USER_HZ, which Linux fixes at 100 for programs.
const tick = time.Second / 100

// usage is one process in the table of processes.
type usage struct {
	pid, parent int
	cpu         time.Duration // user and system, with that of its children who ended
}

// cpuOf returns the processor time that the process and its descendants have used so far.
func cpuOf(pid int) (time.Duration, error) {
	all, err := processes()
	if err != nil {
		return 0, err
	}
	if _, ok := all[pid]; !ok {
		return 0, fmt.Errorf("process %d is gone", pid)
	}
	var sum time.Duration
	for _, u := range all {
		if descends(all, u.pid, pid) {
			sum += u.cpu
		}
	}
	return sum, nil
}

func descends(all map[int]usage, pid, ancestor int) bool {
	for ; pid != 0; pid = all[pid].parent {
		if pid == ancestor {
			return true
		}
	}
	return false
}

func processes() (map[int]usage, error) {
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	all := make(map[int]usage, len(files))
	for _, file := range files {
		stat, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) || err != nil && len(stat) == 0 {
			continue // it ended meanwhile
		}
		u, err := parseStat(stat)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all[u.pid] = u
	}
	return all, nil
}

// parseStat reads a line of /proc/PID/stat. The name in parentheses may hold anything, so what follows is found from
// its last one.
func parseStat(stat []byte) (usage, error) {
	open, end := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	if open < 0 || end < open {
		return usage{}, fmt.Errorf("no name in %q", stat)
	}
	fields := bytes.Fields(stat[end+1:])
	if len(fields) < 15 {
		return usage{}, fmt.Errorf("only %d fields after the name in %q", len(fields), stat)
	}
	var numbers [6]int
	for i, text := range [][]byte{bytes.TrimSpace(stat[:open]), fields[1], fields[11], fields[12], fields[13], fields[14]} {
		n, err := strconv.Atoi(string(text))
		if err != nil {
			return usage{}, err
		}
		numbers[i] = n
	}
	ticks := numbers[2] + numbers[3] + numbers[4] + numbers[5]
	return usage{pid: numbers[0], parent: numbers[1], cpu: time.Duration(ticks) * tick}, nil
}
