package loadcmd

import (
	"errors"
	"fmt"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/load"
	"github.com/weirhq/weir/load/check"
)

type mergeCommand struct {
	Files []string `arg:"" name:"file" help:"Results of weir load --share --json, one of each share."`
	output
}

// Help implements kong.HelpProvider.
func (mergeCommand) Help() string {
	return `Makes one result of the results of all shares of a plan. Counts, latencies and seconds are as of one run on
one machine: histograms are added, not averaged. A missing share is a warning.

Examples:
  at=$(($(date +%s) + 30))
  ssh a weir load -r 9000 --share 1/2 --start-at $at -q --json URL > a.json &
  ssh b weir load -r 9000 --share 2/2 --start-at $at -q --json URL > b.json &
  wait
  weir load merge a.json b.json`
}

// Run merges the results and writes the reports.
func (c *mergeCommand) Run(s cli.Streams) error {
	checks, err := parseChecks(c.Fail, check.Parse, "weir load merge --fail 'p99 > 50ms' A.json B.json")
	if err != nil {
		return err
	}
	shares, err := readResults(c.Files, shareHint)
	if err != nil {
		return err
	}
	files, err := c.open()
	if err != nil {
		return err
	}
	defer files.Discard()
	result, err := load.Merge(shares)
	if err != nil {
		return c.explain(err)
	}
	return c.finish(s, result, files, checks)
}

const shareHint = "weir load --share 1/2 --start-at TIME --json=FILE URL writes a result to merge"

// explain names the files in an error of load.Merge.
func (c *mergeCommand) explain(err error) error {
	var why *load.MergeError
	if !errors.As(err, &why) {
		return cli.WithHint(err, shareHint)
	}
	if why.A == why.B {
		return cli.Misuse(fmt.Errorf("%s %s", c.Files[why.A], why.Why), shareHint)
	}
	return cli.Misuse(fmt.Errorf("%s and %s %s", c.Files[why.A], c.Files[why.B], why.Why), shareHint)
}
