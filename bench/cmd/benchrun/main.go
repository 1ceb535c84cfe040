// Benchrun compares Weir with its peers, side by side in one run.
//
//	benchrun [flags] log router    the cost of a line and of a lookup
//	benchrun [flags] sinks         the cost of lines that leave the process
//	benchrun [flags] proxy         the cost of a proxied request for a whole process
//	benchrun [flags] tls           the same for https, and the cost of a handshake
//	benchrun [flags] http2         the same for HTTP/2
//	benchrun [flags] scale         the cost of a proxied request by the number of connections and of routes
//	benchrun [flags] load          the cost of a request for a load generator, and its accuracy
//	benchrun [flags] capacity      no comparison: the costs of Weir from which docs/capacity derives the needs of a
//	                               deployment
//	benchrun [flags] profile       no comparison: writes the CPU profile of a loaded front door to -profile
//
// It prints a table for each comparison, and at the end one RESULT line for each target of the project. A missed target
// is a result, not a failure: benchrun exits with 0 after a measurement, 1 if it could not measure, and 2 on misuse.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"syscall"
	"time"
)

// settings are the values of the flags.
type settings struct {
	passes   int            // 0: the default of each comparison
	passTime time.Duration  // of a row of log or router; 0: the default of each comparison
	cases    *regexp.Regexp // selects cases
	rows     *regexp.Regexp // selects rows of proxy
	all      bool           // all cases of proxy
	rate     float64        // of proxy's fixed rate; 0: a share of nginx's best
	loadTime time.Duration  // of a row of proxy or load; 0: the default of each comparison
	caddy    string         // path of Caddy's executable
	pingora  string         // path of the executable of peers/pingora
	weir     string         // path of the weir executable that proxy and load measure; built if empty
	base     string         // path of another weir executable that proxy measures; may be empty
	peers    string         // folder of the load generators
	progress *progress
	profile  string // file for the profile that profile collects
	picture  string // file for the picture of scale; may be empty
	dir      string // folder for logs whose writing is measured
}

// A comparison measures, writes its tables to w and returns its result lines.
type comparison func(ctx context.Context, w io.Writer, s settings) ([]fmt.Stringer, error)

var comparisons = map[string]comparison{"log": compareLoggers, "router": compareRouters, "proxy": compareProxies,
	"tls":   compareTLS,
	"http2": compareHTTP2,
	"scale": compareScale,
	"sinks": compareSinks, "load": compareLoads,
	"capacity": measureCapacity,
	"profile":  profileWeir}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	s := settings{cases: regexp.MustCompile(""), rows: regexp.MustCompile(""), progress: newProgress(stderr)}
	flags := flag.NewFlagSet("benchrun", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprintln(stderr, "usage: benchrun [flags] log|router|proxy|tls|http2|scale|sinks|load|capacity|profile ...")
		flags.PrintDefaults()
	}
	flags.IntVar(&s.passes, "passes", 0,
		"passes over all rows; the medians are over these (0: 11 for log, 9 for router, 5 for proxy, sinks and load)")
	flags.DurationVar(&s.passTime, "time", 0,
		"duration of a row of log or router in a pass (0: 100ms for log, 60ms for router)")
	flags.TextVar(s.cases, "case", s.cases,
		"run only the cases whose names match this `expression`")
	flags.TextVar(s.rows, "rows", s.rows, "run only the rows of proxy whose names match this `expression`")
	flags.BoolVar(&s.all, "all", false,
		"run all cases of proxy: long and short requests over 1, 64 and 1,000 connections, log to a file, to a pipe and "+
			"off; larger bodies; files; idle connections; without it and without -case, 64 connections with a log to a file "+
			"and the fixed rate")
	flags.Float64Var(&s.rate, "rate", 0,
		"requests per second in proxy's case of a fixed rate (0: 60% of nginx's best, measured first)")
	flags.DurationVar(&s.loadTime, "load", 0,
		"duration of a row of proxy or load in a pass (0: 5s for proxy, 2s to 1m for load, by case)")
	flags.StringVar(&s.caddy, "caddy", "../.bench/bin/caddy", "Caddy's `command`")
	flags.StringVar(&s.pingora, "pingora", "../.bench/bin/pingora-door", "the `command` built from peers/pingora")
	flags.StringVar(&s.weir, "weir", "", "the `command` that proxy and load measure as weir; without one, this tree's")
	flags.StringVar(&s.base, "base", "",
		"another `command` of Weir, such as an older build, with a row of its own in proxy's case of 64 connections")
	flags.StringVar(&s.peers, "peers", "../.bench", "`folder` of load generators: bin/ and npm/")
	flags.StringVar(&s.profile, "profile", "../cmd/weir/release.pgo", "`file` for the CPU profile that profile collects")
	flags.StringVar(&s.picture, "picture", "", "SVG `file` for the picture of scale; without one, it draws none")
	flags.StringVar(&s.dir, "dir", os.TempDir(),
		"`folder` for logs, in comparisons that measure writing them")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if err := check(s, flags.Args()); err != nil {
		fmt.Fprintf(stderr, "benchrun: error: %v\n", err)
		flags.Usage()
		return 2
	}
	if err := compare(ctx, stdout, s, flags.Args()); err != nil {
		fmt.Fprintf(stderr, "benchrun: error: %v\n", err)
		return 1
	}
	return 0
}

func check(s settings, names []string) error {
	if len(names) == 0 {
		return errors.New("nothing to compare")
	}
	for _, name := range names {
		if comparisons[name] == nil {
			return fmt.Errorf("no comparison is called %q", name)
		}
	}
	if s.passes < 0 || s.passTime < 0 || s.rate < 0 || s.loadTime != 0 && s.loadTime < time.Second {
		return errors.New("passes, times and rates must be positive, and -load at least 1s")
	}
	return nil
}

// compare runs the comparisons. It writes their result lines after all tables, where they are easy to find.
func compare(ctx context.Context, w io.Writer, s settings, names []string) error {
	describeMachine(w)
	var results []fmt.Stringer
	for _, name := range names {
		r, err := comparisons[name](ctx, w, s)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		results = append(results, r...)
	}
	for _, r := range results {
		fmt.Fprintln(w, r)
	}
	return nil
}
