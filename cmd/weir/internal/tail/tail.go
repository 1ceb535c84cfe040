// Package tail is the verb weir tail, which reads events, chooses from them and
// shows or converts them.
//
// A goroutine reads the inputs and sends the data in parts (input.go). The view
// cuts the data into lines, filters events, and writes them (view.go) or counts
// them (stats.go).
package tail

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/internal/follow"
	"github.com/weirhq/weir/internal/nearest"
	"github.com/weirhq/weir/internal/where"
	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/record"
)

// Command is the command line of weir tail.
type Command struct {
	Files      []string      `arg:"" optional:"" name:"file" help:"Files to read, or the URL of a subject of NATS. Without one, or for \"-\", stdin."`
	Follow     bool          `short:"f" help:"Continue with appended lines, through rotation and truncation."`
	Lines      *start        `short:"n" placeholder:"N" help:"Begin with the last N lines, or with line N when it is written as +N. The default is all lines, with --follow the last 10, unless --stats counts them."`
	Since      *since        `placeholder:"TIME" help:"Of a subject: begin with the events that the server has stored since TIME, as in 2026-11-21T09:30:15Z, or since an age, as in 1h30m."`
	Level      string        `placeholder:"LEVEL" complete:"debug,info,warn,error,fatal" help:"Show events of this level and worse: debug, info, warn, error or fatal."`
	Where      string        `placeholder:"EXPR" help:"Show events for which EXPR is true."`
	Around     *string       `placeholder:"TRACE_ID" help:"Show the events of a trace id in the order of their times, over all inputs. Its first eight characters suffice."`
	Window     time.Duration `placeholder:"TIME" help:"With --around: also show the events of this time before and after, as in 2s."`
	EventsOnly bool          `help:"Omit lines that are not events."`
	Format     string        `placeholder:"FORM" complete:"human,json,ltsv,raw" help:"Write events as human, json, ltsv or raw (unchanged). The default is human on a terminal, else raw."`
	Color      string        `placeholder:"WHEN" complete:"auto,always,never" default:"auto" help:"Colour the human form: auto, always or never. With auto, on a terminal, unless NO_COLOR is set or TERM is dumb."`
	Stats      bool          `help:"Count events by level and route instead of showing them."`
	JSON       bool          `name:"json" help:"With --stats: print them as a JSON document."`
}

// Help implements kong.HelpProvider.
func (Command) Help() string {
	return `Reads events, JSON of either shape or LTSV, and shows, filters or converts them. Other lines are passed ` +
		`on unchanged, with a filter too, unless --events-only is given. In human form and on a terminal, ` +
		`control characters are shown as escapes. In human form, a trace id is # and its first eight characters, ` +
		`by which --where finds the whole id, and with several files a line ==> FILE <== names the file of the ` +
		`lines after it. A line of more than 1 MiB is not an event. -n counts lines before they are filtered.

EXPR compares fields of an event: created_at, namespace, event, trace_id, span_id, severity (0 fatal to ` +
		`4 debug), level, http, auth, data, errors and truncated; extra has the keys that the format does not ` +
		`know, and extra.http the same for http. http has status_code, method, path, query, route, client, duration ` +
		`and the others of docs/format.md.

The operators are == != < <= > >= in contains startsWith endsWith matches, and or not, + - * / % **, ?? ` +
		`for a missing field, and a ? b : c. Durations are written as 250ms or 1m30s, sizes as 64KiB, texts as ` +
		`"text". Levels compare by how bad they are, as in level >= "warn". Instants compare with now() - 1h, ` +
		`and with texts such as "2026-11-21T09:30:15Z" or "2026-11-21T09:30", which is in UTC. An event without a ` +
		`level counts as info for --level only.

A missing field makes a comparison false, also with !=: data.user != "ann" finds the events of other users, and ` +
		`not (data.user == "ann") events without a user too. data.user == nil finds events without one. A value of another ` +
		`type in data makes a comparison false, except with !=. An event that has http or auth has all numbers and texts ` +
		`in it: what it leaves out is 0 and "", so that http.query == "" finds requests without a query.

The functions are len, lower, upper, trim, trimPrefix, trimSuffix, indexOf, lastIndexOf, replace, ` +
		`split, join and string, int, float, abs, ceil, floor, round, min and max, now, date and duration. all, ` +
		`any, none, one, count, filter, map and sum take a list and a condition or value for each element, in ` +
		`which .name is a member of the element and # the element, as in any(errors, .message contains ` +
		`"refused"). let x = http.duration; x > 1s names a value.

--follow checks the files ten times a second. A file that was renamed is read to its end before the one ` +
		`that took its name. With copytruncate, lines written less than a tenth of a second before the ` +
		`truncation are lost.

--around reads all inputs, and then shows the events of one request: those with the trace id, or with the ` +
		`trace-id that a traceparent has for it. TRACE_ID may be a traceparent. Lines that are not events are omitted. If ` +
		`nothing is found, the exit code is 1. --window reads the inputs twice, so that they must not be pipes.

A file whose name ends in .gz is decompressed. An input that cannot be read to its end is named, the others are ` +
		`read, and the exit code is 1. With --follow, a new file that cannot be opened is tried again.

The URL of a subject, nats://HOST:4222/SUBJECT, reads the events that many machines have stored in a stream of NATS ` +
		`JetStream, in the order in which they have arrived there; docs/nats.md describes it. SUBJECT may have the ` +
		`wildcards * and >. Events that the stream has twice are shown once. With --follow, a server that is away is ` +
		`awaited.

SIGINT ends weir tail. If it reads a pipe, it ignores the first one, so that the program that writes ` +
		`there can finish and its last lines are read; a second one ends it immediately. The exit code is 130 if lines ` +
		`are lost then because nobody reads the output.

Examples:
  weir serve | weir tail
  weir tail -f --level warn weir.log
  weir tail --where 'http.status_code >= 500 && http.duration > 1s' weir.log
  weir tail --format json --where 'trace_id startsWith "kQmzRzXb"' weir.log
  weir tail --around kQmzRzXb --window 2s weir.log*
  weir tail --format json --events-only access.ltsv
  weir tail --stats weir.log
  weir tail -f --level warn 'nats://nats-1:4222/logs.>'`
}

