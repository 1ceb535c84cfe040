// Labdoor is the service of the built-in experiments about logging: an HTTP server that logs three events for each
// request, as a front door does, through the logger that it is told to use, to stdout. It answers by itself, since an
// upstream would cost the same with every logger and hide how they differ. What the events say is made up, apart from
// their times, so that every logger has the same to write.
//
// With WEIR_LAB_MEASURES in the environment it leaves measures: how many lines it has logged, and how many of them the
// logger has dropped, and with --measure-calls how long calls of the logger took.
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
	name := flag.String("logger", "weir", "who logs: "+loggerNames())
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
