package log

import (
	"io"

	"github.com/weirhq/weir/bench/measure"
)

// The names of the cases, and of the rows that targets refer to.
const (
	Weir = "weir"

	ThreeEvents = "log: the three events of a proxied request"
	Journal     = "log: the three events, with a long path and a URL as an object"
	TenFields   = "log: an event with ten fields"
	Static      = "log: an event without fields"
	Carried     = "log: an event of a logger that carries ten fields"
	Disabled    = "log: an event below the level, with ten fields all the same"
	Asked       = "log: an event below the level, with ten fields if it were not"
	Escaped     = "log: an event with strings that need escaping"
	ErrorStack  = "log: an error with its stack"
	LTSV        = "log: the three events of a proxied request, in LTSV"
	Slog        = "log: an event through log/slog, five attributes and five carried"
	Onslog      = "log: the three events of a proxied request, with the API of log.go"
)

// A row does the work of a case in one way.
type row struct {
	name, note string
	ours, bare bool
	invalid    bool // writes lines that are not valid UTF-8, as the note says

	// open makes a logger that writes to w, and returns a function that does the work n times.
	open func(w io.Writer) func(n int, r *request)
}

// A work is a case without a writer.
type work struct {
	name string
	rows []row
}

// logger is a logger with one writer. A nil method means that the logger does not support the case or does not take
// part in it.
type logger struct {
	threeEvents func(*request)
	three       Three // the three events as separate functions, for package sinks
	journal     Three // the same with the data of Journal
	static      func()
	tenFields   func(*fields)
	// makes a logger with the fields, and returns a function that writes one event with it
	carrying func(*fields) func()
	// n events below the level, with ten fields each, because one is too short to measure
	disabled func(int, *fields)
	asked    func(int, *fields) // the same, but the fields are built only if the level is enabled
	escaped  func(*texts)
	failed   func(*traced)
}

// A contender makes a logger that writes to w.
type contender struct {
	name, note string
	ours       bool
	open       func(w io.Writer) logger
}

var (
	byWeir    = contender{name: Weir, ours: true, open: openWeir}
	byZerolog = contender{name: "zerolog", open: openZerolog}
	// phuslu/log has two rows: its documentation strongly recommends the empty TimeFormat, which writes less than the
	// others do.
	byPhusluMillis = contender{name: "phuslu/log", note: "created_at to the millisecond, its fast form",
		open: openPhusluMillis}
	byPhuslu = contender{name: "phuslu/log", note: "created_at to the nanosecond", open: openPhuslu}
	byZap    = contender{name: "zap", open: openZap}
	bySlog   = contender{name: "slog", note: "JSONHandler, its own key names", open: openSlog}
	byONSv1  = contender{name: "ONSdigital/log.go v1", open: openONSv1}
	byONSv2  = contender{name: LogGoV2, open: openONSv2}

	structured = []contender{byWeir, byZerolog, byPhusluMillis, byPhuslu, byZap, bySlog}
	all        = append(structured[:len(structured):len(structured)], byONSv1, byONSv2)
)

func works() []work {
	return []work{
		{ThreeEvents, withFloor(by(all, threeEvents))},
		{Journal, withFloor(journalRows())},
		{TenFields, withFloor(by(all, tenFields))},
		{Static, withFloor(by(structured, static))},
		{Carried, withFloor(by(structured, carried))},
		{Disabled, by([]contender{byWeir, byZerolog, byPhusluMillis, byPhuslu, bySlog}, disabled)},
		{Asked, by([]contender{byWeir, byZerolog, byZap, bySlog}, asked)},
		{Escaped, withFloor(escapedRows())},
		{ErrorStack, withFloor(stackRows())},
		{LTSV, ltsvRows()},
		{Slog, withFloor(handlerRows())},
		{Onslog, withFloor(onslogRows())},
	}
}

// A doing returns a function that does the work of a case n times with a logger.
type doing func(logger) func(n int, r *request)

func threeEvents(l logger) func(int, *request) {
	return func(n int, r *request) {
		for range n {
			l.threeEvents(r)
		}
	}
}

func static(l logger) func(int, *request) { return repeat(l.static) }

func tenFields(l logger) func(int, *request) { return repeat(func() { l.tenFields(ten) }) }

func carried(l logger) func(int, *request) { return repeat(l.carrying(ten)) }

func disabled(l logger) func(int, *request) { return func(n int, _ *request) { l.disabled(n, ten) } }

func asked(l logger) func(int, *request) { return func(n int, _ *request) { l.asked(n, ten) } }

func escaped(l logger) func(int, *request) { return repeat(func() { l.escaped(awkward) }) }

func repeat(do func()) func(int, *request) {
	return func(n int, _ *request) {
		for range n {
			do()
		}
	}
}

// escapedRows leaves the output of phuslu's rows unchanged and describes it in the note.
func escapedRows() []row {
	rows := by(structured, escaped)
	for i := range rows {
		if rows[i].name == byPhuslu.name {
			rows[i].invalid = true
			rows[i].note += "; does not repair invalid UTF-8"
		}
	}
	return rows
}

// by returns a row for each contender.
func by(contenders []contender, do doing) []row {
	var rows []row
	for _, c := range contenders {
		open := func(w io.Writer) func(int, *request) { return do(c.open(w)) }
		rows = append(rows, row{name: c.name, note: c.note, ours: c.ours, open: open})
	}
	return rows
}

// Cases returns the comparisons. Every row writes to io.Discard.
func Cases() []measure.Case {
	var cases []measure.Case
	for _, w := range works() {
		c := measure.Case{Name: w.name}
		for _, r := range w.rows {
			c.Rows = append(c.Rows, r.measured(io.Discard))
		}
		cases = append(cases, c)
	}
	return cases
}

// measured adds a writer to the row, and a current request to each pass.
func (r row) measured(w io.Writer) measure.Row {
	do := r.open(w)
	return measure.Row{Name: r.name, Note: r.note, Ours: r.ours, Bare: r.bare, Run: func(n int) {
		current := *proxied
		current.now()
		do(n, &current)
	}}
}
