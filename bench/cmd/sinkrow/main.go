// Sinkrow is one row of the comparison of sinks in a separate process: it logs to a file or to stdout, and writes a
// report of its cost.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"

	"github.com/weirhq/weir/bench/sinks"
)

func main() {
	var l sinks.Load
	name := flag.String("row", "", "the row's `name`")
	file := flag.String("log", "", "the `file` for the lines; stdout without one")
	report := flag.String("report", "", "the `file` for the report")
	flag.IntVar(&l.Requests, "requests", 1000, "requests of each producer")
	flag.IntVar(&l.Burst, "burst", 0, "requests that follow each other at once (0: all)")
	flag.DurationVar(&l.Every, "every", 0, "from one burst to the next")
	flag.IntVar(&l.Timed, "timed", 1, "one request in so many is timed")
	flag.Parse()
	if err := run(*name, *file, *report, l); err != nil {
		log.Fatalf("sinkrow: error: %v", err)
	}
}

func run(name, file, report string, l sinks.Load) error {
	row, ok := sinks.Find(name)
	if !ok {
		return fmt.Errorf("no row is called %q", name)
	}
	r, err := sinks.Work(row, file, l)
	if err != nil {
		return err
	}
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return os.WriteFile(report, text, 0o644)
}
