package loadcmd

import (
	"context"

	"github.com/weirhq/weir/cmd/weir/internal/loadexport"
	"github.com/weirhq/weir/load"
)

// An export has the flags for databases of metrics.
type export struct {
	Export []string          `group:"Result:" sep:"none" placeholder:"URL" help:"Send the measurements of each second to Prometheus (prometheus+http://host:9090) or OpenTelemetry (otlp+http://host:4318). May be repeated."`
	Tag    map[string]string `group:"Result:" mapsep:"none" placeholder:"NAME=VALUE" help:"With --export, give all series this label. May be repeated."`
}

// exporter returns nil without --export. remote reports that agents execute the plan.
func (e *export) exporter(v *screen, remote bool) (*loadexport.Exporter, error) {
	const hint = "weir load --export prometheus+http://127.0.0.1:9090 --tag run=nightly URL"
	switch {
	case len(e.Export) == 0 && len(e.Tag) > 0:
		return nil, misuse(hint, "--tag is for runs with --export")
	case len(e.Export) > 0 && remote:
		return nil, misuse("", "--export is for runs without --agents")
	}
	to, err := loadexport.Open(e.Export, e.Tag, v.Say)
	if err != nil {
		return nil, misuse(hint, "--export: %w", err)
	}
	return to, nil
}

// exportedRun returns a function that executes the plan by run, and exports the measurements.
func exportedRun(
	e *loadexport.Exporter, p load.Plan, run func(context.Context, load.Plan) (*load.Result, error),
) func(context.Context) (*load.Result, error) {
	if e != nil {
		p.Snapshot = e.Snapshot
	}
	return func(ctx context.Context) (*load.Result, error) {
		r, err := run(ctx, p)
		e.Finish(r)
		return r, err
	}
}
