// Labdoor is the service of the built-in experiments about logging: an HTTP server that logs three events per request
// to stdout, like a front door, with a selectable logger. It responds itself, because an upstream would cost the same
// with every logger and hide the differences. All values in the events except their times are fixed, so that every
// logger writes the same.
//
// If WEIR_LAB_MEASURES is set, it writes measures: the number of lines logged, the number of lines dropped by the
// logger, and with --measure-calls the duration of the logger's calls.
package main

import (
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/weirhq/weir/bench/labservice"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:8080", "the `address` to serve on")
	name := flag.String("logger", "weir", "logger, one of "+loggerNames())
	timed := flag.Bool("measure-calls", false, "measure the time inside each call of the logger")
	after := flag.Duration("after", 0, "measure calls only after so long since the first request: the warm-up")
	flag.Parse()
	if err := run(*listen, *name, *timed, *after); err != nil {
		log.Fatalf("labdoor: error: %v", err)
	}
}

func run(listen, name string, timed bool, after time.Duration) error {
	open, ok := loggers[name]
	if !ok {
		return fmt.Errorf("--logger %s: there are %s", name, loggerNames())
	}
	d := newDoor(open(os.Stdout), timed, after)
	err := labservice.Serve(listen, d)
	return errors.Join(err, d.close())
}
