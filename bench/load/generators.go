package load

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

// A Generator is one program with its settings for the comparison.
type Generator struct {
	Name string
	Note string
	Kind Kind

	install string // the command that installs it
	version string // the flag that prints its version; programs built from modules contain it
	find    func(t Tools) string
	can     func(w Work) bool
	args    func(c call) []string
	read    func(ctx context.Context, c call, output []byte) (Report, error) // nil if it reports nothing
}

// A Kind is the origin of a generator.
type Kind int

// The kinds.
const (
	Peer Kind = iota
	Ours
	Bare // not a load generator, but its minimum cost
)

// The names of the generators that targets refer to.
const (
	Weir = "weir load"
	Base = "floor"
	Wrk  = "wrk"
	AB   = "ab"
)

// Tools holds the locations of the programs. The others are searched in PATH.
type Tools struct {
	Row  string // the executable of bench/cmd/loadrow
	Weir string // the executable of cmd/weir
	Dir  string // bin/ contains the peers written in Go, npm/ autocannon
}

// call holds the values for a program's arguments.
type call struct {
	Work
	files
	program, address string
}

func (c call) url() string         { return "http://" + c.address + "/" }
func (c call) connections() string { return strconv.Itoa(c.Connections) }
func (c call) seconds() string     { return fmt.Sprintf("%ds", int(c.Duration.Seconds())) }
func (c call) rate() string        { return strconv.Itoa(int(c.Rate)) }

// Missing returns how to install the program, or "" if it is installed.
func (g Generator) Missing(t Tools) string {
	if g.program(t) == "" {
		return g.install
	}
	return ""
}

// Version returns the program and the flag that prints its version, or "" if there is none.
func (g Generator) Version(t Tools) (file, flag string) { return g.program(t), g.version }

// Can reports whether the program supports w.
func (g Generator) Can(w Work) bool { return g.can(w) }

func (g Generator) program(t Tools) string { return g.find(t) }

func inPath(name string) func(Tools) string {
	return func(Tools) string {
		file, _ := exec.LookPath(name) // "" if it is missing
		return file
	}
}

// built also searches the programs of the repository.
func built(name string) func(Tools) string {
	return func(t Tools) string {
		for _, file := range []string{filepath.Join(t.Dir, "bin", name), filepath.Join(t.Dir, "npm/node_modules/.bin",
			name), name} {
			if found, err := exec.LookPath(file); err == nil {
				if found, err = filepath.Abs(found); err == nil {
					return found
				}
			}
		}
		return ""
	}
}

// The capabilities of the programs.
func everything(Work) bool { return true }
func closedLoop(w Work) bool {
	return w.Rate == 0 && w.Pipeline <= 1
}
func closedOrPipelined(w Work) bool { return w.Rate == 0 && w.Body == 0 }
func unpipelined(w Work) bool       { return w.Pipeline <= 1 }
func small(w Work) bool             { return w.Pipeline <= 1 && w.Body == 0 }

// appendIf appends more to args if cond is true.
func appendIf(cond bool, args []string, more ...string) []string {
	if cond {
		return append(args, more...)
	}
	return args
}

const (
	fromDebian = "apt-get install wrk apache2-utils nghttp2-client"
	fromPeers  = "make load-peers"
)

