package lab_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/weirhq/weir/internal/process"
	"github.com/weirhq/weir/internal/testkit"
	"github.com/weirhq/weir/lab"
	"github.com/weirhq/weir/lab/analysis"
	"github.com/weirhq/weir/lab/experiment"
	"github.com/weirhq/weir/lab/report"
	"github.com/weirhq/weir/lab/results"
)

// startRunning starts a service that a test measures as one that already runs, and returns its URL. It ends with the test.
func startRunning(t *testing.T, args ...string) (url string, cmd *exec.Cmd) {
	t.Helper()
	cmd = exec.Command(os.Args[0], args...) // listens on a free port
	cmd.Env = append(os.Environ(), asProgram+"=service", "GORACE=atexit_sleep_ms=0")
	startProcess(t, cmd)
	testkit.Await(t, "a listener of the service", func() bool {
		p, err := process.Open(cmd.Process.Pid)
		if err != nil {
			return false
		}
		defer p.Close()
		addresses, err := p.Listening()
		if err == nil && len(addresses) > 0 {
			url = "http://" + addresses[0].String() + "/"
		}
		return url != ""
	})
	return url, cmd
}

func startProcess(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait() // its error is that it was killed
	})
}

// TestRunningServiceIsMeasuredAndLeftRunning compares two services that already run, each by its PID.
func TestRunningServiceIsMeasuredAndLeftRunning(t *testing.T) {
	t.Parallel()
	old, first := startRunning(t)
	_, second := startRunning(t)
	compared := func(a, b *exec.Cmd) *experiment.Experiment {
		return parse(t, few+fmt.Sprintf(`
include:
  - {name: old, set: {service.url: %q, service.pid: %d}}
  - {name: new, set: {service.pid: %d}}
`, old, a.Process.Pid, b.Process.Pid))
	}
	e := compared(first, second)
	o := options(t)
	r := run(t, e, o)
	if len(r.Runs) != 3 {
		t.Errorf("%d runs, want one of each and of the baseline's twin", len(r.Runs))
	}
	for _, one := range r.Runs {
		if one.Outcome != results.Done || one.Usage.CPUSeconds == 0 || one.Usage.PeakRSS == 0 || one.Usage.PeakThreads == 0 ||
			one.Usage.PeakFiles == 0 || len(one.Missing) > 0 || one.ReadyAfter != 0 || len(one.Warnings) > 0 {
			t.Errorf("%s: %s, %s: %+v, missing %v, ready after %v, warnings %q; want all measures of a service that was ready before",
				one.Configuration, one.Outcome, one.Error, one.Usage, one.Missing, one.ReadyAfter, one.Warnings)
		}
	}
	for _, cmd := range []*exec.Cmd{first, second} {
		if err := cmd.Process.Signal(syscall.Signal(0)); err != nil {
			t.Errorf("process %d after the experiment: %v, want it to run", cmd.Process.Pid, err)
		}
	}
	o.Resume = true
	if r := run(t, e, o); len(r.Runs) != 3 {
		t.Errorf("resumed: %d runs, want 3", len(r.Runs))
	}
	if _, err := lab.Run(t.Context(), compared(second, first), o); err == nil || !strings.Contains(err.Error(), "of another experiment") {
		t.Errorf("resumed with other PIDs: %v, want that they are another experiment", err)
	}
}

// TestForeignServiceWithoutPIDHasLatenciesOnly loads a server in Python, and checks that the report says what is missing.
func TestForeignServiceWithoutPIDHasLatenciesOnly(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed: ", err)
	}
	cmd := exec.Command(python, "-u", "-m", "http.server", "--bind", "127.0.0.1", "--directory", t.TempDir(), "0")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	startProcess(t, cmd)
	line, err := bufio.NewReader(out).ReadString('\n')
	url := regexp.MustCompile(`http://\S+:\d+/`).FindString(line)
	if url == "" {
		t.Fatalf("python says %q, %v; want its URL", line, err)
	}
	go io.Copy(io.Discard, out)
	asked := len(results.Parts()) - 1 // nobody asks for the instructions
	for name, c := range map[string]struct {
		more    string
		missing int
	}{"without a PID": {"", asked}, "with it": {", pid: " + strconv.Itoa(cmd.Process.Pid), 0}} {
		t.Run(name, func(t *testing.T) {
			r := run(t, parse(t, few+"service: {url: '"+url+"'"+c.more+"}\n"), options(t))
			for _, one := range r.Runs {
				if one.Outcome != results.Done || one.Load.Requests == 0 || len(one.Missing) != c.missing {
					t.Errorf("%s, %s: missing %v, want %d parts", one.Outcome, one.Error, one.Missing, c.missing)
				}
				for _, m := range results.Metrics() {
					if _, ok := m.Of(&one); m.Part != "" && m.Part != results.Instructions && ok != (c.missing == 0) {
						t.Errorf("%s has a value: %v", m.Name, ok)
					}
				}
			}
			var text bytes.Buffer
			if err := report.Text(&text, r, analysis.Of(r), "", report.Style{Width: 500}); err != nil {
				t.Fatal(err)
			}
			const missing = "There are no values of CPU, memory, threads, open files and context switches: neither service.pid nor " +
				"service.cgroup names the processes of the service."
			if strings.Contains(text.String(), missing) != (c.missing > 0) {
				t.Errorf("the report is\n%s", text.String())
			}
		})
	}
}

