package service

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/weirhq/weir/internal/process"
)

// A proc is a process.
type proc struct{ process.Stat }

func (p proc) String() string { return fmt.Sprintf("%d (%s)", p.PID, p.Name) }

// A family is a program and all that descends from it.
//
// Those whose parents are known are found by them. Whoever has lost his parent
// is a child of this process then, and is known by the session, or, when he has
// left that one, too, by the mark in his environment or by the brand.
type family struct {
	root      int
	mark      string
	limitMark limitMark
	known     map[int]proc
}

func newFamily(root int, mark string, limitMark limitMark) *family {
	f := &family{root: root, mark: mark, limitMark: limitMark, known: make(map[int]proc)}
	if stat, err := process.ReadStat(root); err == nil {
		f.known[root] = proc{stat}
	}
	return f
}

// look returns those that live. Members that have ended and were left to this
// process are waited for; the program itself is not, which is for who started
// it.
func (f *family) look() ([]proc, error) {
	all, err := processes()
	if err != nil {
		return nil, err
	}
	for pid, member := range f.known {
		if now, ok := all[pid]; !ok || now.Started != member.Started {
			delete(f.known, pid)
		}
	}
	for found := true; found; {
		found = false
		for pid, p := range all {
			if _, ok := f.known[pid]; !ok && f.has(p) {
				f.known[pid], found = p, true
			}
		}
	}
	var living []proc
	for pid := range f.known {
		p := all[pid]
		switch {
		case !p.Ended():
			living = append(living, p)
		case pid != f.root && p.Parent == os.Getpid():
			unix.Wait4(pid, nil, unix.WNOHANG, nil)
			delete(f.known, pid)
		}
	}
	return living, nil
}

// has tells whether a process that is not known yet is a member.
func (f *family) has(p proc) bool {
	if _, ok := f.known[p.Parent]; ok {
		return true
	}
	return p.Parent == os.Getpid() && (p.Session == f.root || hasMark(p.PID, f.mark) || f.limitMark.isOn(p.PID))
}

// hasMark tells whether a process has been started with a variable in its
// environment.
func hasMark(pid int, mark string) bool {
	if mark == "" {
		return false
	}
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return false
	}
	for variable := range bytes.SplitSeq(env, []byte{0}) {
		if string(variable) == mark {
			return true
		}
	}
	return false
}

// signal sends a signal, unless the process has ended and its number is
// another one's.
func (p proc) signal(s unix.Signal) error {
	if now, err := process.ReadStat(p.PID); err != nil || now.Started != p.Started {
		return nil
	}
	if err := unix.Kill(p.PID, s); err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("send %v to %v: %w", s, p, err)
	}
	return nil
}

// processes returns all of this machine, by number.
func processes() (map[int]proc, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	all := make(map[int]proc)
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if stat, err := process.ReadStat(pid); err == nil {
			all[pid] = proc{stat}
		}
	}
	return all, nil
}

// A brand is a limit of resources that the members of one family alone have, of
// all children of this process. nginx that makes itself a daemon leaves its
// session and writes its title over its environment, but whoever descends from
// a program has its limits, and nobody touches the one of POSIX message queues:
// it is lowered by a few bytes of 800 kB. Zero is no brand.
type limitMark uint64

// branding orders the changes of this process's own limit, which is what a
// program gets that is started meanwhile.
var limitMarks struct {
	mu    sync.Mutex
	given uint64 // so that no two families have the same
}

// branded calls start with a new brand on this process, which what it starts
// keeps. Where there is no such limit, the mark in the environment has to do.
func startMarked(start func() error) (limitMark, error) {
	const different = 4096 // families at once; numbers begin again then
	limitMarks.mu.Lock()
	defer limitMarks.mu.Unlock()
	var own unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_MSGQUEUE, &own) != nil {
		return 0, start()
	}
	limitMarks.given++
	most := min(own.Cur, 1<<40) - 1 - limitMarks.given%different
	if own.Cur <= different || unix.Setrlimit(unix.RLIMIT_MSGQUEUE, &unix.Rlimit{Cur: most, Max: own.Max}) != nil {
		return 0, start()
	}
	defer unix.Setrlimit(unix.RLIMIT_MSGQUEUE, &own)
	return limitMark(most), start()
}

func (b limitMark) isOn(pid int) bool {
	if b == 0 {
		return false
	}
	var limit unix.Rlimit
	return unix.Prlimit(pid, unix.RLIMIT_MSGQUEUE, nil, &limit) == nil && limit.Cur == uint64(b)
}

// While a service runs, this process is the one to which children fall that
// have lost their parent (prctl(2), PR_SET_CHILD_SUBREAPER), where they can be
// found and waited for.
var reaping struct {
	mu       sync.Mutex
	services int
}

// adopt has orphans fall to this process until release.
func adopt() error {
	reaping.mu.Lock()
	defer reaping.mu.Unlock()
	if reaping.services == 0 {
		if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
			return fmt.Errorf("have the children of a service that lose their parent fall to this process: %w", err)
		}
	}
	reaping.services++
	return nil
}

func release() {
	reaping.mu.Lock()
	defer reaping.mu.Unlock()
	if reaping.services--; reaping.services == 0 {
		unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
	}
}
