package micro

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"golang.org/x/perf/benchfmt"

	"github.com/weirhq/weir/lab/internal/checkout"
	"github.com/weirhq/weir/lab/results"
)

// run executes all binaries once.
func (s *side) run(ctx context.Context, bench, benchtime string) results.Run {
	run := results.Run{Started: time.Now(), Outcome: results.Done}
	var output bytes.Buffer
	for _, b := range s.binaries {
		cmd := checkout.Command(ctx, b.dir, b.file, "-test.run=^$", "-test.bench="+bench, "-test.benchtime="+benchtime,
			"-test.benchmem", "-test.timeout=0")
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		err := cmd.Run()
		output.Write(out.Bytes())
		if err != nil {
			run.Outcome, run.Exit = results.Died, fmt.Sprint(cmd.ProcessState)
			run.Error = fmt.Sprintf("the benchmarks of %s ended with %v", b.pkg, err)
			break
		}
		own, err := b.measures(&out)
		if err != nil {
			run.Outcome, run.Error = results.Failed, err.Error()
			break
		}
		run.Own = append(run.Own, own...)
	}
	run.Seconds = time.Since(run.Started).Seconds()
	if run.Outcome == results.Done && len(run.Own) == 0 {
		run.Outcome, run.Error = results.NoAnswer, fmt.Sprintf("no benchmark matches %q", bench)
	}
	if run.Outcome != results.Done {
		run.LastOutput = tail(output.Bytes())
	}
	return run
}

// measures reads the output of a binary. If a benchmark has a unit twice, or
// runs twice, the first value counts.
func (b binary) measures(out io.Reader) ([]results.Measure, error) {
	var own []results.Measure
	reader := benchfmt.NewReader(out, b.pkg)
	for reader.Scan() {
		result, ok := reader.Result().(*benchfmt.Result)
		if !ok {
			continue // a line that is not a benchmark's
		}
		for _, v := range result.Values {
			if math.IsNaN(v.Value) || math.IsInf(v.Value, 0) {
				continue // a metric that the benchmark has divided by 0
			}
			own = append(own, results.Measure{Name: b.benchmark(result.Name) + " " + spoken(v.Unit), Unit: unit(v.Unit),
				Value: v.Value, Better: better(reader.Units().GetBetter(v.Unit))})
		}
	}
	if err := reader.Err(); err != nil {
		return nil, fmt.Errorf("reading the benchmarks of %s: %w", b.pkg, err)
	}
	return own, nil
}

// benchmark returns the name of a benchmark without the number of CPUs, which
// is the same on both sides.
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

// spoken returns the words for a unit of benchmarks.
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

// unit returns lab's name of a unit. Its divisor is part of the measure's name.
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

// better converts the sign of benchfmt: 1 if higher is better, -1 if lower is,
// 0 if that is unknown.
func better(sign int) results.Better {
	switch {
	case sign > 0:
		return results.Higher
	case sign < 0:
		return results.Lower
	}
	return results.Neither
}
