package service

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// TestGroup puts a program into a group without a limit, which takes less than
// one with a limit does.
func TestGroup(t *testing.T) {
	g, err := findGroup("")
	if err != nil {
		t.Skip("no control group may be made: ", err)
	}
	cmd := exec.Command("sleep", "300")
	cmd.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: int(g.file.Fd())}
	if err := cmd.Start(); err != nil {
		t.Errorf("start a program in the group: %v", err)
	} else {
		late := time.AfterFunc(10*time.Second, func() { cmd.Process.Kill() })
		if err := g.kill(); err != nil {
			t.Error(err)
		}
		cmd.Wait()
		if !late.Stop() {
			t.Error("the group was killed, and the program lived")
		}
	}
	if err := g.remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(g.dir); err == nil {
		t.Errorf("%s is still there", g.dir)
	}
}

func TestParseProc(t *testing.T) {
	const stat = "12 (a) b) S 1 2 3 0 -1 4194304 100 0 0 0 7 8 9 10 20 0 4 0 2270164 3133440 380"
	want := proc{pid: 12, name: "a) b", parent: 1, group: 2, session: 3, started: "2270164"}
	if got, ok := parseProc(stat); got != want || !ok {
		t.Errorf("parseProc = %+v, %v; want %+v", got, ok, want)
	}
	for i := range len(stat) - len(" 3133440 380") - len("2270164") {
		if got, ok := parseProc(stat[:i]); ok {
			t.Errorf("parseProc(%q) = %+v", stat[:i], got)
		}
	}
}