// followedLines is the number of lines with which --follow begins, as in tail.
const followedLines = 10

// Run reads until the inputs end, or a signal comes.
func (c *Command) Run(s cli.Streams) error {
	// When the reader of the output has closed it, a write returns an error.
	// Without this line it would end the process.
	signal.Ignore(syscall.SIGPIPE)
	view, err := c.view(s)
	if err != nil {
		return err
	}
	// Opening a named pipe waits for its writer, so this comes first. It has no signal.Stop: on a busy machine, an
	// interrupt arrives after the end of the input, and must be ignored then too.
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	var missed error
	view.report = func(err error) {
		cli.PrintError(s.Err, err)
		missed = cli.ErrReported
	}
	in, err := c.inputs(func(text string) { cli.Say(s.Err, "warning: "+text) }).open(view.report)
	if err != nil {
		return err
	}
	if len(in) == 0 {
		return missed
	}
	defer closeInputs(in)
	if err := c.checkTwice(in); err != nil {
		return err
	}
	if len(c.Files) == 0 && cli.IsTerminal(os.Stdin) {
		cli.Say(s.Err, "tail reads what is typed here, until Ctrl-D; weir tail FILE reads a file")
	}
	err = interruptible(signals, ignoresFirstInterrupt(in), &view.to, func(ctx context.Context) error {
		return c.show(ctx, in, view)
	})
	if errors.Is(err, cli.ErrInterrupted) {
		return err // view is still in use
	}
	if errors.Is(err, syscall.EPIPE) {
		return nil
	}
	if view.failed > 0 {
		cli.Say(s.Err, fmt.Sprintf("warning: --where failed on %s omitted: %v",
			counted(view.failed, "event, which was", "events, which were"), view.cause))
	}
	return cmp.Or(err, missed)
}

// checkTwice returns an error if the inputs must be read twice, and one of them cannot.
func (c *Command) checkTwice(in []*input) error {
	if c.Window == 0 {
		return nil
	}
	return rewind(in, c.start())
}

// show shows the inputs until they or ctx end.
func (c *Command) show(ctx context.Context, in []*input, v *view) error {
	err := v.takeAll(ctx, read(ctx, in))
	if err == nil && v.around != nil {
		err = c.again(ctx, in, v)
	}
	// The view keeps the error of a write, which is reported once.
	if finished := v.finish(); err == nil {
		err = finished
	}
	return err
}

// again decides on the trace id of --around, and reads the inputs again for --window.
func (c *Command) again(ctx context.Context, in []*input, v *view) error {
	if err := v.around.settle(in); err != nil || c.Window == 0 || ctx.Err() != nil {
		return err
	}
	if err := rewind(in, c.start()); err != nil {
		return err
	}
	v.around.widen()
	return v.takeAll(ctx, read(ctx, in))
}

// view returns the view that the flags describe.
func (c *Command) view(s cli.Streams) (*view, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	terminal := cli.IsTerminal(s.Out)
	v := newView(s.Out)
	v.eventsOnly, v.form = c.EventsOnly, c.Format
	if v.form == "" {
		v.form = formRaw
		if terminal {
			v.form = formHuman
		}
	}
	v.headers = v.form == formHuman && len(c.Files) > 1
	v.escape = terminal || v.form == formHuman
	v.human.Color = c.Color == "always" || c.Color == "auto" && cli.IsScreen(s.Out) && os.Getenv("NO_COLOR") == ""
	if c.Stats {
		v.stats = newStats(c.JSON, terminal && !c.JSON)
	}
	if c.Level != "" {
		level, err := log.ParseLevel(c.Level)
		if err != nil {
			return nil, levelError(c.Level, err)
		}
		v.leastBad = severityOf(level)
	}
	if c.Where != "" {
		var err error
		if v.where, err = where.Compile(c.Where); err != nil {
			return nil, cli.Misuse(fmt.Errorf("--where: %w", err), where.Advice(err))
		}
	}
	if c.Around != nil {
		var err error
		if v.around, err = newAround(*c.Around, c.Window); err != nil {
			return nil, err
		}
		v.eventsOnly = true
	}
	v.setReaders()
	return v, nil
}

