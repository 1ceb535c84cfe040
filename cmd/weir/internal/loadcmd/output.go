package loadcmd

import (
	"cmp"
	"errors"
	"fmt"
	"os"

	"github.com/alecthomas/kong"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/load"
	"github.com/weirhq/weir/load/check"
	"github.com/weirhq/weir/load/report"
)

// An output has the flags for a result.
type output struct {
	Fail    []string     `group:"Result:" sep:"none" placeholder:"CHECK" help:"Exit with 1 if CHECK is true, such as 'p99 > 50ms'. May be repeated."`
	JSON    optionalFile `group:"Result:" name:"json" placeholder:"FILE" help:"Write the result as a JSON document to stdout, or to FILE with --json=FILE."`
	CSV     string       `group:"Result:" name:"csv" placeholder:"FILE" help:"Write the counts and latencies of each second."`
	HTML    string       `group:"Result:" name:"html" placeholder:"FILE" help:"Write a page with charts."`
	HDR     string       `group:"Result:" name:"hdr" placeholder:"FILE" help:"Write the percentiles in the format of HdrHistogram."`
	Quiet   bool         `group:"Result:" short:"q" help:"Print only errors and the requested reports."`
	NoColor bool         `group:"Result:" help:"Do not use colours. NO_COLOR in the environment does the same."`
}

// An optionalFile is a flag with an optional value: --json, --json=FILE.
type optionalFile string

// Decode implements kong.MapperValue.
func (f *optionalFile) Decode(ctx *kong.DecodeContext) error {
	return cli.DecodeOptional(ctx, "-", (*string)(f))
}

// IsBool lets kong accept the flag without a value.
func (*optionalFile) IsBool() bool { return true }

// open opens the report files, and others.
func (o *output) open(others ...*cli.ReportFile[*load.Result]) (cli.ReportFiles[*load.Result], error) {
	return cli.OpenReports(append(others,
		&cli.ReportFile[*load.Result]{Flag: "--json", Name: string(o.JSON), Write: cli.PrintJSON[*load.Result]},
		&cli.ReportFile[*load.Result]{Flag: "--csv", Name: o.CSV, Write: report.CSV},
		&cli.ReportFile[*load.Result]{Flag: "--html", Name: o.HTML, Write: report.HTML},
		&cli.ReportFile[*load.Result]{Flag: "--hdr", Name: o.HDR, Write: report.HDR},
	)...)
}

// pagePoints is the number of single requests that a page shows: about four per
// pixel of a chart's width.
const pagePoints = 4000

// points returns the number of single requests for the page; 0 without one.
func (o *output) points() int {
	if o.HTML == "" {
		return 0
	}
	return pagePoints
}

// plain reports whether the output has no colours.
func (o *output) plain() bool { return o.NoColor || os.Getenv("NO_COLOR") != "" }

// finish writes the reports of a result and evaluates the checks.
func (o *output) finish(
	s cli.Streams, r *load.Result, files cli.ReportFiles[*load.Result], checks []check.Check,
) error {
	if err := files.Write(s.Out, r); err != nil {
		return err
	}
	if !o.Quiet && !files.Stdout() {
		width, _ := cli.TerminalSize(s.Out)
		style := report.Style{Width: width, Color: cli.IsScreen(s.Out) && !o.plain()}
		if err := report.Text(s.Out, r, style); err != nil {
			return err
		}
	}
	return judge(s, r, checks)
}

// parseChecks parses --fail.
func parseChecks[C any](texts []string, parse func(string) (C, error), hint string) ([]C, error) {
	checks := make([]C, len(texts))
	for i, text := range texts {
		var err error
		if checks[i], err = parse(text); err != nil {
			return nil, cli.Misuse(fmt.Errorf("--fail: %w", err), hint)
		}
	}
	return checks, nil
}

// judge prints why a finished run failed, and returns ErrReported if it did.
func judge(s cli.Streams, r *load.Result, checks []check.Check) error {
	if r.Requests == 0 {
		what := "no response arrived"
		if r.Wrong > 0 {
			what = "no response was as expected"
		}
		cli.PrintError(s.Err, cli.WithHint(errors.New(what+firstError(r)), silentHint(r)))
		return cli.ErrReported
	}
	return evaluate(s, checks, r)
}

// A condition is a check of --fail on a result or a comparison.
type condition[R any] interface {
	fmt.Stringer
	Of(R) (value string, holds bool, err error)
}

// evaluate prints each check that holds or that has no response, and returns
// ErrReported if there is one.
func evaluate[R any, C condition[R]](s cli.Streams, checks []C, result R) error {
	var failed error
	for _, c := range checks {
		value, holds, err := c.Of(result)
		if err != nil {
			err = fmt.Errorf("--fail: %w", err)
		} else if holds {
			err = fmt.Errorf("--fail '%v': %s", c, value)
		}
		if err != nil {
			cli.PrintError(s.Err, err)
			failed = cli.ErrReported
		}
	}
	return failed
}

// firstError returns ": " and the first error of the most frequent kind, or "".
func firstError(r *load.Result) string {
	most, text := int64(0), ""
	for kind, n := range r.Errors {
		if n > most {
			most, text = n, ": "+cmp.Or(r.ErrorExamples[kind], kind)
		}
	}
	return text
}
