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

// A tree is a program and all its descendants.
//
// A process whose parent is in the tree belongs to it. An orphan becomes a
// child of this process. It is recognised by its session, and if it has left
// the session, by the mark in its environment or by the limit mark.
type tree struct {
	root      int
	mark      string
	limitMark limitMark
	known     map[int]proc
}

func newTree(root int, mark string, limitMark limitMark) *tree {
	t := &tree{root: root, mark: mark, limitMark: limitMark, known: make(map[int]proc)}
	if stat, err := process.ReadStat(root); err == nil {
		t.known[root] = proc{stat}
	}
	return t
}

// look returns the running members. It waits for ended members that became
// children of this process, but not for the program itself, which run waits
// for.
func (t *tree) look() ([]proc, error) {
	all, err := process.ReadStats()
	if err != nil {
		return nil, err
	}
	for pid, member := range t.known {
		if now, ok := all[pid]; !ok || now.Started != member.Started {
			delete(t.known, pid)
		}
	}
	for found := true; found; {
		found = false
		for pid, stat := range all {
			if _, ok := t.known[pid]; !ok && t.has(stat) {
				t.known[pid], found = proc{stat}, true
			}
		}
	}
	var living []proc
	for pid := range t.known {
		p := proc{all[pid]}
		switch {
		case !p.Ended():
			living = append(living, p)
		case pid != t.root && p.Parent == os.Getpid():
			unix.Wait4(pid, nil, unix.WNOHANG, nil)
			delete(t.known, pid)
		}
	}
	return living, nil
}

// has reports whether a new process is a member.
func (t *tree) has(p process.Stat) bool {
	if _, ok := t.known[p.Parent]; ok {
		return true
	}
	return p.Parent == os.Getpid() && (p.Session == t.root || hasMark(p.PID, t.mark) ||
		p.Session != ownSession() && t.limitMark.isOn(p.PID))
}

// ownSession returns the session of this process. No member is in it, but a command that another goroutine starts
// meanwhile is, and inherits the limit mark too.
func ownSession() int {
	session, _ := unix.Getsid(0) // 0 cannot fail
	return session
}

// hasMark reports whether a process was started with the environment variable
// mark.
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

// signal sends a signal, unless the process has ended, even if its PID was
// reused.
func (p proc) signal(s unix.Signal) error {
	if now, err := process.ReadStat(p.PID); err != nil || now.Started != p.Started {
		return nil
	}
	if err := unix.Kill(p.PID, s); err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("send %v to %v: %w", s, p, err)
	}
	return nil
}

// A limitMark is a resource limit that only the members of one tree have.
// When nginx becomes a daemon, it leaves its session and overwrites its
// environment with its title, but all descendants of a program inherit its
// limits. The limit of POSIX message queues is used because no program changes
// it: it is lowered by a few bytes of 800 kB. Zero means no mark.
type limitMark uint64

// limitMarks serialises changes of this process's own limit, which programs
// started meanwhile would inherit.
var limitMarks struct {
	mu    sync.Mutex
	given uint64 // counter that makes the marks different
}

// startMarked calls start while this process has a new limit mark, which its
// children inherit. If there is no such limit, the mark in the environment must
// suffice.
func startMarked(start func() error) (limitMark, error) {
	const different = 4096 // number of marks; then the first one is used again
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

// While a service runs, orphans become children of this process (prctl(2),
// PR_SET_CHILD_SUBREAPER), which can find them and wait for them.
var reaping struct {
	mu       sync.Mutex
	services int
}

// adopt makes orphans children of this process until release.
func adopt() error {
	reaping.mu.Lock()
	defer reaping.mu.Unlock()
	if reaping.services == 0 {
		if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
			return fmt.Errorf("adopt the orphaned children of a service: %w", err)
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