// levelError returns the error for the name of a level that does not exist.
func levelError(name string, err error) error {
	hint := "weir tail --help"
	if near := nearest.Guess(name, severityNames[:len(severityNames)-1]); near != "" {
		hint = "weir tail --level " + near
	}
	return cli.Misuse(fmt.Errorf("--level: %w", err), hint)
}

// severityOf returns the severity of a level. The two count in opposite
// directions.
func severityOf(level log.Level) record.Severity {
	return record.SeverityFatal + record.Severity(log.LevelFatal-level)
}

// check returns an error for values that do not exist and for flags that
// exclude each other.
func (c *Command) check() error {
	forms := []string{"", formHuman, formJSON, formLTSV, formRaw}
	switch {
	case !slices.Contains(forms, c.Format):
		return c.misuse("--format: %q is none of human, json, ltsv, raw", c.Format)
	case !slices.Contains([]string{"auto", "always", "never"}, c.Color):
		return c.misuse("--color: %q is none of auto, always, never", c.Color)
	case c.JSON && !c.Stats:
		return c.misuse("--json goes with --stats; for events there is --format json")
	case c.Stats && c.Format != "":
		return c.misuse("--stats counts events and writes none, in --format or otherwise; " +
			"for a JSON document there is --json")
	case c.Lines != nil && c.Lines.FromEnd && c.Lines.Lines > maxHeld:
		return c.misuse("--lines: %d is more than %d, the maximum", c.Lines.Lines, maxHeld)
	case slices.ContainsFunc(c.Files, isSubject) && len(c.Files) > 1:
		return c.misuse("a subject of NATS is read without other inputs; it may have the wildcards * and >")
	case c.Since != nil && !slices.ContainsFunc(c.Files, isSubject):
		return c.misuse("--since goes with a subject of NATS; for files there is --where 'created_at > now() - 1h'")
	case c.Since != nil && c.Lines != nil:
		return c.misuse("--since and --lines exclude each other")
	case c.Around != nil && (c.Follow || c.Stats):
		return c.misuse("--around goes neither with --follow nor with --stats: it shows events when the inputs have ended")
	case c.Window != 0 && (c.Around == nil || c.Window < 0):
		return c.misuse("--window goes with --around, and is a duration above 0, as in 2s")
	case c.Follow && slices.ContainsFunc(c.Files, isPacked):
		return c.misuse("--follow cannot read compressed files, which do not grow")
	case c.Follow && len(c.Files) > 1 && slices.Contains(c.Files, "-"):
		return c.misuse("--follow cannot wait for stdin and for files at once")
	}
	return nil
}

func (c *Command) misuse(format string, args ...any) error {
	return cli.Misuse(fmt.Errorf(format, args...), "weir tail --help")
}

// inputs returns the inputs that the flags describe. warn is called by any goroutine.
func (c *Command) inputs(warn func(string)) *inputs {
	in := &inputs{names: c.Files, start: c.start(), follow: c.Follow, warn: warn}
	if c.Since != nil {
		in.since = c.Since.Time
	}
	return in
}

// start returns the place in a file from which it is read.
func (c *Command) start() follow.Start {
	switch {
	case c.Lines != nil:
		return c.Lines.Start
	case c.Follow && !c.Stats:
		return follow.Start{Lines: followedLines, FromEnd: true}
	}
	return follow.Start{}
}

// A start is the value of --lines, as in GNU tail: N for the last N lines, +N for
// all from line N on. The first line is 1; +0 is the same as +1.
type start struct{ follow.Start }

// UnmarshalText implements encoding.TextUnmarshaler, for kong.
func (s *start) UnmarshalText(text []byte) error {
	number, fromLine := strings.CutPrefix(string(text), "+")
	n, err := strconv.ParseUint(number, 10, 31)
	if err != nil {
		return fmt.Errorf("%q is neither a number of lines nor + and the number of one", text)
	}
	s.Start = follow.Start{Lines: int(n), FromEnd: true}
	if fromLine {
		s.Start = follow.Start{Lines: max(int(n), 1) - 1}
	}
	return nil
}

// A since is the value of --since: an instant, or its age.
type since struct{ time.Time }

// UnmarshalText implements encoding.TextUnmarshaler, for kong.
func (s *since) UnmarshalText(text []byte) (err error) {
	if age, err := time.ParseDuration(string(text)); err == nil && age >= 0 {
		s.Time = time.Now().Add(-age)
		return nil
	}
	if s.Time, err = time.Parse(time.RFC3339, string(text)); err != nil {
		return fmt.Errorf("%q is neither an instant, as in 2026-11-21T09:30:15Z, nor an age, as in 1h30m", text)
	}
	return nil
}
