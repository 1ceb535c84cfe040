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
	Send    sendCommand    `cmd:"" default:"withargs" help:"Send requests, and say how long the answers took."`
	Compare compareCommand `cmd:"" help:"Compare results of weir load --json."`
	Gen     genCommand     `cmd:"" help:"Make data to send."`
}

type sendCommand struct {
	URL []string `arg:"" optional:"" name:"url" help:"Where to send requests. Without a scheme it is http."`

	// Settings that load/settings parses. They are strings here, so that only that
	// package knows their formats.
	Connections    string   `group:"Load:" short:"c" placeholder:"N" help:"Keep N connections open; 64 unless given."`
	Pipeline       string   `group:"Load:" short:"p" placeholder:"N" help:"Have N requests under way on each connection; 1 unless given."`
	Duration       string   `group:"Load:" short:"d" placeholder:"TIME" help:"Send for TIME, such as 30s; 10s unless something else ends the run."`
	Requests       string   `group:"Load:" short:"n" placeholder:"N" help:"End after N requests."`
	Timeout        string   `group:"Load:" placeholder:"TIME" help:"Wait so long for an answer, or a connection; 10s unless given."`
	Threads        string   `group:"Load:" placeholder:"N" help:"Send from N threads; one for each CPU unless given."`
	HTTP2          bool     `group:"Load:" name:"http2" help:"Speak HTTP/2; over http without an upgrade (h2c)."`
	NoKeepalive    bool     `group:"Load:" help:"Open a connection for each request."`
	Rate           string   `group:"Pace (open loop):" short:"r" placeholder:"N" help:"Have N requests due in each second, whether answers come or not."`
	Stage          []string `group:"Pace (open loop):" sep:"none" placeholder:"TIME:RATE" help:"Keep a rate for a time, 30s:1000, or ramp, 30s:1000-5000. May be repeated."`
	Poisson        bool     `group:"Pace (open loop):" help:"Have requests arrive at random, at the rate on average."`
	MaxConnections string   `group:"Pace (open loop):" placeholder:"N" help:"Open N connections at most when all are in use; 10000 unless given."`
	Behind         string   `group:"Pace (open loop):" placeholder:"HOW" help:"What to do with requests that are due while no connection is free: catch-up sends all later, and is meant unless given; skip none; a number keeps so many waiting."`

	Method       string   `group:"Request:" short:"X" placeholder:"WORD" help:"Send WORD instead of GET, or of POST with a body."`
	Header       []string `group:"Request:" short:"H" sep:"none" placeholder:"LINE" help:"Add \"Name: value\". May be repeated."`
	Body         string   `group:"Request:" placeholder:"TEXT" help:"Send TEXT, or with @FILE a file, or with @- stdin."`
	Form         []string `group:"Request:" short:"F" sep:"none" placeholder:"FIELD" help:"Send a form, with fields as curl's -F has them: name=value, name=@FILE. May be repeated."`
	RequestsFile string   `group:"Request:" placeholder:"FILE" help:"Send what FILE has in turn: lines of METHOD URL, vegeta's JSON lines, or a HAR."`
	To           string   `group:"Request:" placeholder:"ORIGIN" help:"Send the requests of the file to ORIGIN instead, such as http://127.0.0.1:8080."`
	PathGrowth   string   `group:"Request:" placeholder:"N" help:"Send paths that grow by up to N segments: /, /0, /0/1, ..."`
	Seed         string   `group:"Request:" placeholder:"N" help:"Choose random values and arrivals by N, the same for the same N; at random unless given."`

	Insecure bool   `group:"TLS:" short:"k" help:"Do not verify the server's certificate."`
	CACert   string `group:"TLS:" name:"cacert" placeholder:"FILE" help:"Verify it by the certificates in FILE (PEM) alone."`
	Cert     string `group:"TLS:" placeholder:"FILE" help:"Show the server the certificate in FILE (PEM)."`
	Key      string `group:"TLS:" placeholder:"FILE" help:"Its key, if that is not in the same file."`
	SNI      string `group:"TLS:" name:"sni" placeholder:"NAME" help:"Ask for NAME instead of the URL's host."`

	PID string `group:"Result:" name:"pid" placeholder:"N" help:"Watch process N as the server; 0 looks for it on this machine, and --pid=-1 does not."`

	Fail    []string     `group:"Result:" sep:"none" placeholder:"CHECK" help:"Exit with 1 if CHECK is true, such as 'p99 > 50ms'. May be repeated."`
	JSON    optionalFile `group:"Result:" name:"json" placeholder:"FILE" help:"Write the result as a JSON document to stdout, or with --json=FILE to FILE."`
	CSV     string       `group:"Result:" name:"csv" placeholder:"FILE" help:"Write what happened in each second."`
	HTML    string       `group:"Result:" name:"html" placeholder:"FILE" help:"Write a page with charts."`
	HDR     string       `group:"Result:" name:"hdr" placeholder:"FILE" help:"Write the percentiles as HdrHistogram does."`
	Quiet   bool         `group:"Result:" short:"q" help:"Print nothing but what --json and the like ask for, and errors."`
	NoColor bool         `group:"Result:" help:"Do not colour; nor does it with NO_COLOR set."`
}

