package checkout

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Command returns a program that is killed with all its descendants when ctx
// ends: compilers started by go test, and processes started by benchmarks. Git
// uses the repository of the folder in which it runs.
func Command(ctx context.Context, dir, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = slices.DeleteFunc(os.Environ(), steersGit)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 2 * time.Second
	return cmd
}

// steersGit reports whether an environment variable makes git use another
// repository than that of its folder. Git sets such variables for its hooks.
func steersGit(variable string) bool {
	return strings.HasPrefix(variable, "GIT_DIR=") || strings.HasPrefix(variable, "GIT_WORK_TREE=") ||
		strings.HasPrefix(variable, "GIT_INDEX_FILE=")
}
