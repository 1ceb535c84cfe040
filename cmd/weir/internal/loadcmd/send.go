// Package loadcmd has the verbs of weir load.
package loadcmd

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"

	"github.com/alecthomas/kong"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/load"
	"github.com/weirhq/weir/load/report"
	"github.com/weirhq/weir/load/target"
)

type Command struct {
	Send    sendCommand    `cmd:"" default:"withargs" help:"Send requests and measure the latency."`
	Compare compareCommand `cmd:"" help:"Compare results of weir load --json."`
	Gen     genCommand     `cmd:"" help:"Generate data to send."`
}

type sendCommand struct {
	URL []string `arg:"" optional:"" name:"url" help:"The URL to send requests to. The default scheme is http."`

	// Settings that load/settings parses. They are strings here, so that only that
	// package knows their formats.
	Connections    string   `group:"Load:" short:"c" placeholder:"N" help:"Keep N connections open (default 64)."`
	Pipeline       string   `group:"Load:" short:"p" placeholder:"N" help:"Keep N requests in flight on each connection (default 1)."`
	Duration       string   `group:"Load:" short:"d" placeholder:"TIME" help:"Send for TIME, such as 30s (default 10s, unless something else ends the run)."`
	Requests       string   `group:"Load:" short:"n" placeholder:"N" help:"Stop after N requests."`
	Timeout        string   `group:"Load:" placeholder:"TIME" help:"Wait up to TIME for a response or a connection (default 10s)."`
	Threads        string   `group:"Load:" placeholder:"N" help:"Send from N threads (default one per CPU)."`
	HTTP2          bool     `group:"Load:" name:"http2" help:"Use HTTP/2; for http URLs with prior knowledge (h2c)."`
	NoKeepalive    bool     `group:"Load:" help:"Open a new connection for each request."`
	Rate           string   `group:"Pace (open loop):" short:"r" placeholder:"N" help:"Send N requests per second, independent of the responses."`
	Stage          []string `group:"Pace (open loop):" sep:"none" placeholder:"TIME:RATE" help:"Hold a rate for a time (30s:1000) or change it linearly (30s:1000-5000). May be repeated."`
	Poisson        bool     `group:"Pace (open loop):" help:"Send at random times (a Poisson process) with the rate as the mean."`
	MaxConnections string   `group:"Pace (open loop):" placeholder:"N" help:"Open up to N connections when all are in use (default 10000)."`
	Behind         string   `group:"Pace (open loop):" placeholder:"HOW" help:"Handle requests that are due while no connection is free: catch-up (the default) sends all of them later, skip sends none, a number keeps that many waiting."`

	Method       string   `group:"Request:" short:"X" placeholder:"WORD" help:"Use method WORD (default GET, or POST with a body)."`
	Header       []string `group:"Request:" short:"H" sep:"none" placeholder:"LINE" help:"Add \"Name: value\". May be repeated."`
	Body         string   `group:"Request:" placeholder:"TEXT" help:"Send TEXT as the body, @FILE for a file, or @- for stdin."`
	Form         []string `group:"Request:" short:"F" sep:"none" placeholder:"FIELD" help:"Send a form with fields in the syntax of curl -F: name=value, name=@FILE. May be repeated."`
	RequestsFile string   `group:"Request:" placeholder:"FILE" help:"Send the requests in FILE in turn: lines of METHOD URL, vegeta's JSON lines, or a HAR."`
	To           string   `group:"Request:" placeholder:"ORIGIN" help:"Send the requests of the file to ORIGIN instead, such as http://127.0.0.1:8080."`
	PathGrowth   string   `group:"Request:" placeholder:"N" help:"Extend the path by up to N segments: /, /0, /0/1, ..."`
	Seed         string   `group:"Request:" placeholder:"N" help:"Seed for random values and times; the same N gives the same (default random)."`

	Insecure bool   `group:"TLS:" short:"k" help:"Do not verify the server's certificate."`
	CACert   string `group:"TLS:" name:"cacert" placeholder:"FILE" help:"Verify it with the certificates in FILE (PEM) only."`
	Cert     string `group:"TLS:" placeholder:"FILE" help:"Use the client certificate in FILE (PEM)."`
	Key      string `group:"TLS:" placeholder:"FILE" help:"The key of --cert, if it is in another file."`
	SNI      string `group:"TLS:" name:"sni" placeholder:"NAME" help:"Send NAME as the server name instead of the URL's host."`

	PID string `group:"Result:" name:"pid" placeholder:"N" help:"Measure process N as the server. The default 0 searches for it on this machine, --pid=-1 measures none."`

	Fail    []string     `group:"Result:" sep:"none" placeholder:"CHECK" help:"Exit with 1 if CHECK is true, such as 'p99 > 50ms'. May be repeated."`
	JSON    optionalFile `group:"Result:" name:"json" placeholder:"FILE" help:"Write the result as a JSON document to stdout, or to FILE with --json=FILE."`
	CSV     string       `group:"Result:" name:"csv" placeholder:"FILE" help:"Write the counts and latencies of each second."`
	HTML    string       `group:"Result:" name:"html" placeholder:"FILE" help:"Write a page with charts."`
	HDR     string       `group:"Result:" name:"hdr" placeholder:"FILE" help:"Write the percentiles in the format of HdrHistogram."`
	Quiet   bool         `group:"Result:" short:"q" help:"Print only errors and the requested reports."`
	NoColor bool         `group:"Result:" help:"Do not use colours. NO_COLOR in the environment does the same."`
}

