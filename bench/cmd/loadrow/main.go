// Loadrow is the server of the comparison of load generators, or the floor, in a separate process.
//
//	loadrow serve [-delay D] [-stall D -every D] [-arrivals] [-rate N]
//	loadrow floor [-c N] [-p N] [-d D] host:port
package main

import (
	"errors"
	"flag"
	"fmt"
	"log"
	"net/netip"
	"os"
	"runtime"
	"time"

	"github.com/weirhq/weir/bench/load"
)

func main() {
	runtime.GOMAXPROCS(2) // one for the thread with the raw system calls, independent of the CPU affinity
	if err := run(os.Args[1:]); err != nil {
		log.Fatalf("loadrow: error: %v", err)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return errors.New("say serve or floor")
	}
	switch args[0] {
	case "serve":
		return serve(args[1:])
	case "floor":
		return floor(args[1:])
	}
	return fmt.Errorf("there is no %q; say serve or floor", args[0])
}

// serve ends with its standard input.
func serve(args []string) error {
	var m load.Manner
	flags := flag.NewFlagSet("loadrow serve", flag.ExitOnError)
	flags.DurationVar(&m.Delay, "delay", 0, "from a request to its response")
	flags.DurationVar(&m.Stall, "stall", 0, "how long nothing is done")
	flags.DurationVar(&m.Every, "every", 0, "the stall is at the end of each")
	flags.BoolVar(&m.Arrivals, "arrivals", false, "count the requests of each 10 ms")
	flags.Float64Var(&m.Rate, "rate", 0,
		"requests per second, with their numbers as paths, to compute when they were due")
	_ = flags.Parse(args) // exits on an error
	return load.Serve(m, os.Stdin, os.Stdout)
}

func floor(args []string) error {
	flags := flag.NewFlagSet("loadrow floor", flag.ExitOnError)
	connections := flags.Int("c", 64, "connections")
	pipeline := flags.Int("p", 1, "requests under way on each")
	d := flags.Duration("d", time.Second, "how long")
	_ = flags.Parse(args) // exits on an error
	address, err := netip.ParseAddrPort(flags.Arg(0))
	if err != nil {
		return err
	}
	return load.Floor(address, *connections, *pipeline, *d)
}
