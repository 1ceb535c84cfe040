package micro

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/perf/benchfmt"

	"github.com/weirhq/weir/lab"
)

// run executes all binaries once.
func (s *side) run(ctx context.Context, bench, benchtime string) lab.Run {
	run := lab.Run{Started: time.Now(), Outcome: lab.Done}
	var output bytes.Buffer
	for _, b := range s.binaries {
		cmd := command(ctx, b.dir, b.file, "-test.run=^$", "-test.bench="+bench, "-test.benchtime="+benchtime, "-test.benchmem", "-test.timeout=0")
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		err := cmd.Run()
		output.Write(out.Bytes())
		if err != nil {
			run.Outcome, run.Exit = lab.Died, fmt.Sprint(cmd.ProcessState)
			run.Error = fmt.Sprintf("the benchmarks of %s ended with %v", b.pkg, err)
			break
		}
		own, err := b.measures(&out)
		if err != nil {
			run.Outcome, run.Error = lab.Failed, err.Error()
			break
		}
		run.Own = append(run.Own, own...)
	}
	run.Seconds = time.Since(run.Started).Seconds()
	if run.Outcome == lab.Done && len(run.Own) == 0 {
		run.Outcome, run.Error = lab.NoAnswer, fmt.Sprintf("no benchmark matches %q", bench)
	}
	if run.Outcome != lab.Done {
		run.LastOutput = tail(output.Bytes())
	}
	return run
}

// measures reads what a binary has written. A benchmark that says a unit twice, or
// runs twice, has its first value.
func (b binary) measures(out io.Reader) ([]lab.Measure, error) {
	var own []lab.Measure
	reader := benchfmt.NewReader(out, b.pkg)
	for reader.Scan() {
		result, ok := reader.Result().(*benchfmt.Result)
		if !ok {
			continue // a line that only begins like a benchmark's
		}
		for _, v := range result.Values {
			if math.IsNaN(v.Value) || math.IsInf(v.Value, 0) {
				continue // a metric that a benchmark has divided by nothing
			}
			own = append(own, lab.Measure{Name: b.benchmark(result.Name) + " " + spoken(v.Unit), Unit: unit(v.Unit), Value: v.Value, Better: better(reader.Units().GetBetter(v.Unit))})
		}
	}
	if err := reader.Err(); err != nil {
		return nil, fmt.Errorf("reading the benchmarks of %s: %w", b.pkg, err)
	}
	return own, nil
}

// benchmark is a benchmark's name without the number of CPUs, which is the same
// on both sides.
func (b binary) benchmark(name benchfmt.Name) string {
	base, parts := name.Parts()
	var s strings.Builder
	if b.several {
		s.WriteString(b.pkg + " ")
	}
	s.WriteString("Benchmark")
	s.Write(base)
	for _, part := range parts {
		if part[0] == '/' {
			s.Write(part)
		}
	}
	return s.String()
}

// spoken is what people say for a unit that a benchmark has.
func spoken(unit string) string {
	switch unit {
	case "sec/op":
		return "time/op"
	case "B/op":
		return "bytes/op"
	case "B/s":
		return "speed"
	}
	return unit
}

// unit is what lab calls a unit of benchmarks. What it is counted by is part of
// the name.
func unit(s string) string {
	base, per, _ := strings.Cut(s, "/")
	switch {
	case s == "allocs/op":
		return ""
	case base == "sec":
		base = "s"
	case base == "B":
		base = "bytes"
	default:
		return s
	}
	if per == "" || per == "op" {
		return base
	}
	return base + "/" + per
}

// better is lab's word for benchfmt's sign, by which 0 is not known.
func better(sign int) lab.Better {
	switch {
	case sign > 0:
		return lab.Higher
	case sign < 0:
		return lab.Lower
	}
	return lab.Neither
}

// command is a program that is ended, with all that it has started, when ctx is:
// a compiler below go test, and what a benchmark runs.
func command(ctx context.Context, dir, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = slices.DeleteFunc(os.Environ(), steersGit)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 2 * time.Second
	return cmd
}

// steersGit tells of variables by which git looks at another repository than that
// of its folder; git sets them for its hooks.
func steersGit(variable string) bool {
	return strings.HasPrefix(variable, "GIT_DIR=") || strings.HasPrefix(variable, "GIT_WORK_TREE=") || strings.HasPrefix(variable, "GIT_INDEX_FILE=")
}
