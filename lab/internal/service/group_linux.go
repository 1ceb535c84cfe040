package service

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A group is a control group, version 2, of a service's own. It holds all of
// its processes together to a limit of memory.
type group struct {
	dir  string
	file *os.File // dir
}

// groupRoots are where version 2 is mounted, alone or beside version 1.
var groupRoots = []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}

// newGroup makes a group that may use so many bytes.
func newGroup(memory int64) (*group, error) {
	g, err := findGroup("memory")
	if err != nil {
		return nil, fmt.Errorf("limit the service to %d bytes of memory, which takes a control group (version 2) of its own; run as root, or by `systemd-run --user --scope -p Delegate=yes weir lab run ...`: %w", memory, err)
	}
	if err := errors.Join(
		g.write("memory.max", strconv.FormatInt(memory, 10)),
		g.writeIfThere("memory.swap.max", "0"), // what is swapped would not count
	); err != nil {
		g.remove()
		return nil, fmt.Errorf("limit the service to %d bytes of memory: %w", memory, err)
	}
	return g, nil
}

// findGroup makes a group below this process's own, or below the nearest above
// it that hands the controller to those below; "" is no controller.
func findGroup(controller string) (*group, error) {
	root, own, err := ownGroup()
	if err != nil {
		return nil, err
	}
	var errs []error
	for at := own; ; at = filepath.Dir(at) {
		g, err := makeGroup(filepath.Join(root, at), controller)
		if err == nil {
			return g, nil
		}
		errs = append(errs, err)
		if at == "/" || at == "." {
			return nil, errors.Join(errs...)
		}
	}
}

// ownGroup returns where groups are and the path of this process's own below.
func ownGroup() (root, own string, err error) {
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", "", err
	}
	for line := range strings.Lines(string(text)) {
		path, ok := strings.CutPrefix(strings.TrimSpace(line), "0::")
		if !ok {
			continue
		}
		for _, root := range groupRoots {
			if _, err := os.Stat(filepath.Join(root, "cgroup.controllers")); err == nil {
				return root, path, nil
			}
		}
	}
	return "", "", fmt.Errorf("there is no hierarchy of control groups of version 2 below %s", groupRoots[0])
}

func makeGroup(parent, controller string) (*group, error) {
	if err := handDown(parent, controller); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(parent, "weir-lab-")
	if err != nil {
		return nil, err
	}
	g := &group{dir: dir}
	if g.file, err = os.Open(dir); err != nil {
		os.Remove(dir)
		return nil, err
	}
	return g, nil
}

// handDown has a group hand a controller to those below it.
func handDown(parent, controller string) error {
	const name = "cgroup.subtree_control"
	if controller == "" {
		return nil
	}
	text, err := os.ReadFile(filepath.Join(parent, name))
	if err != nil {
		return err
	}
	for _, has := range strings.Fields(string(text)) {
		if has == controller {
			return nil
		}
	}
	return os.WriteFile(filepath.Join(parent, name), []byte("+"+controller), 0)
}

func (g *group) write(name, value string) error {
	return os.WriteFile(filepath.Join(g.dir, name), []byte(value), 0)
}

func (g *group) writeIfThere(name, value string) error {
	if err := g.write(name, value); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// kill ends all in it at once, on Linux since 5.14.
func (g *group) kill() error { return g.writeIfThere("cgroup.kill", "1") }

// outOfMemory is how many processes were killed for the limit.
func (g *group) outOfMemory() int {
	text, _ := os.ReadFile(filepath.Join(g.dir, "memory.events"))
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
	g.file.Close()
	for deadline := time.Now().Add(time.Second); ; time.Sleep(5 * time.Millisecond) {
		err := os.Remove(g.dir)
		if err == nil || errors.Is(err, fs.ErrNotExist) || time.Now().After(deadline) {
			return err
		}
	}
}
