package micro_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/weirhq/weir/internal/process"
	"github.com/weirhq/weir/internal/testkit"
	"github.com/weirhq/weir/lab"
	"github.com/weirhq/weir/lab/analysis"
	"github.com/weirhq/weir/lab/micro"
	"github.com/weirhq/weir/lab/results"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// allocating returns a test file with a benchmark that makes that number of
// allocations.
func allocating(times string) string {
	return `package cost

import "testing"

var kept *[64]byte

func BenchmarkAlloc(b *testing.B) {
	b.Run("in/turn", func(b *testing.B) {
		for b.Loop() {
			for range ` + times + ` {
				kept = new([64]byte)
			}
		}
	})
}
`
}

// folder creates a folder with files, and a folder for temporary files.
func folder(t *testing.T, files map[string]string) (dir, temp string) {
	t.Helper()
	dir, temp = t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", temp)
	t.Setenv("GOFLAGS", "-ldflags=-w")
	testkit.WriteFiles(t, dir, files)
	return dir, temp
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.com"},
		args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// nothingLeft checks that there are no temporary files and no work trees.
func nothingLeft(t *testing.T, repository, temp string) {
	t.Helper()
	if trees := git(t, repository, "worktree", "list"); strings.Count(trees, "\n") > 0 {
		t.Errorf("work trees are left:\n%s", trees)
	}
	entries, err := os.ReadDir(temp)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "weir-") {
			t.Errorf("%s is left in the temporary folder", e.Name())
		}
	}
}

// repository creates a repository with two commits. The second one allocates
// twice as often.
func repository(t *testing.T) (dir, temp string) {
	t.Helper()
	dir, temp = folder(t, map[string]string{"go.mod": "module example.com/m\n\ngo 1.26\n",
		"cost/cost.go": "package cost\n", "cost/cost_test.go": allocating("3")})
	git(t, dir, "init", "-q")
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-qm", "three times")
	testkit.WriteFiles(t, dir, map[string]string{"cost/cost_test.go": allocating("6")})
	git(t, dir, "commit", "-qam", "six times")
	return dir, temp
}

func TestCommitsAreCompared(t *testing.T) {
	dir, temp := repository(t)
	var steps []lab.Step
	r, err := micro.Run(t.Context(), micro.Options{Dir: filepath.Join(dir, "cost"), A: "HEAD~1", B: "HEAD", Time: "10x",
		Count: 6, Seed: 1, Version: "v",
		Begin: func(r *results.Results) {
			if len(r.Configurations) != 3 || len(r.Runs) != 0 || !slices.Equal(steps, []lab.Step{lab.Building, lab.Building}) {
				t.Errorf("after the steps %v it begins with %+v", steps, r)
			}
			steps = append(steps, "begin")
		},
		Progress: func(p lab.Progress) {
			if p.Of != 18 || p.Step == lab.Ended && (p.Run < 1 || p.Run > 18 || p.Last == nil) {
				t.Errorf("progress is %+v", p)
			}
			steps = append(steps, p.Step)
		}})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(steps); n != 3+2*18 || steps[2] != "begin" || steps[0] != lab.Building || steps[n-1] != lab.Ended {
		t.Errorf("%d steps: %v", n, steps)
	}
	var names, order []string
	for _, c := range r.Configurations {
		names = append(names, c.Name)
	}
	if want := []string{"HEAD~1", "HEAD~1 again", "HEAD"}; !slices.Equal(names, want) ||
		!strings.HasSuffix(r.Configurations[2].About, " six times") {
		t.Errorf("configurations are %+v, want %q", r.Configurations, want)
	}
	for _, run := range r.Runs {
		order = append(order, run.Configuration)
	}
	for block := range slices.Chunk(order, 3) {
		if sorted := slices.Sorted(slices.Values(block)); !slices.Equal(sorted, []string{"HEAD", "HEAD~1", "HEAD~1 again"}) {
			t.Errorf("the order is %q, want each configuration once in each block of three", order)
		}
	}
	a := analysis.Of(r)
	m := a.Metric("BenchmarkAlloc/in/turn allocs/op")
	if m == nil {
		t.Fatalf("metrics are %+v", a.Metrics)
	}
	if row := m.Row("HEAD"); row.Median != 6 || *row.Versus.Ratio != 2 || row.Versus.Verdict != analysis.Worse {
		t.Errorf("allocations are %+v, want six, twice as many, which is worse", row)
	}
	if s := a.Metric("BenchmarkAlloc/in/turn time/op"); s == nil || s.Unit != "s" || s.Row("HEAD").Median <= 0 ||
		s.Row("HEAD").Median > 1 {
		t.Errorf("the time is %+v", s)
	}
	nothingLeft(t, dir, temp)
}

