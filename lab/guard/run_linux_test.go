package guard_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weirhq/weir/lab/experiment"
	"github.com/weirhq/weir/lab/guard"
	"github.com/weirhq/weir/lab/internal/perf"
	"github.com/weirhq/weir/load/settings"
)

const patience = 2 * time.Minute

// serve is a service that uses the CPU as much as the file "built" in its folder
// says, or ends if there is no number.
func serve() {
	text, err := os.ReadFile("built")
	rounds, notNumber := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || notNumber != nil {
		fmt.Fprintln(os.Stderr, "no number of rounds:", err, notNumber)
		os.Exit(3)
	}
	l, err := net.Listen("tcp", os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	go http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x := uint32(1)
		for range rounds {
			x ^= x << 13
			x ^= x >> 17
			x ^= x << 5
		}
		fmt.Fprintln(w, x)
	}))
	if err := writeProcessors(os.Getenv("WEIR_LAB_MEASURES")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	ends := make(chan os.Signal, 1)
	signal.Notify(ends, syscall.SIGTERM)
	<-ends
}

// writeProcessors writes the processors that this process may use as a measure, the sum of their powers of two.
func writeProcessors(file string) error {
	var own unix.CPUSet
	if err := unix.SchedGetaffinity(0, &own); err != nil {
		return err
	}
	text := fmt.Sprintf(`[{"name": "processors", "unit": "", "value": %d}]`, own[0])
	return os.WriteFile(file, []byte(text), 0o666)
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", args, err, out)
	}
	return string(out)
}

const rounds = 500_000

