package labcmd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/cmd/weir/internal/labpage"
	"github.com/weirhq/weir/internal/version"
	"github.com/weirhq/weir/lab"
	"github.com/weirhq/weir/lab/analysis"
	"github.com/weirhq/weir/lab/micro"
	"github.com/weirhq/weir/lab/results"
)

type microCommand struct {
	Packages []string `arg:"" optional:"" help:"Packages in the syntax of go test (default the current one)."`

	Base  string `default:"HEAD" placeholder:"SIDE" help:"Compare with SIDE, a commit or a folder (default ${default})."`
	New   string `default:"." placeholder:"SIDE" help:"Measure SIDE, a commit or a folder (default ${default} , the work tree)."`
	Bench string `default:"." placeholder:"REGEXP" help:"Run the benchmarks whose name matches REGEXP (default all)."`
	Count int    `default:"10" placeholder:"N" help:"Run each side N times (default ${default})."`
	Time  string `default:"1s" placeholder:"TIME" help:"Run each benchmark for TIME, or 100 times with 100x (default ${default})."`
	Seed  uint64 `placeholder:"N" help:"Seed for the order of the runs."`
	Out   string `placeholder:"DIR" help:"Write the report into DIR (default a new folder below lab-results)."`
	JSON  bool   `name:"json" help:"Print the analysis as the JSON document of analysis.json."`
	Quiet bool   `short:"q" help:"Print only the findings and errors."`

	Web cli.WebAddress `placeholder:"ADDR" help:"Show the runs on a page while they last, at a free port of 127.0.0.1, or at ADDR with --web=ADDR."`
}

// Help implements kong.HelpProvider.
func (microCommand) Help() string {
	return `Builds the benchmarks of both sides, runs them alternately, and reports the differences that are larger
than noise, as weir lab run does. A commit is checked out into a temporary folder; the work tree does not
change.

Examples:
  weir lab micro ./...        the changes since the last commit
  weir lab micro --base main --new HEAD ./router
  weir lab micro --base ../other/router --new ./router --bench Lookup`
}

// benchTime matches the useful values of go test -benchtime.
var benchTime = regexp.MustCompile(`^([0-9]+x|([0-9.]+(ns|us|µs|ms|s|m|h))+)$`)

// suggestedTime returns a valid value for --time near to text.
func suggestedTime(text string) string {
	if _, err := strconv.Atoi(text); err == nil {
		return text + "ms"
	}
	return "100ms or --time 100x"
}

// Run runs the benchmarks and reports them.
func (c *microCommand) Run(s cli.Streams) error {
	if c.Count < 1 {
		return cli.Misuse(fmt.Errorf("--count: %d is not above zero", c.Count), "weir lab micro --count 10")
	}
	if !benchTime.MatchString(c.Time) {
		return cli.Misuse(fmt.Errorf("--time: %q is neither a time nor a count", c.Time),
			"--time "+suggestedTime(c.Time))
	}
	folder, err := makeFolder(c.Out, "micro")
	if err != nil {
		return err
	}
	if err := folder.checkEmpty(); err != nil {
		return err
	}
	page, err := serveWeb(s, c.Web, labpage.New("micro", folder.name, nil, isTime), folder.name)
	if err != nil {
		return folder.fail(err)
	}
	defer page.close()
	screen := newScreen(s, c.Quiet)
	signals, stop := cli.Interrupts()
	r, err := cli.Interruptible(screen, interruptNotice, signals,
		func(ctx context.Context) (*results.Results, error) {
			return micro.Run(ctx, micro.Options{
				A: c.Base, B: c.New, Packages: c.Packages, Bench: c.Bench, Time: c.Time, Count: c.Count, Seed: c.Seed,
				Version: version.String(),
				Progress: func(p lab.Progress) {
					screen.show(p)
					page.show(p)
				},
				Begin: func(r *results.Results) { page.begin(r.Title, r.Question, r.Configurations) },
			})
		})
	stop() // Ctrl-C ends the report
	if err != nil {
		page.fail(err)
		return c.bareFolder(folder.fail(err))
	}
	a := analysis.Of(r)
	page.end(r, a)
	return reportRun(s, folder.name, r, a, c.JSON)
}

// isTime reports whether a measure is the time of a benchmark. The page has no room for memory.
func isTime(measure string) bool { return strings.HasSuffix(measure, " time/op") }

// bareFolder adds a hint if a folder is named without ./, which go list takes for
// a package of the standard library.
func (c *microCommand) bareFolder(err error) error {
	i := slices.IndexFunc(c.Packages, func(name string) bool {
		return isFolder(name) && !filepath.IsAbs(name) && !strings.HasPrefix(name, ".")
	})
	if i < 0 || !errors.As(err, new(*micro.PackagesError)) {
		return err
	}
	return cli.Misuse(err, "weir lab micro ./"+c.Packages[i])
}
