package loadcmd

import (
	"io"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/load"
	"github.com/weirhq/weir/load/report"
)

// eachRequest returns the report file of --requests-csv, and a function that lets a plan write to it when it is open.
func (c *sendCommand) eachRequest(remote bool) (
	file *cli.ReportFile[*load.Result], start func(stdout io.Writer, p *load.Plan), err error,
) {
	if c.RequestsCSV != "" && remote {
		return nil, nil, misuse("", "--requests-csv is for runs without --agents")
	}
	var rows *report.Rows
	file = &cli.ReportFile[*load.Result]{Flag: "--requests-csv", Name: c.RequestsCSV,
		Write: func(io.Writer, *load.Result) error { return rows.Flush() }}
	return file, func(stdout io.Writer, p *load.Plan) {
		if c.RequestsCSV != "" {
			rows = report.NewRows(file.Out(stdout), *p)
			p.Each = rows.Write
		}
	}, nil
}