// repository creates a repository whose commit has a service with that text in its
// file, in a folder below.
func repository(t *testing.T, text string) (dir, folder string) {
	t.Helper()
	dir = t.TempDir()
	folder = filepath.Join(dir, "service")
	git(t, dir, "init", "--quiet", "-b", "trunk")
	if err := os.Mkdir(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	write(t, folder, text)
	git(t, dir, "add", ".")
	git(t, dir, "commit", "--quiet", "-m", "the service")
	return dir, folder
}

// write changes the file from which the service is built.
func write(t *testing.T, folder, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(folder, "source"), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// guarded runs a guard in a folder, with the commit as its base.
func guarded(t *testing.T, folder string, within time.Duration, condition string) (*guard.Result, error) {
	t.Helper()
	return guardedBy(t.Context(), t, guard.Options{Dir: folder, Within: within, Conditions: conditions(t, condition)})
}

// guardedBy adds the service and the load to the options.
func guardedBy(ctx context.Context, t *testing.T, o guard.Options) (*guard.Result, error) {
	t.Helper()
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	folder := o.Dir
	o.Base, o.Build, o.Weir = "trunk", "cp source built", os.Args[0]
	o.Experiment = &experiment.Experiment{
		Service: experiment.Service{Command: experiment.Command{"${weir}", "127.0.0.1:${port}"},
			Env:    map[string]string{asService: "yes", "GORACE": "atexit_sleep_ms=0"},
			Stderr: experiment.Sink{Kind: experiment.Pipe}},
		Load: settings.Settings{Connections: 2, Threads: 1, Requests: 40, Timeout: 10 * time.Second},
	}
	r, err := guard.Run(ctx, o)
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("%v is left in the temporary folder, error %v", left, err)
	}
	if trees := git(t, folder, "worktree", "list"); strings.Count(trees, "\n") != 1 {
		t.Errorf("a work tree is left:\n%s", trees)
	}
	return r, err
}

func TestSlowerServiceIsWorse(t *testing.T) {
	_, folder := repository(t, strconv.Itoa(rounds))
	write(t, folder, strconv.Itoa(2*rounds))
	r, err := guarded(t, folder, 90*time.Second, "CPU per request > 5%") // it ends when it is decided
	if err != nil {
		t.Fatal(err)
	}
	if j := r.Conditions[0]; r.Answer != guard.Worse || j.Low <= 0 || len(r.Blocks) < guard.LeastBlocks {
		t.Errorf("%s, %+v", r.Sentence(), j)
	}
	if head := git(t, folder, "rev-parse", "--short", "HEAD"); r.Commit != strings.TrimSpace(head)+"-dirty" {
		t.Errorf("the commit is %q, want that of %s with -dirty", r.Commit, head)
	}
	if !strings.HasPrefix(r.Base, "trunk (") || !strings.HasSuffix(r.Base, " the service)") {
		t.Errorf("the base is %q", r.Base)
	}
}

// TestEqualServiceIsNotWorse has a high bound, so that the answer does not depend on the
// machine.
func TestEqualServiceIsNotWorse(t *testing.T) {
	_, folder := repository(t, strconv.Itoa(rounds))
	r, err := guarded(t, folder, 2*time.Second, "CPU per request > 300%")
	if err != nil {
		t.Fatal(err)
	}
	if r.Answer == guard.Worse || r.Interrupted || len(r.Blocks) == 0 {
		t.Errorf("%s, %+v", r.Sentence(), r)
	}
	if r.Answer == guard.Undecided && !strings.Contains(r.Sentence(), "more would probably decide") {
		t.Errorf("no outlook in %q", r.Sentence())
	}
}

// TestInstructionsAreComparedOrRefused has a machine with a counter of instructions, or one without.
func TestInstructionsAreComparedOrRefused(t *testing.T) {
	_, folder := repository(t, strconv.Itoa(rounds))
	write(t, folder, strconv.Itoa(2*rounds))
	r, err := guarded(t, folder, 90*time.Second, "instructions per request > 5%")
	if err != nil {
		t.Log("no instructions were counted: ", err)
		if c, counts := perf.Instructions.Count([]int{os.Getpid()}); counts == nil {
			c.Close()
			t.Errorf("error %v, but they can be counted here", err)
		} else if !strings.HasSuffix(err.Error(), "instructions per request cannot be compared: "+counts.Error()) {
			t.Errorf("error %v, want the reason %v", err, counts)
		}
		return
	}
	if j := r.Conditions[0]; r.Answer != guard.Worse || math.Abs(math.Exp(j.Estimate)-2) > 0.5 {
		t.Errorf("%s, want worse and about +100%%", r.Sentence())
	}
}

func TestDyingChangeIsWorse(t *testing.T) {
	_, folder := repository(t, strconv.Itoa(rounds))
	write(t, folder, "none")
	r, err := guarded(t, folder, time.Minute, "CPU per request > 5%")
	if err != nil {
		t.Fatal(err)
	}
	want := "worse: the change did not serve in block 1, and the base did: died: "
	if got := r.Sentence(); !strings.HasPrefix(got, want) || !strings.Contains(got, "exit status 3") ||
		!strings.Contains(r.Failure.Run.LastOutput, "no number of rounds") {
		t.Errorf("got %q, want %q…; its last output: %s", got, want, r.Failure.Run.LastOutput)
	}
}

func TestDyingBaseIsAnError(t *testing.T) {
	_, folder := repository(t, "none")
	write(t, folder, strconv.Itoa(rounds))
	_, err := guarded(t, folder, time.Minute, "CPU per request > 5%")
	if run := new(guard.RunError); !errors.As(err, &run) || !strings.Contains(run.Run.LastOutput, "no number of rounds") {
		t.Errorf("error %v, want one of the base with its last output", err)
	}
}

// TestFailedBuildIsAnError removes the file that the build needs from one side.
func TestFailedBuildIsAnError(t *testing.T) {
	_, folder := repository(t, strconv.Itoa(rounds))
	if err := os.Remove(filepath.Join(folder, "source")); err != nil {
		t.Fatal(err)
	}
	_, err := guarded(t, folder, time.Minute, "CPU per request > 5%")
	if err == nil || !strings.Contains(err.Error(), "cp source built") || !strings.Contains(err.Error(), "No such file") {
		t.Errorf("error %v, want that of cp", err)
	}
}

func TestInterruptedGuardIsUndecided(t *testing.T) {
	_, folder := repository(t, strconv.Itoa(rounds))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r, err := guard.Run(ctx, guard.Options{Dir: folder, Base: folder, Within: time.Minute,
		Conditions: conditions(t, "p99 > 5%"), Weir: os.Args[0],
		Experiment: &experiment.Experiment{Service: experiment.Service{Command: experiment.Command{"sleep", "60"}}}})
	if err != nil || !r.Interrupted || r.Answer != guard.Undecided || len(r.Blocks) != 0 {
		t.Errorf("%+v, %v; want an undecided guard", r, err)
	}
}
