package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// tick is the unit of times in /proc: USER_HZ is 100 on all platforms of Go.
const tick = 10 * time.Millisecond

var pageSize = int64(os.Getpagesize())

// ReadStat reads /proc/PID/stat. The error wraps [os.ErrProcessDone] if there
// is no such process.
func ReadStat(pid int) (Stat, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if isGone(err) {
		err = os.ErrProcessDone
	}
	if err != nil {
		return Stat{}, fmt.Errorf("read the stat of process %d: %w", pid, err)
	}
	s, name, ok := parseStat(text)
	if !ok {
		return Stat{}, fmt.Errorf("/proc/%d/stat has unknown fields: %.60q", pid, text)
	}
	s.Name = string(name)
	return s, nil
}

// ReadStats returns the stat of every process of this machine, by PID.
func ReadStats() (map[int]Stat, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	all := make(map[int]Stat)
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			if stat, err := ReadStat(pid); err == nil { // else it has ended
				all[pid] = stat
			}
		}
	}
	return all, err
}

// isGone reports whether reading from /proc failed because the process has
// ended.
func isGone(err error) bool { return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ESRCH) }

// parseStat parses "12 (na) me) S 1 ...". The name may contain any bytes, so it
// ends at the last parenthesis. It is a view into text; Stat.Name is not set,
// which saves an allocation for each sample.
func parseStat(text []byte) (s Stat, name []byte, ok bool) {
	begin, end := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')')
	if begin < 0 || end < begin || len(text) < end+4 {
		return s, nil, false
	}
	pid, _, ok := number(text[:begin])
	var n [25]int64 // by field number
	fields := text[end+3:]
	for i := 4; i < len(n) && ok; i++ {
		n[i], fields, ok = number(fields)
	}
	return Stat{
		PID: int(pid), State: text[end+2], Parent: int(n[4]), Group: int(n[5]), Session: int(n[6]),
		User: time.Duration(n[14]) * tick, System: time.Duration(n[15]) * tick,
		ChildrenUser: time.Duration(n[16]) * tick, ChildrenSystem: time.Duration(n[17]) * tick,
		Threads: int(n[20]), Started: n[22], RSS: n[24] * pageSize,
	}, text[begin+1 : end], ok
}

// statusNumber returns a number from /proc/PID/status, which has lines such as
// "VmHWM:  1640 kB". name includes the preceding newline, as in "\nVmHWM:". The
// result is 0 if there is no such line: kernel threads have no memory.
func statusNumber(status []byte, name string) int64 {
	at := bytes.Index(status, []byte(name))
	if at < 0 {
		return 0
	}
	value, _, _ := number(status[at+len(name):])
	return value
}

// number parses a number after blanks, and returns the text after it.
func number(b []byte) (n int64, rest []byte, ok bool) {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') {
		b = b[1:]
	}
	negative := len(b) > 0 && b[0] == '-'
	if negative {
		b = b[1:]
	}
	for len(b) > 0 && '0' <= b[0] && b[0] <= '9' {
		n, b, ok = 10*n+int64(b[0]-'0'), b[1:], true
	}
	if negative {
		n = -n
	}
	return n, b, ok
}
