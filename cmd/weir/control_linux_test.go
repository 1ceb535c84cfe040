package main

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/weirhq/weir/internal/testkit"
)

// TestReloadReachesTheNextProcess reloads and upgrades a door after a restart, while the process before
// still drains. Without a next process, weir reload says that none responds.
func TestReloadReachesTheNextProcess(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	const drain = "drain: {delay: off, timeout: 1h}\n"
	file := restartable(t, drain+allTo(g.URL))
	first := start(t, "serve", "--config", file)
	held := send(t, first.url(), 1)
	g.await(t, 1)
	first.signal(syscall.SIGTERM)
	first.says("draining")
	reload := reloads(t, file, func(text string) bool { return strings.Contains(text, noProcess) })
	reload.says("weir: hint: .*; a front door that drains does not respond")

	next := start(t, "serve", "--config", file)
	admin := next.admin()
	const added = "routes: [{match: /new, respond: {status: 200, text: new}}, "
	testkit.WriteFile(t, file, strings.Replace(testkit.ReadFile(t, file), "routes: [", added, 1))
	reloads(t, file, func(text string) bool { return !strings.Contains(text, noProcess) }).wait(0)
	next.says("weir: reloaded ")
	if a := get(t, client(t), next.url()+"/new"); a.body != "new" {
		t.Errorf("after the reload: %s with %q", a.Status, a.body)
	}
	first.alive()

	upgraded := runs(t, 0, "upgrade", "--config", file).says(`the process (\d+) serves now`)
	pid, err := strconv.Atoi(upgraded)
	if err != nil || pid == os.Getpid() {
		t.Fatalf("the process after the upgrade is %s", upgraded)
	}
	killAtEnd(t, pid)
	testkit.AwaitEqual(t, "/readyz", func() int { return get(t, client(t), admin+"/readyz").StatusCode }, 200)
	first.alive()
	close(g.open)
	checkGated(t, held)
	first.wait(0)
	stop(t, pid)
	next.wait(0) // the upgraded process has its stderr
}

// noProcess is what weir reload says if no process responds.
const noProcess = "runs here"

// reloads runs weir reload until it says what is wanted: the moment at which a process begins or ceases to respond is
// not known.
func reloads(t *testing.T, file string, wanted func(stderr string) bool) (last *process) {
	t.Helper()
	testkit.Await(t, "the wanted text of weir reload", func() bool {
		last = start(t, "reload", "--config", file)
		<-last.exited
		return wanted(last.stderr.String())
	})
	return last
}
