package service

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"

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
	root  int
	mark  string
	brand brand
	known map[int]proc
}

func newFamily(root int, mark string, brand brand) *family {
	f := &family{root: root, mark: mark, brand: brand, known: make(map[int]proc)}
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
	return p.Parent == os.Getpid() && (p.Session == f.root || hasMark(p.PID, f.mark) || f.brand.isOn(p.PID))
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