// TestEndOfRunningServiceFailsTheRun ends the service during the load. Its later runs fail too.
func TestEndOfRunningServiceFailsTheRun(t *testing.T) {
	t.Parallel()
	url, cmd := startRunning(t, "--dies", "50")
	e := parse(t, fmt.Sprintf("repeats: 1\nload: {connections: 1, threads: 1, requests: 200}\nservice: {url: %q, pid: %d}\n", url,
		cmd.Process.Pid))
	r := run(t, e, options(t))
	for i, one := range r.Runs {
		want := fmt.Sprintf("process %d ended before the run began", cmd.Process.Pid)
		if i == 0 {
			want = fmt.Sprintf("process %d ended while it was loaded", cmd.Process.Pid)
		}
		if one.Outcome != results.Died || one.Error != want {
			t.Errorf("run %d: %s, %s; want died, %s", one.Number, one.Outcome, one.Error, want)
		}
	}
}

// TestUnfitRunningServiceIsRefusedBeforeTheFirstRun has services that cannot be measured.
func TestUnfitRunningServiceIsRefusedBeforeTheFirstRun(t *testing.T) {
	t.Parallel()
	url, _ := startRunning(t)
	sleeper := exec.Command("sleep", "600")
	startProcess(t, sleeper)
	ended := exec.Command("true")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	free := testkit.ClosedAddress(t)
	for service, want := range map[string]string{
		fmt.Sprintf("{pid: %d}", ended.Process.Pid):                 fmt.Sprintf("process %d does not exist", ended.Process.Pid),
		fmt.Sprintf("{pid: %d}", sleeper.Process.Pid):               fmt.Sprintf("find the URL of process %d: it listens on no port; name it by service.url", sleeper.Process.Pid),
		fmt.Sprintf("{url: 'http://%s/'}", free):                    fmt.Sprintf("there is no service at http://%s/", free),
		fmt.Sprintf("{url: %q, pid: %d}", url, sleeper.Process.Pid): fmt.Sprintf("which is neither process %d nor a child of it", sleeper.Process.Pid),
		fmt.Sprintf("{url: %q, cgroup: /no/such/group}", url):       "there is no control group /no/such/group",
	} {
		o := options(t)
		r, err := lab.Run(t.Context(), parse(t, few+"service: "+service+"\n"), o)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: Run = %v, %v; want the error %q", service, r, err, want)
		}
		if runs, _ := filepath.Glob(filepath.Join(o.Dir, "runs", "*")); len(runs) > 0 {
			t.Errorf("%s: there are %q, want no run", service, runs)
		}
	}
}

// TestProcessOfAnotherUserHasWhatCanBeRead runs the lab as a user who may not list the files of the service.
func TestProcessOfAnotherUserHasWhatCanBeRead(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("root is needed to run the lab as another user")
	}
	url, cmd := startRunning(t)
	dir, err := os.MkdirTemp("/tmp", "weir-lab-user-") // the folders of the test are closed to other users
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	const nobody = 65534
	program := filepath.Join(dir, "lab")
	text, err := os.ReadFile(os.Args[0])
	if err == nil {
		err = os.WriteFile(program, text, 0o755)
	}
	file := filepath.Join(dir, "test.yaml")
	if err == nil {
		err = os.WriteFile(file, []byte(document(few+fmt.Sprintf("service: {url: %q, pid: %d}\n", url, cmd.Process.Pid))), 0o644)
	}
	if err == nil {
		err = os.Chown(dir, nobody, nobody)
	}
	if err != nil {
		t.Fatal(err)
	}
	run := exec.CommandContext(t.Context(), program, file, filepath.Join(dir, "out"))
	run.Env = append(os.Environ(), asProgram+"=lab")
	run.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	said, err := run.CombinedOutput()
	if err != nil {
		t.Skipf("a program of another user cannot be run in %s: %v, %s", dir, err, said)
	}
	r, err := lab.Read(filepath.Join(dir, "out"))
	if err != nil {
		t.Fatalf("%v; the lab says %s", err, said)
	}
	for _, one := range r.Runs {
		if one.Outcome != results.Done || one.Usage.CPUSeconds == 0 || one.Usage.PeakRSS == 0 ||
			one.Usage.PeakFiles == 0 && !one.Lacks(results.OpenFiles) || !strings.Contains(strings.Join(one.Warnings, " "),
			"permission denied") {
			t.Errorf("%s, %s: %+v, missing %v, warnings %q; want CPU, memory, and a warning", one.Outcome, one.Error, one.Usage,
				one.Missing, one.Warnings)
		}
	}
}