// Help implements kong.HelpProvider.
func (sendCommand) Help() string {
	return `Without a pace, each connection sends its next request when it has the response (closed loop), so the
server determines the rate. With --rate or --stage, each request is due at a given time (open loop), and
latency counts from that time. It then includes the time that a user waits while the server stalls.

The URL, header values, and a body given as text may contain {{seq}}, {{uuid}}, {{rand 1 100}}, {{line "users.txt"}}
and {{now}}.

CHECK is a metric, one of < <= > >= ==, and a bound. Metrics are p50 p99.9 max mean; answered p99, first_byte p99,
connect p99, from_sent p99, lag p99; errors, 5xx, status 404, unanswered, unsent, late (counts or %); rate. The check
"saturated" has no bound.

The first Ctrl-C stops sending, waits a second for responses in flight, and reports. The second one ends weir with
exit code 130. The exit code is 1 if a --fail is true or no response arrived. A report file appears complete or not at
all.

See also weir load compare --help and weir load gen --help, and docs/load.md for details.

Examples:
  weir load http://127.0.0.1:8080/
  weir load -r 10000 -d 30s 127.0.0.1:8080/hello
  weir load --stage 30s:100-5000 --html report.html http://127.0.0.1:8080/
  weir load -n 100000 --fail 'p99 > 50ms' --fail 'errors > 0.1%' URL
  weir load -F file=@photo.jpg -H 'Authorization: Bearer x' URL`
}

// An optionalFile is a flag with an optional value: --json, --json=FILE.
type optionalFile string

// Decode implements kong.MapperValue.
func (f *optionalFile) Decode(ctx *kong.DecodeContext) error {
	*f = "-"
	if token := ctx.Scan.Peek(); token.Type == kong.FlagValueToken {
		return ctx.Scan.PopValueInto("file", (*string)(f))
	}
	return nil
}

// IsBool lets kong accept the flag without a value.
func (*optionalFile) IsBool() bool { return true }

// pagePoints is the number of single requests that a page shows: about four per
// pixel of a chart's width.
const pagePoints = 4000

// Run sends the requests and writes the reports.
func (c *sendCommand) Run(ctx *kong.Context, s cli.Streams) error {
	plan, err := c.plan(ctx.Flags())
	if err != nil {
		return err
	}
	checks, err := parseChecks(c.Fail, func(text string) (load.Check, error) {
		check, err := load.ParseCheck(text)
		if err == nil {
			err = check.Fits(plan)
		}
		return check, err
	}, "weir load --fail 'p99 > 50ms' --fail 'errors > 0.1%' URL")
	if err != nil {
		return err
	}
	files, err := cli.OpenReports(
		&cli.ReportFile[*load.Result]{Flag: "--json", Name: string(c.JSON), Write: cli.PrintJSON[*load.Result]},
		&cli.ReportFile[*load.Result]{Flag: "--csv", Name: c.CSV, Write: report.CSV},
		&cli.ReportFile[*load.Result]{Flag: "--html", Name: c.HTML, Write: report.HTML},
		&cli.ReportFile[*load.Result]{Flag: "--hdr", Name: c.HDR, Write: report.HDR},
	)
	if err != nil {
		return err
	}
	defer files.Discard()
	screen := newScreen(s, c, plan)
	plan.Progress = screen.progress
	if c.HTML != "" {
		plan.Points = pagePoints
	}
	if !c.Quiet {
		explain(s, plan)
	}
	signals, stop := cli.Interrupts()
	defer stop()
	run := func(ctx context.Context) (*load.Result, error) { return load.Run(ctx, plan) }
	result, err := cli.Interruptible(screen, interruptNotice, signals, run)
	if err != nil {
		return withHint(err)
	}
	if err := files.Write(s.Out, result); err != nil {
		return err
	}
	if !c.Quiet && !files.Stdout() {
		if err := screen.report(result); err != nil {
			return err
		}
	}
	return judge(s, result, checks)
}