// Generators are the generators of the comparison.
var Generators = []Generator{
	{
		Name: Base, Note: "epoll, sendto, recvfrom", Kind: Bare,
		find: func(t Tools) string { return t.Row },
		can:  closedOrPipelined,
		args: func(c call) []string {
			return []string{c.program, "floor", "-c", c.connections(), "-p", strconv.Itoa(c.pipeline()), "-d",
				c.Duration.String(), c.address}
		},
	},
	{
		Name: Weir, Kind: Ours, install: "this tree has no cmd/weir",
		find: func(t Tools) string { return t.Weir },
		can:  everything,
		args: weirArgs,
		read: readWeir,
	},
	{
		Name: Wrk, Note: "-t1", install: fromDebian,
		version: "-v", find: inPath("wrk"), can: func(w Work) bool { return w.Rate == 0 },
		args: wrkArgs,
		read: readWrk,
	},
	{
		Name: AB, Note: "HTTP/1.0, -k", install: fromDebian,
		version: "-V", find: inPath("ab"), can: closedLoop,
		args: func(c call) []string { // -t sets -n, unless -n follows it
			args := []string{c.program, "-q", "-k", "-r", "-c", c.connections(), "-t",
				strconv.Itoa(int(c.Duration.Seconds())), "-n", "10000000"}
			return append(appendIf(c.Body > 0, args, "-p", c.body), c.url())
		},
		read: readAB,
	},
	{
		Name: "h2load", Note: "--h1 -t1", install: fromDebian,
		version: "--version", find: inPath("h2load"), can: func(w Work) bool { return w.Rate == 0 },
		args: func(c call) []string {
			args := []string{c.program, "--h1", "-t1", "-c", c.connections(), "-m", strconv.Itoa(c.pipeline()), "-D",
				strconv.Itoa(int(c.Duration.Seconds()))}
			return append(appendIf(c.Body > 0, args, "-d", c.body), c.url())
		},
		read: readH2load,
	},
	{
		Name: "fortio", Note: "-uniform", install: fromPeers,
		find: built("fortio"), can: small,
		args: func(c call) []string {
			return []string{c.program, "load", "-quiet", "-c", c.connections(), "-qps", c.rate(), "-t", c.seconds(),
				"-uniform", "-r", "0.00001",
				"-p", "50,99,99.9", "-json", "-", c.url()}
		},
		read: readFortio,
	},
	{
		Name: "bombardier", Note: "fasthttp", install: fromPeers,
		find: built("bombardier"), can: unpipelined,
		args: func(c call) []string {
			args := []string{c.program, "-c", c.connections(), "-d", c.seconds(), "-l", "-p", "r", "-o", "json"}
			args = appendIf(c.Rate > 0, args, "-r", c.rate())
			return append(appendIf(c.Body > 0, args, "-m", "POST", "-f", c.body), c.url())
		},
		read: readBombardier,
	},
	{
		Name: "plow", install: fromPeers,
		find: built("plow"), can: small,
		args: func(c call) []string {
			args := []string{c.program, c.url(), "-c", c.connections(), "-d", c.seconds(), "--json"}
			return appendIf(c.Rate > 0, args, "--rate", c.rate())
		},
		read: readPlow,
	},
	{
		Name: "oha", install: "cargo install oha",
		version: "--version", find: built("oha"), can: small,
		args: func(c call) []string {
			args := []string{c.program, "--no-tui", "--output-format", "json", "-c", c.connections(), "-z", c.seconds()}
			return append(appendIf(c.Rate > 0, args, "-q", c.rate(), "--latency-correction"), c.url())
		},
		read: readOha,
	},
	{
		Name: "autocannon", install: fromPeers,
		version: "--version", find: built("autocannon"), can: closedOrPipelined,
		args: func(c call) []string {
			return []string{c.program, "-j", "-n", "-c", c.connections(), "-p", strconv.Itoa(c.pipeline()), "-d",
				strconv.Itoa(int(c.Duration.Seconds())), c.url()}
		},
		read: readAutocannon,
	},
	{
		Name: "vegeta", install: fromPeers,
		find: built("vegeta"), can: small,
		args: func(c call) []string {
			args := []string{c.program, "attack", "-targets", c.targets, "-output", c.results, "-duration", c.seconds(),
				"-rate", c.rate()}
			return appendIf(c.Rate == 0, args, "-max-workers", c.connections())
		},
		read: readVegeta,
	},
	{
		Name: "hey", install: fromPeers,
		find: built("hey"), can: small,
		args: func(c call) []string {
			args := []string{c.program, "-c", c.connections(), "-z", c.seconds()}
			each := strconv.FormatFloat(c.Rate/float64(c.Connections), 'f', -1, 64) // per worker
			return append(appendIf(c.Rate > 0, args, "-q", each), c.url())
		},
		read: readHey,
	},
}

func weirArgs(c call) []string {
	args := []string{c.program, "load", "--json", "--quiet", "-c", c.connections(), "-p", strconv.Itoa(c.pipeline()),
		"-d", c.Duration.String()}
	args = appendIf(c.Rate > 0, args, "-r", c.rate())
	args = appendIf(c.Body > 0, args, "-X", "POST", "--body", "@"+c.body)
	url := c.url()
	if c.Server.Rate > 0 {
		url += "{{seq}}"
	}
	return append(args, url)
}

func wrkArgs(c call) []string {
	args := []string{c.program, "-t1", "-c" + c.connections(), "-d" + c.seconds()}
	switch {
	case c.Body > 0:
		return append(args, "-s", c.script, c.url(), "--", c.body)
	case c.Pipeline > 1:
		return append(args, "-s", c.script, c.url(), "--", strconv.Itoa(c.Pipeline))
	}
	return append(args, c.url())
}

// A Report holds the figures that a generator reports. Missing ones are negative.
type Report struct {
	Failed              int64 // requests and connections
	P50, P99, P999, Max time.Duration

	// The lateness of requests when they were sent, and the variance of their number per 10 ms.
	Lag99    time.Duration
	Variance float64
}

// silent returns a report without figures.
func silent() Report {
	return Report{Failed: -1, P50: -1, P99: -1, P999: -1, Max: -1, Lag99: -1, Variance: -1}
}
