// Capacity computes the needs of a deployment of Weir from measured costs: the tables of docs/capacity.md.
//
//	go run ./docs/capacity
//	go run ./docs/capacity -rates 25000 -events 3 -interval 1s
//
// The costs are the RESULT lines of make bench-capacity, in docs/capacity/results.txt. Measure them on a machine of
// your own, and name the file with -results.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
)

func main() {
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintf(os.Stderr, "capacity: error: %v\n", err)
		os.Exit(1)
	}
}

// run prints the tables for the flags in args.
func run(args []string, stdout, stderr io.Writer) error {
	plan := defaultPlan()
	flags := flag.NewFlagSet("capacity", flag.ContinueOnError)
	flags.SetOutput(stderr)
	results := flags.String("results", "docs/capacity/results.txt", "`file` with the output of make bench-capacity")
	rates := flags.String("rates", "10000,1000000,100000000", "requests per second, separated by commas")
	flags.IntVar(&plan.events, "events", plan.events, "events in the log for each request: 1 (log.events: completed) or 3")
	flags.Float64Var(&plan.perConnection, "reuse", plan.perConnection, "requests on each connection of a client")
	flags.DurationVar(&plan.interval, "interval", plan.interval, "time between two requests on a connection")
	flags.Float64Var(&plan.response, "response", plan.response, "bytes of a response")
	flags.Float64Var(&plan.sample, "sample", plan.sample, "share of the events that are kept in the store of the log")
	flags.IntVar(&plan.cores, "cores", plan.cores, "processors of a machine")
	flags.Float64Var(&plan.use, "use", plan.use, "share of a machine's CPU time that the plan uses")
	flags.Float64Var(&plan.coreHour, "core-hour", plan.coreHour, "price of a processor for an hour")
	flags.Float64Var(&plan.gigabyteMonth, "gb-month", plan.gigabyteMonth, "price of a gigabyte of storage for a month")
	flags.IntVar(&plan.days, "days", plan.days, "days for which the log is kept")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return nil
	case err != nil:
		return err
	case flags.NArg() > 0:
		return fmt.Errorf("%q is not a flag; -h lists them", flags.Arg(0))
	}
	f, err := os.Open(*results)
	if err != nil {
		return err
	}
	defer f.Close()
	if plan.costs, err = readCosts(f); err != nil {
		return fmt.Errorf("%s: %w", *results, err)
	}
	if err := plan.check(); err != nil {
		return err
	}
	var needs []need
	for text := range strings.SplitSeq(*rates, ",") {
		rate, err := strconv.ParseFloat(text, 64)
		if err != nil || rate <= 0 {
			return fmt.Errorf("-rates: %q is not a number of requests per second", text)
		}
		needs = append(needs, plan.need(rate))
	}
	return write(stdout, plan, needs)
}

// defaultPlan returns the assumptions of docs/capacity.md.
func defaultPlan() plan {
	return plan{
		events: 1, perConnection: 100, interval: 10 * time.Second, response: 10e3, sample: 1,
		cores: 16, use: 0.5, coreHour: 0.04, gigabyteMonth: 0.023, days: 7,
	}
}