// Two folders, one of them the work tree, with two packages in each.
func TestFoldersAreCompared(t *testing.T) {
	dir, temp := repository(t)
	testkit.WriteFiles(t, dir, map[string]string{
		"other/cost/cost_test.go": allocating("9"),
		"other/cost/cost.go":      "package cost\n",
		"other/b/b_test.go": "package b\n\nimport \"testing\"\n\nfunc BenchmarkB(b *testing.B) { " +
			"b.ReportMetric(7, \"fish\") }\n",
		"other/none/none_test.go": "package none\n\nimport \"testing\"\n\nfunc TestNone(t *testing.T) {}\n",
		"b/b_test.go": "package b\n\nimport \"testing\"\n\nfunc BenchmarkB(b *testing.B) { " +
			"b.ReportMetric(5, \"fish\") }\n",
	})
	r, err := micro.Run(t.Context(), micro.Options{Dir: dir, A: ".", B: "other", Packages: []string{"./cost", "./b"},
		Time: "10x", Count: 1})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, run := range r.Runs {
		for _, m := range run.Own {
			got[run.Configuration+" "+m.Name] = m.Value
			if m.Unit == "fish" && m.Better != results.Neither {
				t.Errorf("%s should be %q", m.Name, m.Better)
			}
		}
	}
	for name, want := range map[string]float64{
		"work tree cost BenchmarkAlloc/in/turn allocs/op": 6, "other cost BenchmarkAlloc/in/turn allocs/op": 9,
		"work tree b BenchmarkB fish": 5, "other b BenchmarkB fish": 7,
	} {
		if got[name] != want {
			t.Errorf("%s is %v, want %v; there are %v", name, got[name], want, got)
		}
	}
	nothingLeft(t, dir, temp)
}

func TestErrorsNameTheirCause(t *testing.T) {
	dir, temp := repository(t)
	testkit.WriteFiles(t, dir, map[string]string{
		"broken/broken_test.go": "package broken\n\nimport \"testing\"\n\nfunc BenchmarkX(b *testing.B) { " +
			"undefinedHere() }\n",
		"none/none_test.go": "package none\n",
		"fails/fails_test.go": "package fails\n\nimport \"testing\"\n\nfunc BenchmarkX(b *testing.B) { " +
			"b.Fatal(\"no river\") }\n",
	})
	for _, c := range []struct {
		name    string
		options micro.Options
		want    []string
	}{
		{"no sides", micro.Options{}, []string{"a side is missing", "HEAD"}},
		{"one side", micro.Options{A: "HEAD"}, []string{"a side is missing"}},
		{"a count", micro.Options{A: "HEAD", B: ".", Count: -1}, []string{"count -1"}},
		{"no such commit", micro.Options{A: "HEAD~7", B: "."},
			[]string{`"HEAD~7" is neither a folder nor a commit of ` + dir, "git log"}},
		{"an option", micro.Options{A: "--all", B: "."}, []string{`"--all" is neither`}},
		{"no repository", micro.Options{Dir: temp, A: "HEAD", B: "."},
			[]string{`"HEAD" is no folder`, "no git repository"}},
		{"does not build", micro.Options{A: "broken", B: "."},
			[]string{"does not build at broken", "broken_test.go:5:33: undefined: undefinedHere"}},
		{"no benchmarks", micro.Options{A: "none", B: "."}, []string{". has no benchmarks at none", "func Benchmark"}},
		{"no such package", micro.Options{A: ".", B: ".", Packages: []string{"./nowhere"}},
			[]string{"finding ./nowhere at work tree", "nowhere"}},
		{"no folder then", micro.Options{Dir: filepath.Join(dir, "none"), A: "HEAD", B: "."},
			[]string{"no folder none/ at HEAD"}},
		{"a match", micro.Options{A: "cost", B: "cost", Bench: "Nothing"}, []string{`no benchmark matches "Nothing"`}},
		{"a failure", micro.Options{A: "cost", B: "fails", Bench: "Alloc|X"},
			[]string{"fails has no run that was measured", "exit status 1", "no river"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.options.Dir == "" {
				c.options.Dir = dir
			}
			c.options.Time = "1x"
			if c.options.Count == 0 {
				c.options.Count = 1
			}
			r, err := micro.Run(t.Context(), c.options)
			if err == nil {
				t.Fatalf("no error, but %+v", r)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q lacks %q", err, want)
				}
			}
		})
	}
	nothingLeft(t, dir, temp)
}

