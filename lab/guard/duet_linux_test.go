package guard_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/leaktest"
	"github.com/weirhq/weir/internal/process"
	"github.com/weirhq/weir/lab"
	"github.com/weirhq/weir/lab/guard"
	"github.com/weirhq/weir/lab/internal/halves"
	"github.com/weirhq/weir/lab/results"
)

// half is the process of a half of a duet.
func half() {
	signal.Ignore(syscall.SIGPIPE)
	if err := lab.ServeHalf(context.Background(), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// duet runs a guard whose blocks are duets. The change needs as many rounds for a response as its text says.
func duet(ctx context.Context, t *testing.T, change string, o guard.Options) (*guard.Result, error) {
	t.Helper()
	if _, err := halves.Divide(); err != nil {
		t.Skip("a duet needs a machine with two cores: ", err)
	}
	_, folder := repository(t, strconv.Itoa(rounds))
	write(t, folder, change)
	o.Dir, o.Duet, o.Within = folder, []string{os.Args[0], asHalf}, 90*time.Second
	return guardedBy(ctx, t, o)
}

func TestDuetRunsBothAtTheSameTime(t *testing.T) {
	r, err := duet(t.Context(), t, strconv.Itoa(2*rounds), guard.Options{Conditions: conditions(t, "CPU per request > 5%")})
	if err != nil {
		t.Fatal(err)
	}
	if j := r.Conditions[0]; r.Answer != guard.Worse || j.Low <= 0 || len(r.Blocks) < guard.LeastBlocks {
		t.Errorf("%s, %+v", r.Sentence(), j)
	}
	for i, b := range r.Blocks {
		if len(b.Pairs) != 2 {
			t.Fatalf("block %d has %d pairs, want two", i+1, len(b.Pairs))
		}
		for _, p := range b.Pairs {
			checkTogether(t, p)
		}
		if x, y := processors(t, b.Pairs[0].Base), processors(t, b.Pairs[1].Change); x != y {
			t.Errorf("block %d: the base had the processors %b and then the change %b, want the same", i+1, x, y)
		}
	}
	if notes := strings.Join(r.Notes(), "\n"); !strings.Contains(notes, "at the same time, each on half of the processors") {
		t.Errorf("the notes do not have the duet: %s", notes)
	}
}

// checkTogether checks that neither load of a pair was sent before both services were ready, and that the services had
// different processors.
func checkTogether(t *testing.T, p guard.Pair) {
	t.Helper()
	for _, r := range []*results.Run{p.Base, p.Change} {
		for _, other := range []*results.Run{p.Base, p.Change} {
			ready := other.Started.Add(time.Duration(other.ReadyAfter * float64(time.Second)))
			if r.Load.Started.Before(ready) {
				t.Errorf("the load of run %d began at %v, before the service of run %d was ready at %v", r.Number, r.Load.Started,
					other.Number, ready)
			}
		}
	}
	if x, y := processors(t, p.Base), processors(t, p.Change); x == 0 || y == 0 || x&y != 0 {
		t.Errorf("the services may use the processors %b and %b, want none in common", x, y)
	}
}

// processors returns those that the service could use, as bits.
func processors(t *testing.T, r *results.Run) uint64 {
	t.Helper()
	for _, m := range r.Own {
		if m.Name == "processors" {
			return uint64(m.Value)
		}
	}
	t.Errorf("run %d has no measure of the processors", r.Number)
	return math.MaxUint64
}

func TestDuetWithDyingChangeIsWorse(t *testing.T) {
	r, err := duet(t.Context(), t, "none", guard.Options{Conditions: conditions(t, "CPU per request > 5%")})
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Sentence(); r.Answer != guard.Worse || !strings.Contains(got, "exit status 3") {
		t.Errorf("got %q, want that the change died with exit status 3", got)
	}
}

// TestKilledHalfIsAnError kills a half during the second duet. Its services end with it.
func TestKilledHalfIsAnError(t *testing.T) {
	var services []string
	killed := false
	_, err := duet(t.Context(), t, strconv.Itoa(rounds), guard.Options{Conditions: conditions(t, "CPU per request > 5%"),
		Progress: func(p lab.Progress) {
			if p.Step != lab.Loading || p.Repeat != 2 || killed {
				return
			}
			killed = true
			players := leaktest.Children(os.Getpid())
			for _, player := range players {
				services = append(services, leaktest.Children(pid(t, player))...)
			}
			if err := syscall.Kill(pid(t, players[0]), syscall.SIGKILL); err != nil {
				t.Error(err)
			}
		}})
	if err == nil || !strings.Contains(err.Error(), "of a duet has ended: signal: killed") {
		t.Errorf("error %v, want that a half was killed", err)
	}
	if len(services) < 2 {
		t.Errorf("the halves had the children %v, want a service each", services)
	}
	for _, service := range services {
		for end := time.Now().Add(patience); alive(pid(t, service)); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("the service %s still runs", service)
			}
		}
	}
}

// alive reports whether a process runs. One that has ended may wait for its new parent.
func alive(pid int) bool {
	stat, err := process.ReadStat(pid)
	return err == nil && !stat.Ended()
}

func pid(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Error(err)
	}
	return n
}

// TestInterruptedDuetKeepsItsBlocks ends the context during the first duet of the third block.
func TestInterruptedDuetKeepsItsBlocks(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	r, err := duet(ctx, t, strconv.Itoa(rounds), guard.Options{Conditions: conditions(t, "CPU per request > 5%"),
		Progress: func(p lab.Progress) {
			if p.Step == lab.Loading && p.Repeat == 5 {
				interrupt()
			}
		}})
	if err != nil || !r.Interrupted || len(r.Blocks) != 2 {
		t.Errorf("error %v, %+v; want an interrupted guard with two blocks", err, r)
	}
}
