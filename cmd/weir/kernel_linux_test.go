package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/weirhq/weir/internal/testkit"
)

// TestDrainWorksAsPID1 runs weir as the first process of a PID namespace, as a
// container does. The kernel then delivers only the signals that it catches.
func TestDrainWorksAsPID1(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	p := prepare(t, "serve", "--config", configFile(t, "drain: 1h\n"+allTo(g.URL)))
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID}
	if os.Getuid() != 0 { // other users need a user namespace for a PID namespace
		p.cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
	}
	if err := p.start(); errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSPC) {
		t.Skipf("needs to make a PID namespace: run as root with CAP_SYS_ADMIN, or where user namespaces are "+
			"allowed: %v", err)
	} else if err != nil {
		t.Fatal(err)
	}
	p.url()
	if pids := strings.Fields(procStatus(t, p, "NSpid")); len(pids) < 2 || pids[len(pids)-1] != "1" {
		t.Fatalf("the process is %v in its namespaces, want 1 in the last", pids)
	}
	checkDrain(t, p, g, syscall.SIGTERM, 20)
}

// TestFileSizeLimitLosesNoEvent limits the size of the log file in the middle of a line,
// and lifts the limit again. Events in between wait; none is lost or truncated.
func TestFileSizeLimitLosesNoEvent(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "weir.log")
	b := start(t, "backend", "--listen", "127.0.0.1:0")
	p := door(t, fmt.Sprintf("log: {to: %q}\n", log)+allTo(b.url()))
	c := client(t)
	get(t, c, p.url()+"/before")
	eventsIn(t, log, 3)

	const torn = 100
	limitFiles(t, p, fileSize(t, log)+torn)
	for range 20 {
		if a := get(t, c, p.url()+"/meanwhile"); a.StatusCode != 200 {
			t.Fatalf("without a log: %s", a.Status)
		}
	}
	testkit.AwaitEqual(t, "60 events to wait", func() float64 { return metric(t, p.admin(), "weir_log_queue_events") }, 60)
	if size := fileSize(t, log); size < torn {
		t.Fatalf("the log has %d bytes", size)
	}

	limitFiles(t, p, unix.RLIM_INFINITY)
	get(t, c, p.url()+"/after")
	paths := make(map[string]int)
	for _, e := range eventsIn(t, log, 66) {
		paths[e.HTTP.Path]++
	}
	if paths["/before"] != 3 || paths["/meanwhile"] != 60 || paths["/after"] != 3 {
		t.Errorf("events by path: %v, want 3 before, 60 meanwhile, 3 after", paths)
	}
	p.signal(syscall.SIGTERM)
	p.wait(0)
}

func fileSize(t *testing.T, file string) uint64 {
	t.Helper()
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	return uint64(info.Size())
}

// limitFiles limits the size of files that the process writes.
func limitFiles(t *testing.T, p *process, size uint64) {
	t.Helper()
	pid := p.cmd.Process.Pid
	var limit unix.Rlimit
	if err := unix.Prlimit(pid, unix.RLIMIT_FSIZE, nil, &limit); err != nil {
		t.Skipf("needs prlimit(2) on its own child: %v", err)
	}
	limit.Cur = min(size, limit.Max)
	if err := unix.Prlimit(pid, unix.RLIMIT_FSIZE, &limit, nil); err != nil {
		t.Fatal(err)
	}
}
