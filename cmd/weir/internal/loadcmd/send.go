package loadcmd

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/alecthomas/kong"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/internal/nearest"
	"github.com/weirhq/weir/load"
	"github.com/weirhq/weir/load/agent"
	"github.com/weirhq/weir/load/check"
)

type sendCommand struct {
	URL []string `arg:"" optional:"" name:"url" help:"The URL to send requests to. The default scheme is http."`

	// Settings that load/settings parses. They are strings here, so that only that
	// package knows their formats.
	Connections    string   `group:"Load:" short:"c" placeholder:"N" help:"Keep N connections open (default 64)."`
	Pipeline       string   `group:"Load:" short:"p" placeholder:"N" help:"Keep N requests in flight on each connection (default 1)."`
	Duration       string   `group:"Load:" short:"d" placeholder:"TIME" help:"Send for TIME, such as 30s (default 10s, unless something else ends the run)."`
	WarmUp         string   `group:"Load:" placeholder:"TIME" help:"Send for TIME before, and leave these requests out of all results."`
	Requests       string   `group:"Load:" short:"n" placeholder:"N" help:"Stop after N requests."`
	Timeout        string   `group:"Load:" placeholder:"TIME" help:"Wait up to TIME for a response or a connection (default 10s)."`
	Threads        string   `group:"Load:" placeholder:"N" help:"Send from N threads (default one per CPU)."`
	HTTP2          bool     `group:"Load:" name:"http2" help:"Use HTTP/2; for http URLs with prior knowledge (h2c)."`
	NoKeepalive    bool     `group:"Load:" help:"Open a new connection for each request."`
	Unix           string   `group:"Load:" placeholder:"PATH" help:"Connect to the Unix socket PATH instead of the URL's host."`
	Share          string   `group:"Load:" placeholder:"I/N" help:"Execute share I of N of the plan, such as 2/8, at the time of --start-at. weir load merge merges the results."`
	StartAt        string   `group:"Load:" placeholder:"TIME" help:"Start at TIME, RFC 3339 or Unix seconds."`
	Rate           string   `group:"Pace (open loop):" short:"r" placeholder:"N" help:"Send N requests per second, independent of the responses."`
	Stage          []string `group:"Pace (open loop):" sep:"none" placeholder:"TIME:RATE" help:"Hold a rate for a time (30s:1000) or change it linearly (30s:1000-5000). May be repeated."`
	Poisson        bool     `group:"Pace (open loop):" help:"Send at random times (a Poisson process) with the rate as the mean."`
	MaxConnections string   `group:"Pace (open loop):" placeholder:"N" help:"Open up to N connections when all are in use (default 10000)."`
	Behind         string   `group:"Pace (open loop):" placeholder:"HOW" complete:"catch-up,skip" help:"Handle requests that are due while no connection is free: catch-up (the default) sends all of them later, skip sends none, a number keeps that many waiting."`

	Method       string   `group:"Request:" short:"X" placeholder:"WORD" help:"Use method WORD (default GET, or POST with a body)."`
	Header       []string `group:"Request:" short:"H" sep:"none" placeholder:"LINE" help:"Add \"Name: value\". May be repeated."`
	Body         string   `group:"Request:" placeholder:"TEXT" help:"Send TEXT as the body, @FILE for a file, or @- for stdin."`
	Form         []string `group:"Request:" short:"F" sep:"none" placeholder:"FIELD" help:"Send a form with fields in the syntax of curl -F: name=value, name=@FILE. May be repeated."`
	GRPC         string   `group:"Request:" name:"grpc" placeholder:"METHOD" help:"Call the unary method METHOD of gRPC, such as shop.Orders/Get, over HTTP/2. --body is the message in JSON."`
	Proto        string   `group:"Request:" placeholder:"FILE" help:"Describe METHOD by the descriptors in FILE (buf build -o FILE) instead of the server's reflection."`
	RequestsFile string   `group:"Request:" placeholder:"FILE" help:"Send the requests in FILE in turn: lines of METHOD URL, curl commands, vegeta's JSON lines, a collection of Postman, OpenAPI 3, or a HAR."`
	FromLog      string   `group:"Request:" placeholder:"FILE" help:"Send the requests of a log at their recorded times: weir, nginx, Apache or Caddy; also .gz, or - for stdin."`
	Speed        string   `group:"Request:" placeholder:"N" help:"Send the log N times as fast (default 1)."`
	AllMethods   bool     `group:"Request:" help:"Send requests of all methods of the log, without bodies, or of OpenAPI, not only GET, HEAD and OPTIONS."`
	To           string   `group:"Request:" placeholder:"ORIGIN" help:"Send the requests of the file or log to ORIGIN, such as http://127.0.0.1:8080."`
	Flows        string   `group:"Request:" placeholder:"FILE" help:"Let each connection be a user who executes the flows in FILE (YAML) on the server of the URL."`
	AllHosts     bool     `group:"Request:" help:"With --to, send the requests of a HAR to other hosts than the first one's too."`
	Expect       []string `group:"Request:" sep:"none" placeholder:"WHAT" help:"Count a response as failed unless it has WHAT, such as 'status 200'. May be repeated."`
	PathGrowth   string   `group:"Request:" placeholder:"N" help:"Extend the path by up to N segments: /, /0, /0/1, ..."`
	Seed         string   `group:"Request:" placeholder:"N" help:"Seed for random values and times; the same N gives the same (default random)."`

	Insecure bool   `group:"TLS:" short:"k" help:"Do not verify the server's certificate."`
	CACert   string `group:"TLS:" name:"cacert" placeholder:"FILE" help:"Verify it with the certificates in FILE (PEM) only."`
	Cert     string `group:"TLS:" placeholder:"FILE" help:"Use the client certificate in FILE (PEM)."`
	Key      string `group:"TLS:" placeholder:"FILE" help:"The key of --cert, if it is in another file."`
	SNI      string `group:"TLS:" name:"sni" placeholder:"NAME" help:"Send NAME as the server name instead of the URL's host."`

	fleet

	Abort bool `group:"Result:" help:"End the run as soon as a --fail is true; it is looked at each second."`

	RequestsCSV string `group:"Result:" name:"requests-csv" placeholder:"FILE" help:"Write each request: when it was sent, its latency, status, bytes, target and failure."`

	export

	PID string `group:"Result:" name:"pid" placeholder:"N" help:"Measure process N as the server. The default 0 searches for it on this machine, --pid=-1 measures none."`

	Web cli.WebAddress `group:"Result:" placeholder:"ADDR" help:"Show the run on a page while it lasts, at a free port of 127.0.0.1, or at ADDR with --web=ADDR."`

	output
}

