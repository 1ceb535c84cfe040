package service

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// A proc is a process as /proc/PID/stat has it. Its number and its start
// together name it for good.
type proc struct {
	pid     int
	name    string
	parent  int
	group   int
	session int
	ended   bool // and nobody has waited for it
	started string
}

func (p proc) String() string { return fmt.Sprintf("%d (%s)", p.pid, p.name) }

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
	if p, ok := readProc(root); ok {
		f.known[root] = p
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
		if now, ok := all[pid]; !ok || now.started != member.started {
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
		case !p.ended:
			living = append(living, p)
		case pid != f.root && p.parent == os.Getpid():
			unix.Wait4(pid, nil, unix.WNOHANG, nil)
			delete(f.known, pid)
		}
	}
	return living, nil
}

// has tells whether a process that is not known yet is a member.
func (f *family) has(p proc) bool {
	if _, ok := f.known[p.parent]; ok {
		return true
	}
	return p.parent == os.Getpid() && (p.session == f.root || hasMark(p.pid, f.mark) || f.brand.isOn(p.pid))
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
	if now, ok := readProc(p.pid); !ok || now.started != p.started {
		return nil
	}
	if err := unix.Kill(p.pid, s); err != nil && !errors.Is(err, unix.ESRCH) {
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
		if p, ok := readProc(pid); ok {
			all[pid] = p
		}
	}
	return all, nil
}

// readProc is not ok when there is no such process any more.
func readProc(pid int) (proc, bool) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return proc{}, false
	}
	return parseProc(string(text))
}

// parseProc reads "12 (na) me) S 1 12 12 ...", proc_pid_stat(5): the name is any
// text, so that the last parenthesis ends it.
func parseProc(stat string) (p proc, ok bool) {
	begin, end := strings.IndexByte(stat, '('), strings.LastIndexByte(stat, ')')
	if begin < 1 || end < begin {
		return p, false
	}
	fields := strings.Fields(stat[end+1:])
	const state, parent, group, session, threads, started = 0, 1, 2, 3, 17, 19
	if len(fields) <= started {
		return p, false
	}
	p.name = stat[begin+1 : end]
	p.started = fields[started]
	// A first thread that has ended before the others is a zombie, too.
	p.ended = fields[state] == "X" || fields[state] == "Z" && (fields[threads] == "0" || fields[threads] == "1")
	var errs [4]error
	p.pid, errs[0] = strconv.Atoi(stat[:begin-1])
	p.parent, errs[1] = strconv.Atoi(fields[parent])
	p.group, errs[2] = strconv.Atoi(fields[group])
	p.session, errs[3] = strconv.Atoi(fields[session])
	return p, errors.Join(errs[:]...) == nil
}