// stuck is a test file whose benchmark does nothing the first time. The second
// time it starts a child, writes its process id and waits for it.
const stuck = `package cost

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
)

func BenchmarkStuck(b *testing.B) {
	b.ReportMetric(1, "fish")
	if os.Mkdir("DIR/first", 0o700) == nil {
		return
	}
	sleep := exec.Command("sleep", "1000")
	if err := sleep.Start(); err != nil {
		b.Fatal(err)
	}
	os.WriteFile("DIR/new", []byte(fmt.Sprint(sleep.Process.Pid)), 0o600)
	os.Rename("DIR/new", "DIR/child")
	sleep.Wait()
}
`

// The measurements remain, and all started processes end, including the child
// of a benchmark.
func TestInterruptedRunKeepsMeasurements(t *testing.T) {
	dir, temp := repository(t)
	notes := t.TempDir()
	testkit.WriteFiles(t, dir, map[string]string{"cost/cost_test.go": strings.ReplaceAll(stuck, "DIR", notes)})
	git(t, dir, "commit", "-qam", "stuck")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var waiting sync.WaitGroup
	defer waiting.Wait()
	var child []byte
	r, err := micro.Run(ctx, micro.Options{Dir: filepath.Join(dir, "cost"), A: "HEAD", B: "HEAD", Time: "1x", Count: 2,
		Progress: func(p lab.Progress) {
			if p.Step == lab.Loading && p.Run == 2 {
				waiting.Go(func() {
					defer cancel()
					testkit.AwaitNil(t, "the benchmark's child", func() (err error) {
						child, err = os.ReadFile(filepath.Join(notes, "child"))
						return err
					})
				})
			}
		}})
	waiting.Wait()
	if err != nil || !r.Interrupted || len(r.Runs) != 1 || len(r.Runs[0].Own) == 0 {
		t.Errorf("got %+v, %v; want interrupted results of one run", r, err)
	}
	if r.Configurations[2].Name != "HEAD (B)" {
		t.Errorf("a side against itself is called %q, want HEAD (B)", r.Configurations[2].Name)
	}
	pid, err := strconv.Atoi(string(child))
	if err != nil {
		t.Fatal(err)
	}
	testkit.Await(t, "the end of the benchmark's child", func() bool {
		stat, err := process.ReadStat(pid)
		return err != nil || stat.Ended()
	})
	nothingLeft(t, dir, temp)
}

func TestInterruptedBuildLeavesNothing(t *testing.T) {
	dir, temp := repository(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, err := micro.Run(ctx, micro.Options{Dir: filepath.Join(dir, "cost"), A: "HEAD~1", B: "HEAD", Time: "1x",
		Count:    1,
		Progress: func(p lab.Progress) { cancel() }})
	if !errors.Is(err, context.Canceled) || r != nil {
		t.Errorf("got %+v, %v; want no results and the context's error", r, err)
	}
	nothingLeft(t, dir, temp)
}