// Help implements kong.HelpProvider.
func (sendCommand) Help() string {
	return `Without a pace, each connection sends its next request when it has the response (closed loop), so the
server determines the rate. With --rate or --stage, each request is due at a given time (open loop), and
latency counts from that time. It then includes the time that a user waits while the server stalls.

The URL, header values, and a body given as text may contain {{seq}}, {{uuid}}, {{rand 1 100}}, {{line "users.txt"}}
and {{now}}.

WHAT is 'status 200,3xx', 'header Content-Type: text/html', 'header Content-Type contains html', 'body contains TEXT',
'body lacks TEXT', '$.items[0].state == up' (a value in JSON), 'size 1kB-2MB', or
'grpc OK,NOT_FOUND'.

CHECK is a metric, one of < <= > >= ==, and a bound. Metrics are p50 p99.9 max mean; answered p99, first_byte p99,
connect p99, from_sent p99, lag p99; errors, wrong, 5xx, status 404, unanswered, unsent, late (counts or %); rate. The check
"saturated" has no bound.

The first Ctrl-C stops sending, waits a second for responses in flight, and reports. The second one ends weir with
exit code 130. The exit code is 1 if a --fail is true or no response arrived. A report file appears complete or not at
all.

See also weir agent --help, weir load merge --help, weir load compare --help and weir load gen --help, and docs/load.md for details,
and docs/load-flows.md for --flows.

Examples:
  weir load http://127.0.0.1:8080/
  weir load -r 10000 -d 30s 127.0.0.1:8080/hello
  weir load --stage 30s:100-5000 --html report.html http://127.0.0.1:8080/
  weir load --web -d 5m http://127.0.0.1:8080/
  weir load -n 100000 --fail 'p99 > 50ms' --fail 'errors > 0.1%' URL
  weir load --expect 'status 200' --expect 'body contains ok' URL
  weir load -F file=@photo.jpg -H 'Authorization: Bearer x' URL
  weir load --grpc shop.Orders/Get --body '{"id": 7}' http://127.0.0.1:50051
  weir load --from-log access.log.gz --speed 2 --to http://127.0.0.1:8080
  weir load --flows shop.yaml -c 200 --warm-up 10s http://127.0.0.1:8080
  weir load --export prometheus+http://127.0.0.1:9090 --tag run=nightly URL
  weir load --agents 8 --via nats://nats-1:4222 -r 200000 http://server/`
}

