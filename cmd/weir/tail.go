package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/internal/follow"
	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/record"
)

type tailCmd struct {
	Files      []string   `arg:"" optional:"" name:"file" help:"What to read. Without one, or for \"-\", that is stdin."`
	Follow     bool       `short:"f" help:"Go on with what is appended, through rotation and truncation."`
	Lines      *tailStart `short:"n" placeholder:"N" help:"Begin with the last N lines, or with line N when it is written as +N. Without it that is all of them, and with --follow 10, unless --stats counts them."`
	Level      string     `placeholder:"LEVEL" help:"Show events of this level and worse: debug, info, warn, error or fatal."`
	Where      string     `placeholder:"EXPR" help:"Show events for which EXPR is true."`
	EventsOnly bool       `help:"Leave out lines that are no events."`
	Format     string     `placeholder:"FORM" help:"Write events as human, json, ltsv or raw, which is as they are. Without it that is human on a terminal, else raw."`
	Color      string     `placeholder:"WHEN" default:"auto" help:"Colour the human form: auto, always or never. Auto is on a terminal, unless NO_COLOR is set."`
	Stats      bool       `help:"Count events by level and route instead of showing them."`
	JSON       bool       `name:"json" help:"With --stats: print them as a JSON document."`
}

// Help implements kong.HelpProvider.
func (tailCmd) Help() string {
	return `Reads events, JSON of either shape or LTSV, and shows them, chooses from them or converts them. Other lines are passed on as they are, filter or not, unless --events-only is given. In human form and on a terminal, what could steer the terminal is shown as an escape. In human form, a trace id is # and its first eight characters, by which --where finds the whole of it, and a line ==> FILE <== names the file that the next lines are of, if there are several. Lines of more than 1 MiB are no events. Lines are counted, by -n, before they are chosen.

EXPR is in the language of expr-lang.org. It has created_at, namespace, event, trace_id, span_id, severity (0 fatal to 4 debug), level, http, auth, data, errors and truncated; extra has the keys that the format does not know, and extra.http those of http. http has status_code, method, path, query, route, client, duration and the others of docs/format.md. Durations are written as 250ms or 1m30s. Levels compare by how bad they are, as in level >= "warn". Instants compare with now() - 1h, and with texts such as "2026-11-21T09:30:15Z" or "2026-11-21T09:30", which without a zone are in UTC. A field that is missing makes a comparison false, and so does one of data that is misspelt or of another type. An event without a level counts as info for --level alone.

--follow looks at the files ten times a second. A file that was renamed is read to its end before the one that took its name; what a copytruncate takes away within a tenth of a second of its being written is lost.

SIGINT ends it. When it reads a pipe, the first one is left to the program that writes there, whose last lines are worth reading; a second ends it at once.

Examples:
  weir serve | weir tail
  weir tail -f --level warn weir.log
  weir tail --where 'http.status_code >= 500 && http.duration > 1s' weir.log
  weir tail --format json --where 'trace_id startsWith "kQmzRzXb"' weir.log
  weir tail --format json --events-only access.ltsv
  weir tail --stats weir.log`
}

// followedLines is with how many lines --follow begins, as tail does.
const followedLines = 10

// Run reads until there is no more, or a signal.
func (c *tailCmd) Run(s cli.Streams) error {
	// Who reads the output may have seen enough: that ends the writing, not
	// the process.
	signal.Ignore(syscall.SIGPIPE)
	view, err := c.view(s)
	if err != nil {
		return err
	}
	// Before the files are opened: who writes to a named pipe may be long in
	// coming.
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	defer signal.Stop(signals)
	var missed error
	in, err := c.inputs(func(err error) {
		cli.PrintError(s.Err, err)
		missed = cli.ErrReported
	})
	if err != nil {
		return err
	}
	if len(in) == 0 {
		return missed
	}
	defer closeInputs(in)
	if len(c.Files) == 0 && cli.IsTerminal(os.Stdin) {
		fmt.Fprintln(s.Err, "weir: tail reads what is typed here, until Ctrl-D; weir tail FILE reads a file")
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	err = show(read(ctx, in), signals, leavesFirstInterrupt(in), view)
	// The error of a write sticks, and is not to be said twice.
	if finished := view.finish(); err == nil {
		err = finished
	}
	if errors.Is(err, syscall.EPIPE) {
		return nil
	}
	if cond := view.where; cond != nil && cond.failed > 0 {
		fmt.Fprintf(s.Err, "weir: warning: --where failed on %s left out: %s\n", counted(cond.failed, "event, which was", "events, which were"), printable(cond.cause))
	}
	return cmp.Or(err, missed)
}

// printable returns the text of an error, which may hold a value of an event,
// so that it cannot steer a terminal. Its lines stay: they show the place in the
// expression.
func printable(err error) []byte {
	var b []byte
	for i, line := range strings.Split(err.Error(), "\n") {
		if i > 0 {
			b = append(b, '\n')
		}
		b = record.AppendPrintable(b, []byte(line))
	}
	return b
}

// counted says how many there are.
func counted(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n, " ", more)
}