// Help implements kong.HelpProvider.
func (sendCommand) Help() string {
	return `Without a pace, each connection sends its next request when it has its answer (closed loop): the server sets the rate. With --rate or --stage, requests are due at their times (open loop), and latency counts from when one was due: what a user of a server that stalls has to wait.

The URL, the values of headers, and a body given as text may hold {{seq}}, {{uuid}}, {{rand 1 100}}, {{line "users.txt"}} and {{now}}.

CHECK is a metric, < <= > >= or ==, and a bound: p50 p99.9 max mean; answered p99, first_byte p99, connect p99, from_sent p99, lag p99; errors, 5xx, status 404, unanswered, unsent, late, in numbers or %; rate; saturated alone.

The first Ctrl-C ends the sending, waits a second for the responses under way, and reports; the second ends weir with 130. It exits with 1 when a --fail is true or no answer came. A report file appears whole or not at all.

weir load compare --help and weir load gen --help have more. docs/load.md has all of it.

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
	checks, err := c.checks(plan)
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
	result, err := cli.Interruptible(screen, interruptNotice, signals, func(ctx context.Context) (*load.Result, error) { return load.Run(ctx, plan) })
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
		fmt.Fprintf(s.Err, "weir: %s, and more when all are in use and a request is due; --max-connections %d keeps it at %[2]d\n", opened, n)
	}
}

// checks parses --fail. It rejects a metric that the run will not have.
func (c *sendCommand) checks(plan load.Plan) ([]load.Check, error) {
	var checks []load.Check
	for _, text := range c.Fail {
		check, err := load.ParseCheck(text)
		if err == nil {
			err = check.Fits(plan)
		}
		if err != nil {
			return nil, cli.Misuse(fmt.Errorf("--fail: %w", err), "weir load --fail 'p99 > 50ms' --fail 'errors > 0.1%' URL")
		}
		checks = append(checks, check)
	}
	return checks, nil
}

// judge prints why a finished run failed, and returns ErrReported if it did.
func judge(s cli.Streams, r *load.Result, checks []load.Check) error {
	if r.Requests == 0 {
		cli.PrintError(s.Err, cli.WithHint(errors.New("no answer came"+firstError(r)), silentHint(r)))
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
		return "--cert FILE --key FILE show the server a certificate"
	case r.Protocol == load.HTTP2.String():
		return "does the server speak HTTP/2? Without --http2 it is HTTP/1.1"
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
		return "--cacert FILE has another certificate to verify it by, --insecure does not verify it"
	case e.Kind == "tls":
		return "does the server speak TLS there? http:// is without"
	}
	return "is a server listening there? weir backend --listen " + e.Server + " is one to try"
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
