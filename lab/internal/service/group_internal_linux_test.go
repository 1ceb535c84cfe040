package service

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestGroupHoldsTheProgram starts a program in a group without a controller, which needs fewer
// privileges, and in one with the memory controller.
func TestGroupHoldsTheProgram(t *testing.T) {
	for name, controller := range map[string]string{"no controller": "", "memory": "memory"} {
		t.Run(name, func(t *testing.T) {
			g, err := findGroup(controller)
			if err != nil {
				t.Skip("no control group may be made: ", err)
			}
			cmd := exec.Command("sleep", "300")
			cmd.SysProcAttr = new(syscall.SysProcAttr)
			if err := errors.Join(g.enter(cmd), cmd.Start()); err != nil {
				t.Errorf("start a program in the group: %v", err)
			} else {
				killed(t, g, cmd)
			}
			if err := g.remove(); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(g.dir); err == nil {
				t.Errorf("%s is still there", g.dir)
			}
		})
	}
}

// killed kills a group until the program, which may not have entered it yet,
// has ended.
func killed(t *testing.T, g *group, cmd *exec.Cmd) {
	ended := make(chan struct{})
	go func() {
		cmd.Wait()
		close(ended)
	}()
	for late := time.After(10 * time.Second); ; {
		if err := g.kill(); err != nil {
			t.Error(err)
		}
		select {
		case <-ended:
			return
		case <-late:
			t.Error("the group was killed, and the program lived")
			cmd.Process.Kill()
			<-ended
			return
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// TestOrphanedGroupsAreRemoved makes a group of this process and one of an ended process.
func TestOrphanedGroupsAreRemoved(t *testing.T) {
	ended := exec.Command("true")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	parent := t.TempDir()
	ours := filepath.Join(parent, fmt.Sprintf("%s%d-1", groupPrefix, os.Getpid()))
	orphan := filepath.Join(parent, fmt.Sprintf("%s%d-1", groupPrefix, ended.Process.Pid))
	for _, dir := range []string{ours, orphan} {
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	removeOrphans(parent)
	if _, err := os.Stat(ours); err != nil {
		t.Errorf("the group of a process that runs: %v", err)
	}
	if _, err := os.Stat(orphan); err == nil {
		t.Error("the group of a process that has ended is still there")
	}
}

// TestHandDownAddsControllers uses plain files instead of those of a group.
func TestHandDownAddsControllers(t *testing.T) {
	for name, c := range map[string]struct{ offered, handed, want string }{
		"handed down before": {"cpu memory", "memory cpu", "memory cpu"},
		"offered":            {"cpu memory", "", "+memory"},
	} {
		t.Run(name, func(t *testing.T) {
			parent := group{dir: t.TempDir()}
			handed := parent.have(t, "cgroup.subtree_control", c.handed)
			parent.have(t, "cgroup.controllers", c.offered)
			if err := handDown(parent.dir, "memory"); err != nil {
				t.Error(err)
			}
			if got, _ := os.ReadFile(handed); string(got) != c.want {
				t.Errorf("cgroup.subtree_control is %q, want %q", got, c.want)
			}
		})
	}
}

// TestErrorOfHandDownSuggestsARemedy checks that the error suggests a remedy.
func TestErrorOfHandDownSuggestsARemedy(t *testing.T) {
	parent := group{dir: t.TempDir()}
	parent.have(t, "cgroup.subtree_control", "")
	offered := parent.have(t, "cgroup.controllers", "cpu memory2")
	err := handDown(parent.dir, "memory")
	if err == nil || !strings.Contains(err.Error(), offered) {
		t.Fatalf("the error is %v, want one that names %s", err, offered)
	}
	if got := remedy(err); !strings.Contains(got, "cgroup_enable=memory") {
		t.Errorf("for %q it says %q, want the kernel's option", err, got)
	}
}

// have makes a file of the group.
func (g group) have(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(g.dir, name)
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return file
}

// The group has no swap limit. Its folder allows new files, unlike that of a real group.
func TestMissingFilesAreNotWritten(t *testing.T) {
	g := group{dir: t.TempDir()}
	if err := g.writeIfThere("memory.swap.max", "0"); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(g.dir, "memory.swap.max")); err == nil {
		t.Error("memory.swap.max was made, which no kernel allows")
	}
}
