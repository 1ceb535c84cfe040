//go:build !weir_door

package main

import (
	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/cmd/weir/internal/labcmd"
	"github.com/weirhq/weir/cmd/weir/internal/loadcmd"
)

// measuring has the verbs that a front door in production does not need.
type measuring struct {
	Load  loadcmd.Command      `cmd:"" help:"Send requests and measure the latency."`
	Agent loadcmd.AgentCommand `cmd:"" help:"Wait for work from weir load --agents."`
	Lab   labcmd.Command       `cmd:"" help:"Measure the cost of settings of a service."`
}

// explainUsage are the hints of these verbs for mistakes in the command line.
var explainUsage = []func(cli.UsageError) error{loadcmd.ExplainUsage, labcmd.ExplainUsage}

// markArguments prepares arguments that kong would not tell from flags.
func markArguments(args []string) []string { return loadcmd.MarkSides(args) }
