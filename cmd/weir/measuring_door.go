//go:build weir_door

package main

import "github.com/weirhq/weir/cmd/weir/internal/cli"

type measuring struct{}

var explainUsage []func(cli.UsageError) error

func markArguments(args []string) []string { return args }
