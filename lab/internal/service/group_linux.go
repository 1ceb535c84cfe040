package service

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/weirhq/weir/internal/process"
)

// A group is a control group for one service. It limits the memory of all its
// processes together.
type group struct {
	dir          string
	controlFiles controlFiles
	file         *os.File // dir, opened to start a program in it; nil in version 1, which does not support that
}

// controlFiles are the names of a group's files for a limit of memory, by version.
type controlFiles struct {
	limit  string
	swap   string // may not exist
	noSwap string // value that disables swap; "" for the value of limit
	events string // contains a line "oom_kill N"
}

var (
	version1 = controlFiles{"memory.limit_in_bytes", "memory.memsw.limit_in_bytes", "", "memory.oom_control"}
	version2 = controlFiles{"memory.max", "memory.swap.max", "0", "memory.events"}
)

// groupRoots are the mount points of version 2: the usual one, and the one used
// together with version 1. Version 1 is mounted in the first one, in a
// directory per controller.
var groupRoots = []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}

// newGroup makes a group with a limit of memory in bytes.
func newGroup(memory int64) (*group, error) {
	g, err := findGroup("memory")
	if err != nil {
		return nil, fmt.Errorf(
			"limit the service to %d bytes of memory, which needs a control group of its own; %s: %w", memory,
			remedy(err), err)
	}
	most := strconv.FormatInt(memory, 10)
	if err := errors.Join(
		g.write(g.controlFiles.limit, most),
		g.writeIfThere(g.controlFiles.swap, cmp.Or(g.controlFiles.noSwap, most)), // swapped memory would not count
	); err != nil {
		g.remove()
		return nil, fmt.Errorf("limit the service to %d bytes of memory: %w", memory, err)
	}
	return g, nil
}

// remedy returns advice for when no group with the memory controller can be
// made.
func remedy(err error) string {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return "run as root, or by `systemd-run --user --scope -p Delegate=yes weir lab run ...`"
	// in a container that sees no group above its own
	case errors.Is(err, syscall.EROFS), errors.Is(err, syscall.EBUSY):
		return "start this container with --privileged --cgroupns=host"
	default:
		return "boot the kernel with cgroup_enable=memory, and mount cgroup2 at " + groupRoots[0]
	}
}

// findGroup makes a group below this process's own group, or below the nearest
// ancestor that passes the controller to its children. "" means no controller.
func findGroup(controller string) (*group, error) {
	root, own, controlFiles, err := ownGroup(controller)
	if err != nil {
		return nil, err
	}
	var failed error
	for at := own; ; at = filepath.Dir(at) {
		g, err := makeGroup(filepath.Join(root, at), controller, controlFiles)
		if err == nil {
			return g, nil
		}
		if failed == nil {
			failed = err
		} else if !errors.Is(failed, errors.Unwrap(err)) { // an error that is the same at all levels is reported once
			failed = fmt.Errorf("%w; %w", failed, err)
		}
		if at == "/" || at == "." {
			return nil, failed
		}
	}
}

// ownGroup returns the root of the groups with a controller, the path of this
// process's own group below it, and the file names. A controller belongs to one
// hierarchy only: to one of version 1 or to that of version 2.
func ownGroup(controller string) (root, own string, k controlFiles, err error) {
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", "", k, err
	}
	for line := range strings.Lines(string(text)) { // "4:memory:/a/b", "0::/c"
		part := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(part) != 3 {
			continue
		}
		switch number, controllers, path := part[0], part[1], part[2]; {
		case controller != "" && slices.Contains(strings.Split(controllers, ","), controller):
			return filepath.Join(groupRoots[0], controller), path, version1, nil
		case number == "0":
			own, k = path, version2
		}
	}
	for _, root := range groupRoots {
		if _, err := os.Stat(filepath.Join(root, "cgroup.controllers")); err == nil && k == version2 {
			return root, own, k, nil
		}
	}
	return "", "", k, fmt.Errorf("there are no control groups below %s", groupRoots[0])
}

