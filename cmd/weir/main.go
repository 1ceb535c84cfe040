// Command weir is an HTTP front door: it routes, proxies and logs every request.
//
//	weir serve                      a front door on 127.0.0.1:20000 with a demo backend
//	weir serve --config weir.yaml   a front door with a configuration
//	weir check weir.yaml            every mistake in the file
//	weir fmt weir.yaml              the file in the canonical layout
//	weir schema                     a JSON Schema of the file, for editors
//	weir reload -c weir.yaml        the running front door reads the file again
//	weir upgrade -c weir.yaml       a new binary takes over without a refused connection
//	weir health                     the exit code says whether the front door is ready
//	weir top                        the state of the running front door, every second
//	weir doctor                     limits of this machine that are too low
//	weir hash-password              the hash of a password, for basic_auth
//	weir backend                    a backend for tests
//	weir tail -f weir.log           events in readable form
//	weir load URL                   requests and their latency
//	weir agent --via nats://…       a load generator that waits for work
//	weir lab run three-events       the cost of a setting, and its confidence
//	weir lab guard --base HEAD ...  whether a change makes a service slower
//	weir completion bash            the completion of a shell: bash, zsh or fish
//	weir man                        the manual pages
//	weir version                    the version, and what the program is built from
//
// Built with the tag weir_door, it is the front door alone, without load, agent and lab.
//
// It exits with 0 on success, 1 if it found a problem or failed, 2 if it was used
// wrongly, 3 or 4 if weir lab guard has no answer, and 130 if Ctrl-C ended weir lab, or a
// second Ctrl-C weir load, or a signal ended weir tail while nobody read its output.
package main

import (
	"os"
	"runtime"
	"slices"

	"github.com/alecthomas/kong"

	"github.com/weirhq/weir/cmd/weir/internal/about"
	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/cmd/weir/internal/fmtcmd"
	"github.com/weirhq/weir/cmd/weir/internal/serve"
	"github.com/weirhq/weir/cmd/weir/internal/tail"
	"github.com/weirhq/weir/cmd/weir/internal/top"
	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/internal/version"
)

// command is the whole command line.
type command struct {
	Serve        serve.Command             `cmd:"" help:"Run the front door."`
	Check        serve.CheckCommand        `cmd:"" help:"Check a configuration and list every mistake."`
	Fmt          fmtcmd.Command            `cmd:"" help:"Give configurations the canonical layout."`
	Schema       serve.SchemaCommand       `cmd:"" help:"Print a JSON Schema of the configuration, for editors."`
	Doctor       serve.DoctorCommand       `cmd:"" help:"Check the limits of this machine for a front door."`
	HashPassword serve.HashPasswordCommand `cmd:"" name:"hash-password" help:"Print the hash of a password, for basic_auth."`
	Reload       serve.ReloadCommand       `cmd:"" help:"Make the running front door read its configuration again."`
	Upgrade      serve.UpgradeCommand      `cmd:"" help:"Replace the running front door by a new process."`
	Health       serve.HealthCommand       `cmd:"" help:"Ask the running front door whether it is ready."`
	Top          top.Command               `cmd:"" help:"Show the state of the running front door."`
	Backend      serve.BackendCommand      `cmd:"" help:"Run a backend for tests."`
	Tail         tail.Command              `cmd:"" help:"Show, filter and convert events."`
	measuring
	Version     about.VersionCommand    `cmd:"" help:"Print the version and what the program is built from."`
	Completion  about.CompletionCommand `cmd:"" help:"Print the completion script of a shell."`
	Man         about.ManCommand        `cmd:"" help:"Write the manual pages."`
	Complete    about.CompleteCommand   `cmd:"" hidden:"" help:"Print the completions of a command line."`
	JustVersion kong.VersionFlag        `name:"version" help:"Print only the version."`
}

const description = `Weir is an HTTP front door: it routes, proxies and logs every request.

Example: a front door with a demo backend, and a request through it:
  weir serve
  curl -i http://127.0.0.1:20000/hello`

// init keeps the first thread of the process for the main goroutine, which only waits. Linux prefers that thread for
// signals, and does not give them to another one while it waits for a disk that hangs.
func init() { runtime.LockOSThread() }

func main() {
	code := make(chan int)
	go func() { code <- run(os.Args[1:], cli.Streams{Out: os.Stdout, Err: os.Stderr}) }()
	os.Exit(<-code)
}

// run parses the command line and runs the verb that it names.
func run(args []string, s cli.Streams) int {
	var cmd command
	exited := -1
	parser, err := kong.New(&cmd,
		kong.Name("weir"),
		kong.Description(description),
		kong.Writers(s.Out, s.Err),
		kong.Exit(func(code int) { exited = code }),
		kong.Vars{"version": "weir " + version.String(), "admin": config.DefaultAdmin},
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
		kong.Help(helpOfDefault),
		kong.NamedMapper("nonempty", kong.MapperFunc(cli.DecodeNonempty)),
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
	ctx, err := parser.Parse(markArguments(asFlag(args)))
	if exited >= 0 {
		return exited // --help or --version
	}
	if err != nil {
		return cli.Exit(s.Err, usageError(err))
	}
	return cli.Exit(s.Err, ctx.Run())
}

// usageError returns the error of kong's parser with a hint: that of the verb
// for this mistake, or else its --help.
func usageError(err error) error {
	u := cli.ParseUsageError(err)
	for _, explain := range explainUsage {
		if explained := explain(u); explained != nil {
			return explained
		}
	}
	return cli.Misuse(err, u.Command+" --help")
}

// asFlag replaces the verb help, which other programs have, by the flag.
func asFlag(args []string) []string {
	if args[0] == "help" {
		return append(slices.Clone(args[1:]), "--help")
	}
	return args
}

// nameDefaults removes the names of default commands from the help: the user
// types weir load URL, which kong runs as weir load send URL.
func nameDefaults(app *kong.Application) {
	for _, verb := range app.Children {
		if verb.DefaultCmd != nil {
			verb.DefaultCmd.Name = ""
		}
	}
}

// helpOfDefault prints the help of the default command: weir load --help shows
// that of weir load URL.
func helpOfDefault(options kong.HelpOptions, ctx *kong.Context) error {
	if at := ctx.Selected(); at != nil && at.DefaultCmd != nil {
		ctx.Path = append(ctx.Path, &kong.Path{Parent: at, Command: at.DefaultCmd})
	}
	return kong.DefaultHelpPrinter(options, ctx)
}
