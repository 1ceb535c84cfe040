package service

import (
	"os/exec"
	"syscall"
	"testing"
)

// TestForeignChildIsNoMember starts a command while this process has the limit mark of a service, as another goroutine
// may. It inherits the mark, and it is no member of the service: Stop would kill it. A daemon, which has left the
// session of its service, is a member.
func TestForeignChildIsNoMember(t *testing.T) {
	foreign, daemon := exec.Command("sleep", "300"), exec.Command("sleep", "300")
	daemon.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	mark, err := startMarked(func() error {
		if err := foreign.Start(); err != nil {
			return err
		}
		return daemon.Start()
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, cmd := range []*exec.Cmd{foreign, daemon} {
		t.Cleanup(func() {
			cmd.Process.Kill()
			cmd.Wait()
		})
	}
	if mark == 0 {
		t.Skip("needs a limit of POSIX message queues of more than 4096 bytes")
	}
	const none = -1 // 0 is the session of this process if its leader is outside a container
	members, err := newTree(none, "", mark).look()
	if err != nil {
		t.Fatal(err)
	}
	if len(members) != 1 || members[0].PID != daemon.Process.Pid {
		t.Errorf("the members are %v, want only the daemon, which is %d; %d is foreign", members, daemon.Process.Pid,
			foreign.Process.Pid)
	}
}