// TestOneOfSeveralWorkersHasAWarning measures a child that shares the listener of its parent.
func TestOneOfSeveralWorkersHasAWarning(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed: ", err)
	}
	cmd := exec.Command(python, "-c", `
import http.server, os, signal
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
server = http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
child = os.fork()
if child: print(child, server.server_port, flush=True)
server.serve_forever()`)
	cmd.Dir = t.TempDir()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	startProcess(t, cmd)
	var child, port int
	if _, err := fmt.Fscan(out, &child, &port); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		syscall.Kill(child, syscall.SIGKILL)
		testkit.Await(t, "the end of the child", func() bool { return syscall.Kill(child, 0) != nil })
	})
	for pid, want := range map[int]bool{child: true, cmd.Process.Pid: false} {
		e := parse(t, few+fmt.Sprintf("service: {url: 'http://127.0.0.1:%d/', pid: %d}\n", port, pid))
		for _, one := range run(t, e, options(t)).Runs {
			warned := strings.Contains(strings.Join(one.Warnings, " "), fmt.Sprintf("process %d, the parent of process %d, listens",
				cmd.Process.Pid, child))
			if one.Outcome != results.Done || warned != want {
				t.Errorf("%s, %s, warnings %q; want a warning: %v", one.Outcome, one.Error, one.Warnings, want)
			}
		}
	}
}

// TestProcessInAnotherNetworkNamespaceHasAWarning measures a process whose requests another one forwards, as in a container.
func TestProcessInAnotherNetworkNamespaceHasAWarning(t *testing.T) {
	t.Parallel()
	url, _ := startRunning(t)
	inside := exec.Command("sleep", "600")
	inside.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	if err := inside.Start(); err != nil {
		t.Skip("a network namespace is needed, which root can make: ", err)
	}
	t.Cleanup(func() {
		inside.Process.Kill()
		inside.Wait() // its error is that it was killed
	})
	e := parse(t, few+fmt.Sprintf("service: {url: %q, pid: %d}\n", url, inside.Process.Pid))
	for _, one := range run(t, e, options(t)).Runs {
		if one.Outcome != results.Done || !strings.Contains(strings.Join(one.Warnings, " "), "is in another network namespace") {
			t.Errorf("%s, %s, warnings %q; want one about the namespace", one.Outcome, one.Error, one.Warnings)
		}
	}
}

// TestRunningCgroupIsMeasured moves a service into a control group of its own.
func TestRunningCgroupIsMeasured(t *testing.T) {
	t.Parallel()
	group := newCgroup(t)
	url, cmd := startRunning(t)
	if err := os.WriteFile(filepath.Join(group, "cgroup.procs"), []byte(strconv.Itoa(cmd.Process.Pid)), 0); err != nil {
		t.Fatal(err)
	}
	e := parse(t, few+fmt.Sprintf("service: {url: %q, cgroup: %q}\n", url, group))
	for _, one := range run(t, e, options(t)).Runs {
		if one.Outcome != results.Done || one.Usage.CPUSeconds == 0 || one.Lacks(results.CPU) ||
			(one.Usage.PeakRSS == 0) != one.Lacks(results.Memory) || !one.Lacks(results.OpenFiles) || len(one.Warnings) > 0 {
			t.Errorf("%s, %s: %+v, missing %v, warnings %q; want the CPU, and the memory if the group counts it", one.Outcome,
				one.Error, one.Usage, one.Missing, one.Warnings)
		}
	}
	other, _ := startRunning(t)
	if err := e.Set("service.url", other); err != nil {
		t.Fatal(err)
	}
	for _, one := range run(t, e, options(t)).Runs {
		if warnings := strings.Join(one.Warnings, " "); !strings.Contains(warnings, "is not in the control group "+group) {
			t.Errorf("warnings %q, want one that another process responds", warnings)
		}
	}
	cmd.Process.Kill()
	cmd.Wait()
	testkit.Await(t, "the end of the group's processes", func() bool {
		text, err := os.ReadFile(filepath.Join(group, "cgroup.events"))
		return err == nil && bytes.Contains(text, []byte("populated 0"))
	})
	if r, err := lab.Run(t.Context(), e, options(t)); err == nil || !strings.Contains(err.Error(), "has no processes") {
		t.Errorf("Run = %v, %v; want an error that the group is empty", r, err)
	}
}

// newCgroup returns the folder of a new control group of version 2.
func newCgroup(t *testing.T) string {
	t.Helper()
	const needs = "a control group of version 2 is needed, which root can make on a system with cgroup2"
	root := filepath.Join(t.TempDir(), "cgroup2")
	if err := os.Mkdir(root, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("none", root, "cgroup2", 0, ""); err != nil {
		t.Skipf("%s: %v", needs, err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(root, 0); err != nil {
			t.Error(err)
		}
	})
	group := filepath.Join(root, fmt.Sprintf("weir-test-%d", os.Getpid()))
	if err := os.Mkdir(group, 0o777); err != nil {
		t.Skipf("%s: %v", needs, err)
	}
	t.Cleanup(func() {
		testkit.Await(t, "the removal of "+group, func() bool { return os.Remove(group) == nil })
	})
	return group
}