// show hands the view what is read, until there is no more or a signal ends
// it.
func show(parts <-chan *part, signals <-chan os.Signal, leaveInterrupt bool, v *view) error {
	ticks, stop := v.ticks()
	defer stop()
	var left time.Time // when an interrupt was left to the writer
	for {
		select {
		case p, ok := <-parts:
			if !ok {
				return nil
			}
			if err := v.take(p); err != nil {
				return err
			}
			close(p.taken)
		case <-ticks:
			if err := v.tick(); err != nil {
				return err
			}
		case sig := <-signals:
			if sig != syscall.SIGINT || !leaveInterrupt || !left.IsZero() && time.Since(left) > cli.SameInterrupt {
				return nil
			}
			if left.IsZero() {
				left = time.Now()
			}
		}
	}
}

// view makes what events are shown with.
func (c *tailCmd) view(s cli.Streams) (*view, error) {
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
	v.human.Color = c.Color == "always" || c.Color == "auto" && terminal && os.Getenv("NO_COLOR") == ""
	if c.Stats {
		v.stats = newTailStats(c.JSON, terminal && !c.JSON)
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	if c.Level != "" {
		level, err := log.ParseLevel(c.Level)
		if err != nil {
			return nil, levelProblem(c.Level, err)
		}
		v.worst = severityOf(level)
	}
	if c.Where != "" {
		var err error
		if v.where, err = compileCondition(c.Where); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// levelProblem explains why a level is none.
func levelProblem(name string, err error) error {
	hint := "weir tail --help"
	if near := cli.Suggest(name, levelNames); near != "" {
		hint = "weir tail --level " + near
	}
	return cli.Misuse(fmt.Errorf("--level: %w", err), hint)
}

// levelNames are the words for the levels, worst first.
var levelNames = []string{"fatal", "error", "warn", "info", "debug"}

// severityOf returns the severity of a level, which count in opposite ways.
func severityOf(level log.Level) record.Severity {
	return record.SeverityFatal + record.Severity(log.LevelFatal-level)
}

// check finds what cannot be meant.
func (c *tailCmd) check() error {
	switch {
	case !slices.Contains([]string{"", formHuman, formJSON, formLTSV, formRaw}, c.Format):
		return c.misuse("--format: %q is none of human, json, ltsv, raw", c.Format)
	case !slices.Contains([]string{"auto", "always", "never"}, c.Color):
		return c.misuse("--color: %q is none of auto, always, never", c.Color)
	case c.JSON && !c.Stats:
		return c.misuse("--json goes with --stats; for events there is --format json")
	case c.Stats && c.Format != "":
		return c.misuse("--stats counts events and writes none, in --format or otherwise; for a JSON document there is --json")
	case c.Lines != nil && c.Lines.FromEnd && c.Lines.Lines > maxHeld:
		return c.misuse("--lines: %d is more than %d, the most that it can be", c.Lines.Lines, maxHeld)
	case c.Follow && len(c.Files) > 1 && slices.Contains(c.Files, "-"):
		return c.misuse("--follow cannot wait for stdin and for files at once")
	}
	return nil
}

func (c *tailCmd) misuse(format string, args ...any) error {
	return cli.Misuse(fmt.Errorf(format, args...), "weir tail --help")
}

// start returns where files begin to be read.
func (c *tailCmd) start() follow.Start {
	switch {
	case c.Lines != nil:
		return c.Lines.Start
	case c.Follow && !c.Stats:
		return follow.Start{Lines: followedLines, FromEnd: true}
	}
	return follow.Start{}
}

// A tailStart is the value of --lines, as GNU tail reads it: N for the last N
// lines, +N for all from line N on. Lines are counted from 1; +0 is +1.
type tailStart struct{ follow.Start }

// UnmarshalText implements encoding.TextUnmarshaler, for kong.
func (s *tailStart) UnmarshalText(text []byte) error {
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

// refreshEvery is how often the live statistics are drawn.
const refreshEvery = time.Second

// fileProblem explains why a file cannot be read.
func fileProblem(name string, err error) error {
	hint := "weir tail FILE, or a program that writes events | weir tail"
	switch {
	case errors.Is(err, fs.ErrNotExist):
		hint = "a file has to be there when weir tail starts, with --follow, too"
	case errors.Is(err, errDirectory):
		hint = "name the files in it, as in weir tail " + filepath.Join(name, "*.log")
	case strings.Contains(err.Error(), "regular"):
		hint = "only a file that stays can be followed; without --follow it is read as it comes"
	}
	// What was tried of the file, stat or open, says nothing to people.
	if of := (*fs.PathError)(nil); errors.As(err, &of) {
		err = fmt.Errorf("%s: %w", of.Path, of.Err)
	}
	return cli.Misuse(err, hint)
}
