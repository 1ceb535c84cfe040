package service

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weirhq/weir/internal/process"
)

// lookEvery is the interval at which a Running is checked for its end.
const lookEvery = 20 * time.Millisecond

// Attach finds a service that already runs: a process, the processes of a control group of version 2, or if both are zero,
// processes that are not known. The group is a folder, or a path below its mount point. It changes nothing. The caller must
// call Detach.
func Attach(pid int, cgroup string) (*Running, error) {
	r := &Running{pid: pid, detached: make(chan struct{}), ended: make(chan struct{})}
	var lives func() bool
	switch {
	case pid != 0:
		found, err := findProcess(pid)
		if err != nil {
			return nil, err
		}
		lives = func() bool {
			now, err := process.ReadStat(pid)
			return err == nil && now.Started == found.Started && !now.Ended()
		}
	case cgroup != "":
		var err error
		if r.cgroup, err = findCgroup(cgroup); err != nil {
			return nil, err
		}
		lives = func() bool { return populated(r.cgroup) }
		if !lives() {
			return nil, fmt.Errorf("the control group %s has no processes", r.cgroup)
		}
	default:
		return r, nil
	}
	go r.watch(lives)
	return r, nil
}

// watch closes ended when the service has ended.
func (r *Running) watch(lives func() bool) {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for lives() {
		select {
		case <-r.detached:
			return
		case <-ticker.C:
		}
	}
	close(r.ended)
}

// findProcess returns the stat of a process, or an error that says why there is none.
func findProcess(pid int) (process.Stat, error) {
	stat, err := process.ReadStat(pid)
	switch {
	case errors.Is(err, os.ErrProcessDone) && errors.Is(unix.Kill(pid, 0), unix.EPERM):
		return stat, fmt.Errorf("process %d is of another user, and /proc hides it (hidepid): run weir as this user, or as root", pid)
	case errors.Is(err, os.ErrProcessDone), err == nil && stat.Ended():
		return stat, fmt.Errorf("process %d does not exist", pid)
	}
	return stat, err
}

// findCgroup returns the folder of a control group.
func findCgroup(name string) (string, error) {
	for _, root := range slices.Concat([]string{""}, groupRoots) {
		dir := filepath.Join(root, name)
		if _, err := os.Stat(filepath.Join(dir, "cgroup.procs")); err != nil {
			continue
		}
		if _, err := os.Stat(filepath.Join(dir, "cgroup.controllers")); err != nil {
			return "", fmt.Errorf("%s is a control group of version 1, and only those of version 2 can be measured: name a "+
				"process by service.pid", dir)
		}
		return dir, nil
	}
	return "", fmt.Errorf("there is no control group %s, neither as a folder nor below %s", name, groupRoots[0])
}

// populated reports whether a control group has processes. The root has no such file, and always has some.
func populated(dir string) bool {
	text, err := os.ReadFile(filepath.Join(dir, "cgroup.events"))
	if err != nil {
		_, err = os.Stat(filepath.Join(dir, "cgroup.procs"))
		return err == nil
	}
	return !strings.Contains(string(text), "populated 0")
}