// Run sends the requests and writes the reports.
func (c *sendCommand) Run(ctx *kong.Context, s cli.Streams) error {
	remote, err := c.coordinator(c.Share != "" || c.StartAt != "", c.PID)
	if err != nil {
		return err
	}
	if remote != nil {
		defer remote.Files.Close()
	}
	plan, err := c.plan(ctx.Flags(), remote)
	if err != nil {
		return err
	}
	checks, err := c.checks(plan)
	if err != nil {
		return err
	}
	abort, err := c.aborter(checks, remote != nil)
	if err != nil {
		return err
	}
	each, startRows, err := c.eachRequest(remote != nil)
	if err != nil {
		return err
	}
	files, err := c.open(each)
	if err != nil {
		return err
	}
	defer files.Discard()
	startRows(s.Out, &plan)
	page, err := c.serveWeb(s, plan)
	if err != nil {
		return err
	}
	defer page.close()
	screen := newScreen(s, &c.output, plan)
	plan.Progress = page.follow(screen.progress)
	plan.Points = c.points()
	exporter, err := c.exporter(screen, remote != nil)
	if err != nil {
		return err
	}
	c.explain(s, plan)
	signals, stop := cli.Interrupts()
	defer stop()
	run := exportedRun(exporter, plan, abort.run)
	if remote != nil {
		run = remoteRun(remote, screen, plan)
	}
	result, err := cli.Interruptible(screen, interruptNotice, signals, run)
	page.end(result, err)
	if err != nil {
		return withHint(err)
	}
	if err := c.finish(s, result, files, checks); err != nil {
		return err
	}
	return abort.failed(s)
}

// checks parses --fail for a plan.
func (c *sendCommand) checks(p load.Plan) ([]check.Check, error) {
	return parseChecks(c.Fail, func(text string) (check.Check, error) {
		parsed, err := check.Parse(text)
		if err == nil {
			err = parsed.Fits(p)
		}
		return parsed, err
	}, "weir load --fail 'p99 > 50ms' --fail 'errors > 0.1%' URL")
}

// checkURL returns an error if there are several arguments.
func (c *sendCommand) checkURL() error {
	if len(c.URL) < 2 {
		return nil
	}
	switch verb := nearest.Guess(c.URL[0], []string{"compare", "gen", "merge"}); {
	case verb != "":
		return misuse("", "unexpected argument %s, did you mean %q?", c.URL[0], verb)
	case c.JSON == "-":
		return misuse("weir load --json="+c.URL[0]+" "+c.URL[1], "%q and %q are two URLs", c.URL[0], c.URL[1])
	}
	return misuse("write both to a file: weir load --requests-file FILE", "%q and %q are two URLs", c.URL[0], c.URL[1])
}

// plan returns the plan of the URL and the flags. remote is nil for a run in this process.
func (c *sendCommand) plan(flags []*kong.Flag, remote *agent.Coordinator) (load.Plan, error) {
	if err := c.checkURL(); err != nil {
		return load.Plan{}, err
	}
	s, err := readSettings(flags)
	if err != nil {
		return load.Plan{}, aboutFlag(err)
	}
	if len(c.URL) > 0 {
		s.URL = c.URL[0]
	}
	if remote != nil {
		return remotePlan(remote, s)
	}
	share, startAt, err := c.share()
	if err != nil {
		return load.Plan{}, err
	}
	if c.Share != "" && s.Seed == 0 { // the same for all shares, and another one in each run
		s.Seed = 1 + uint64(uint32(startAt.UnixMilli()))
	}
	p, err := s.Plan()
	p.Share, p.StartAt = share, startAt
	return p, aboutFlag(err)
}

// share reads --share and --start-at.
func (c *sendCommand) share() (share load.Share, startAt time.Time, err error) {
	if c.StartAt != "" {
		if startAt, err = parseTime(c.StartAt); err != nil {
			return share, startAt, misuse("in a minute it is: --start-at $(($(date +%s) + 60))", "--start-at: %w", err)
		}
	}
	if c.Share == "" {
		return share, startAt, nil
	}
	if share, err = load.ParseShare(c.Share); err != nil {
		return share, startAt, misuse("", "--share: %w", err)
	}
	if startAt.IsZero() {
		return share, startAt, misuse("give all shares the same: --start-at $(($(date +%s) + 60))",
			"--share needs --start-at, by which all shares start together")
	}
	return share, startAt, nil
}

// parseTime reads a time in the format of RFC 3339 or in seconds since 1970.
func parseTime(text string) (time.Time, error) {
	if seconds, err := strconv.ParseFloat(text, 64); err == nil && seconds > 0 && seconds < 1e11 {
		whole, fraction := math.Modf(seconds)
		return time.Unix(int64(whole), int64(math.Round(fraction*1e3))*1e6), nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, fmt.Errorf("%q is neither a time such as 2006-01-02T15:04:05Z nor seconds since 1970", text)
	}
	return t, nil
}

// explain prints the behaviour that users of other load generators do not expect.
func (o *output) explain(s cli.Streams, p load.Plan) {
	if o.Quiet {
		return
	}
	if n := p.Connections; n > 0 && p.MaxConnections == 0 && p.Pace.Open() {
		opened := fmt.Sprintf("%d connections are opened", n)
		if n == 1 {
			opened = "1 connection is opened"
		}
		cli.Say(s.Err, fmt.Sprintf("%s, and more if all are in use when a request is due; "+
			"--max-connections %d keeps it at %[2]d", opened, n))
	}
	if left := time.Until(p.StartAt); left > 0 {
		cli.Say(s.Err, fmt.Sprintf("starting at %s, in %.1f s", p.StartAt.Format(time.RFC3339), left.Seconds()))
	}
}
