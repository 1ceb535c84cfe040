package loadcmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/load"
	"github.com/weirhq/weir/load/check"
)

// An aborter ends a run as soon as a check of --fail holds. The nil aborter ends none.
type aborter struct {
	checks []check.Check
	reason string // why the run was ended; "" if it was not. The run's goroutine sets it
}

// aborter returns nil without --abort. remote reports that agents execute the plan.
func (c *sendCommand) aborter(checks []check.Check, remote bool) (*aborter, error) {
	switch {
	case !c.Abort:
		return nil, nil
	case len(checks) == 0:
		return nil, misuse("weir load --fail 'errors > 1%' --abort URL", "--abort: there is no --fail that ends the run")
	case remote:
		return nil, misuse("", "--abort is for runs without --agents")
	}
	return &aborter{checks: checks}, nil
}

// run executes the plan.
func (a *aborter) run(ctx context.Context, p load.Plan) (*load.Result, error) {
	if a == nil {
		return load.Run(ctx, p)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	next := p.Snapshot
	p.Snapshot = func(r *load.Result) {
		if next != nil {
			next(r)
		}
		if a.reason == "" && r.DurationSeconds > 0 { // after the warm-up
			a.look(r)
		}
		if a.reason != "" {
			cancel()
		}
	}
	r, err := load.Run(ctx, p)
	if err == nil && a.reason != "" {
		r.Warnings = append(r.Warnings, "the run was ended by "+a.reason)
	}
	return r, err
}

// look sets the reason if a check holds. An error is a metric that nothing has measured yet.
func (a *aborter) look(r *load.Result) {
	for _, c := range a.checks {
		if value, holds, err := c.Of(r); err == nil && holds {
			a.reason = fmt.Sprintf("--fail '%v' after %.0f s: %s", c, r.DurationSeconds, value)
			return
		}
	}
}

// failed returns ErrReported if the run was ended, also if the check does not hold for the whole run.
func (a *aborter) failed(s cli.Streams) error {
	if a == nil || a.reason == "" {
		return nil
	}
	cli.PrintError(s.Err, errors.New("ended by "+a.reason))
	return cli.ErrReported
}