func makeGroup(parent, controller string, k controlFiles) (*group, error) {
	if k == version2 {
		if err := handDown(parent, controller); err != nil {
			return nil, err
		}
	}
	removeOrphans(parent)
	dir, err := os.MkdirTemp(parent, fmt.Sprintf("%s%d-", groupPrefix, os.Getpid()))
	if err != nil {
		return nil, err
	}
	g := &group{dir: dir, controlFiles: k}
	if k == version2 {
		if g.file, err = os.Open(dir); err != nil {
			os.Remove(dir)
			return nil, err
		}
	}
	return g, nil
}

const groupPrefix = "weir-lab-" // followed by the PID of the process that made it

// removeOrphans removes the groups that killed processes have left. The kernel
// refuses to remove a group with processes.
func removeOrphans(parent string) {
	dirs, _ := filepath.Glob(filepath.Join(parent, groupPrefix+"*"))
	for _, dir := range dirs {
		maker, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), groupPrefix), "-")
		if _, err := os.Stat(filepath.Join("/proc", maker)); errors.Is(err, fs.ErrNotExist) {
			os.Remove(dir)
		}
	}
}

// handDown makes a group pass a controller to its children.
func handDown(parent, controller string) error {
	if controller == "" {
		return nil
	}
	handed := filepath.Join(parent, "cgroup.subtree_control")
	has, err := lists(handed, controller)
	if has || err != nil {
		return err
	}
	offered := filepath.Join(parent, "cgroup.controllers")
	if has, err = lists(offered, controller); err != nil {
		return err
	}
	if !has {
		return fmt.Errorf("%s does not have %q", offered, controller)
	}
	return set(handed, "+"+controller)
}

// lists reports whether a file contains a word.
func lists(file, word string) (bool, error) {
	text, err := os.ReadFile(file)
	return slices.Contains(strings.Fields(string(text)), word), err
}

// set writes to an existing file. The kernel refuses to create one, with
// another error than for a missing file.
func set(file, value string) error {
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if _, err := f.WriteString(value); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

func (g *group) write(name, value string) error { return set(filepath.Join(g.dir, name), value) }

func (g *group) writeIfThere(name, value string) error {
	if err := g.write(name, value); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// enter makes a command start in the group. In version 1 a shell enters the
// group and then executes the program.
func (g *group) enter(cmd *exec.Cmd) error {
	if g.file != nil {
		cmd.SysProcAttr.UseCgroupFD, cmd.SysProcAttr.CgroupFD = true, int(g.file.Fd())
		return nil
	}
	return viaShell(cmd, `echo $$ > "$1" && shift && exec "$0" "$@"`, filepath.Join(g.dir, "cgroup.procs"))
}

// kill kills all processes in the group: together since Linux 5.14, and
// otherwise one by one, which processes that are being forked may survive.
func (g *group) kill() error {
	if err := g.write("cgroup.kill", "1"); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	text, err := os.ReadFile(filepath.Join(g.dir, "cgroup.procs"))
	errs := []error{err}
	for _, word := range strings.Fields(string(text)) {
		pid, _ := strconv.Atoi(word) // 0 for processes that this process cannot see
		if stat, err := process.ReadStat(pid); err == nil {
			errs = append(errs, proc{stat}.signal(syscall.SIGKILL))
		}
	}
	return errors.Join(errs...)
}

// outOfMemory returns the number of processes that were killed at the limit.
func (g *group) outOfMemory() int {
	text, _ := os.ReadFile(filepath.Join(g.dir, g.controlFiles.events))
	for line := range strings.Lines(string(text)) {
		if number, ok := strings.CutPrefix(line, "oom_kill "); ok {
			n, _ := strconv.Atoi(strings.TrimSpace(number))
			return n
		}
	}
	return 0
}

// remove removes the group. The kernel releases ended processes with a short
// delay, so it retries.
func (g *group) remove() error {
	if g.file != nil {
		g.file.Close()
	}
	for deadline := time.Now().Add(time.Second); ; time.Sleep(5 * time.Millisecond) {
		err := os.Remove(g.dir)
		if err == nil || errors.Is(err, fs.ErrNotExist) || time.Now().After(deadline) {
			return err
		}
	}
}
