// Command weir is an HTTP front door: it routes, proxies and logs every request.
//
//	weir serve                      a door on 127.0.0.1:20000 before a demo backend
//	weir serve --config weir.yaml   a door as the file says
//	weir check weir.yaml            every mistake in the file
//	weir doctor                     limits of this machine that will bite
//	weir backend                    a backend to test against
//	weir tail -f weir.log           events as a person reads them
//	weir load URL                   requests, and how long their answers took
//	weir lab run three-events       what a setting costs a service, and how sure that is
//
// It exits with 0 when done, 1 when it found or met a problem, 2 when it was used
// wrongly, and 130 when Ctrl-C ended weir lab, or a second Ctrl-C weir load.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"

	"github.com/alecthomas/kong"
)

// The exit codes.
const (
	exitDone    = 0
	exitProblem = 1
	exitMisuse  = 2
	exitLeft    = 130
)

// command is the whole command line.
type command struct {
	Serve   serveCmd   `cmd:"" help:"Run the front door."`
	Check   checkCmd   `cmd:"" help:"Say what is wrong with a configuration."`
	Doctor  doctorCmd  `cmd:"" help:"Say which limits of this machine will bite."`
	Backend backendCmd `cmd:"" help:"Run a backend to test against."`
	Tail    tailCmd    `cmd:"" help:"Show, choose and convert events."`
	Load    loadCmd    `cmd:"" help:"Send requests, and say how long the answers took."`
	Lab     labCmd     `cmd:"" help:"Measure what settings cost a service."`

	Version kong.VersionFlag `help:"Print the version."`
}

const description = `Weir is an HTTP front door: it routes, proxies and logs every request.

Example, a door before a demo backend, and a request through it:
  weir serve
  curl -i http://127.0.0.1:20000/hello`

// streams are what a command writes to.
type streams struct {
	out, err *os.File
}

func main() {
	os.Exit(run(os.Args[1:], streams{out: os.Stdout, err: os.Stderr}))
}

// run parses the command line and runs the verb that it names.
func run(args []string, s streams) int {
	var cmd command
	exited := -1
	parser, err := kong.New(&cmd,
		kong.Name("weir"),
		kong.Description(description),
		kong.Writers(s.out, s.err),
		kong.Exit(func(code int) { exited = code }),
		kong.Vars{"version": version()},
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
		kong.Help(helpOfDefault),
		kong.Bind(s),
	)
	if err != nil {
		panic(err) // the command line is declared wrongly
	}
	parser.Model.HelpFlag.Help = "Print this help."
	nameDefaults(parser.Model)
	if len(args) == 0 {
		args = []string{"--help"}
	}
	ctx, err := parser.Parse(sides(asFlags(args)))
	if exited >= 0 {
		return exited // --help or --version
	}
	if err != nil {
		return complain(s.err, explainBare(explainForeign(&problem{err: err, hint: helpFor(err), code: exitMisuse})))
	}
	switch err := ctx.Run(); {
	case err == nil:
		return exitDone
	case errors.Is(err, errFound):
		return exitProblem
	case errors.Is(err, errLeft):
		return exitLeft
	default:
		return complain(s.err, err)
	}
}

// asFlags takes the flags --help and --version where they are given as verbs,
// which other programs have.
func asFlags(args []string) []string {
	switch {
	case args[0] == "help":
		return append(slices.Clone(args[1:]), "--help")
	case args[0] == "version" && len(args) == 1:
		return []string{"--version"}
	}
	return args
}

// helpFor returns the command that helps with a command line that was not
// understood: the help of the verb, as far as there is one.
func helpFor(err error) string {
	var p *kong.ParseError
	if errors.As(err, &p) && p.Context.Selected() != nil {
		return p.Context.Selected().FullPath() + " --help"
	}
	return "weir --help"
}

// A problem is an error with what to do about it.
type problem struct {
	err  error
	hint string
	code int // exitProblem when 0
}

func (p *problem) Error() string { return p.err.Error() }
func (p *problem) Unwrap() error { return p.err }

// complain writes an error in the two lines that the command speaks in, and
// returns the exit code for it.
func complain(w io.Writer, err error) int {
	fmt.Fprintf(w, "weir: error: %v\n", err)
	var p *problem
	if !errors.As(err, &p) {
		return exitProblem
	}
	if p.hint != "" {
		fmt.Fprintf(w, "weir: hint: %s\n", p.hint)
	}
	if p.code == 0 {
		return exitProblem
	}
	return p.code
}

// version is the module's version as the build knows it.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "weir (unknown version)"
	}
	return "weir " + info.Main.Version
}