// explain prints the behaviour that users of other load generators do not expect.
func explain(s cli.Streams, p load.Plan) {
	if n := p.Connections; n > 0 && p.MaxConnections == 0 && len(p.Pace.Stages) > 0 {
		opened := fmt.Sprintf("%d connections are opened", n)
		if n == 1 {
			opened = "1 connection is opened"
		}
		fmt.Fprintf(s.Err, "weir: %s, and more if all are in use when a request is due; "+
			"--max-connections %d keeps it at %[2]d\n", opened, n)
	}
}

// parseChecks parses --fail.
func parseChecks[C any](texts []string, parse func(string) (C, error), hint string) ([]C, error) {
	checks := make([]C, len(texts))
	for i, text := range texts {
		var err error
		if checks[i], err = parse(text); err != nil {
			return nil, cli.Misuse(fmt.Errorf("--fail: %w", err), hint)
		}
	}
	return checks, nil
}

// judge prints why a finished run failed, and returns ErrReported if it did.
func judge(s cli.Streams, r *load.Result, checks []load.Check) error {
	if r.Requests == 0 {
		cli.PrintError(s.Err, cli.WithHint(errors.New("no response arrived"+firstError(r)), silentHint(r)))
		return cli.ErrReported
	}
	return evaluate(s, checks, r)
}

// A check is a condition of --fail on a result or a comparison.
type check[R any] interface {
	fmt.Stringer
	Of(R) (value string, holds bool, err error)
}

// evaluate prints each check that holds or that has no answer, and returns
// ErrReported if there is one.
func evaluate[R any, C check[R]](s cli.Streams, checks []C, result R) error {
	var failed error
	for _, c := range checks {
		value, holds, err := c.Of(result)
		if err != nil {
			err = fmt.Errorf("--fail: %w", err)
		} else if holds {
			err = fmt.Errorf("--fail '%v': %s", c, value)
		}
		if err != nil {
			cli.PrintError(s.Err, err)
			failed = cli.ErrReported
		}
	}
	return failed
}

// silentHint returns a hint for a run without an answer.
func silentHint(r *load.Result) string {
	switch {
	case r.CertificateRequired:
		return "use --cert FILE --key FILE to send a client certificate"
	case r.Protocol == load.HTTP2.String():
		return "does the server support HTTP/2? Without --http2, weir uses HTTP/1.1"
	}
	return "curl -v " + r.URL
}

// firstError returns ": " and the first error of the most frequent kind, or "".
func firstError(r *load.Result) string {
	most, text := int64(0), ""
	for kind, n := range r.Errors {
		if n > most {
			most, text = n, ": "+cmp.Or(r.ErrorExamples[kind], kind)
		}
	}
	return text
}

func unreachableHint(e *load.UnreachableError) string {
	switch {
	case errors.As(e, new(*tls.CertificateVerificationError)):
		return "--cacert FILE sets another certificate for verification; --insecure turns verification off"
	case e.Kind == "tls":
		return "does the server use TLS? Use http:// if not"
	}
	return "is a server listening there? For a test server: weir backend --listen " + e.Server
}

// withHint adds a hint to the error of a run that did not start.
func withHint(err error) error {
	var room *load.RoomError
	var unreachable *load.UnreachableError
	var network *net.DNSError
	switch {
	case errors.Is(err, cli.ErrInterrupted):
		return err
	case errors.As(err, &room):
		return cli.WithHint(err, fmt.Sprintf("-c %d, or raise the limit of %s: weir doctor", room.Fit, room.Of))
	case errors.As(err, &unreachable):
		return cli.WithHint(err, unreachableHint(unreachable))
	case errors.As(err, &network):
		return cli.WithHint(err, "check the host's name")
	case errors.As(err, new(*target.OriginsError)):
		return cli.Misuse(err, "weir load --requests-file FILE --to http://127.0.0.1:8080")
	}
	return cli.Misuse(err, "weir load --help")
}
