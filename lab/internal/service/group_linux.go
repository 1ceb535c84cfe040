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

// A group is a control group of a service's own. It holds all of its processes
// together to a limit of memory.
type group struct {
	dir   string
	knobs knobs
	file  *os.File // dir, to start a program in; nil in version 1, which cannot
}

// knobs are the files of a group by which a version bounds its memory.
type knobs struct {
	limit  string
	swap   string // may be missing
	noSwap string // what it is set to, "" for the limit itself
	events string // has a line "oom_kill N"
}

var (
	version1 = knobs{"memory.limit_in_bytes", "memory.memsw.limit_in_bytes", "", "memory.oom_control"}
	version2 = knobs{"memory.max", "memory.swap.max", "0", "memory.events"}
)

// groupRoots are where version 2 is mounted, alone or beside version 1, which
// is mounted beside it by the name of its controller.
var groupRoots = []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}

// newGroup makes a group that may use so many bytes.
func newGroup(memory int64) (*group, error) {
	g, err := findGroup("memory")
	if err != nil {
		return nil, fmt.Errorf("limit the service to %d bytes of memory, which takes a control group of its own; %s: %w", memory, remedy(err), err)
	}
	most := strconv.FormatInt(memory, 10)
	if err := errors.Join(
		g.write(g.knobs.limit, most),
		g.writeIfThere(g.knobs.swap, cmp.Or(g.knobs.noSwap, most)), // what is swapped would not count
	); err != nil {
		g.remove()
		return nil, fmt.Errorf("limit the service to %d bytes of memory: %w", memory, err)
	}
	return g, nil
}

// remedy says what to do when no group with the memory controller can be made.
func remedy(err error) string {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return "run as root, or by `systemd-run --user --scope -p Delegate=yes weir lab run ...`"
	case errors.Is(err, syscall.EROFS), errors.Is(err, syscall.EBUSY): // of a container that sees no group above its own
		return "start this container with --privileged --cgroupns=host"
	default:
		return "boot the kernel with cgroup_enable=memory, and have cgroup2 mounted at " + groupRoots[0]
	}
}

// findGroup makes a group below this process's own, or below the nearest above
// it that hands the controller to those below; "" is no controller.
func findGroup(controller string) (*group, error) {
	root, own, knobs, err := ownGroup(controller)
	if err != nil {
		return nil, err
	}
	var failed error
	for at := own; ; at = filepath.Dir(at) {
		g, err := makeGroup(filepath.Join(root, at), controller, knobs)
		if err == nil {
			return g, nil
		}
		if failed == nil {
			failed = err
		} else if !errors.Is(failed, errors.Unwrap(err)) { // what is the same all the way up is said once
			failed = fmt.Errorf("%w; %w", failed, err)
		}
		if at == "/" || at == "." {
			return nil, failed
		}
	}
}

// ownGroup returns where groups with a controller are, the path of this
// process's own below, and how they are bounded. A controller is in one
// hierarchy alone: in one of version 1, or else in that of version 2.
func ownGroup(controller string) (root, own string, k knobs, err error) {
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

func makeGroup(parent, controller string, k knobs) (*group, error) {
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
	g := &group{dir: dir, knobs: k}
	if k == version2 {
		if g.file, err = os.Open(dir); err != nil {
			os.Remove(dir)
			return nil, err
		}
	}
	return g, nil
}

const groupPrefix = "weir-lab-" // then the process that has made the group

// removeOrphans removes the groups of processes that were killed. The kernel
// keeps those in which something still runs.
func removeOrphans(parent string) {
	dirs, _ := filepath.Glob(filepath.Join(parent, groupPrefix+"*"))
	for _, dir := range dirs {
		maker, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), groupPrefix), "-")
		if _, err := os.Stat(filepath.Join("/proc", maker)); errors.Is(err, fs.ErrNotExist) {
			os.Remove(dir)
		}
	}
}

// handDown has a group hand a controller to those below it.
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

// lists tells whether a word is in a file.
func lists(file, word string) (bool, error) {
	text, err := os.ReadFile(file)
	return slices.Contains(strings.Fields(string(text)), word), err
}

// set writes to a file that has to be there: the kernel refuses to have one
// made, with another error than for one that is missing.
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

// enter has a command begin in the group. In version 1 a shell goes there, and
// becomes the program.
func (g *group) enter(cmd *exec.Cmd) error {
	if g.file != nil {
		cmd.SysProcAttr.UseCgroupFD, cmd.SysProcAttr.CgroupFD = true, int(g.file.Fd())
		return nil
	}
	return viaShell(cmd, `echo $$ > "$1" && shift && exec "$0" "$@"`, filepath.Join(g.dir, "cgroup.procs"))
}

// kill ends all in it: at once on Linux since 5.14, else one by one, which who
// is being born may survive.
func (g *group) kill() error {
	if err := g.write("cgroup.kill", "1"); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	text, err := os.ReadFile(filepath.Join(g.dir, "cgroup.procs"))
	errs := []error{err}
	for _, word := range strings.Fields(string(text)) {
		pid, _ := strconv.Atoi(word) // 0 of those that this process cannot see
		if stat, err := process.ReadStat(pid); err == nil {
			errs = append(errs, proc{stat}.signal(syscall.SIGKILL))
		}
	}
	return errors.Join(errs...)
}

// outOfMemory is how many processes were killed for the limit.
func (g *group) outOfMemory() int {
	text, _ := os.ReadFile(filepath.Join(g.dir, g.knobs.events))
	for line := range strings.Lines(string(text)) {
		if number, ok := strings.CutPrefix(line, "oom_kill "); ok {
			n, _ := strconv.Atoi(strings.TrimSpace(number))
			return n
		}
	}
	return 0
}

// remove removes the group. The kernel lets those go that have ended a moment
// later.
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
