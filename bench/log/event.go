// Package log has the rows that compare loggers: each writes the same events through another logger, at the settings
// that its own documentation recommends, to a writer that the caller chooses.
//
// What "the same" means is held by a test: every row's lines, parsed as JSON, give the same keys and values. A peer
// keeps its own names and forms for the time, the severity and the message where changing them would slow it down.
package log

import (
	"io"
	"time"

	"github.com/weirhq/weir/bench/measure"
)

const (
	namespace = "front-door"
	traceID   = "kQmzRzXbTdWvPqLs"

	received  = "http request received"
	proxying  = "proxying request"
	completed = "http request completed"
)

// request is what the three events of a proxied request say.
type request struct {
	Method, Scheme, Host string
	Port                 int
	Path, Query          string
	StartedAt, EndedAt   time.Time
	StatusCode           int
	ContentLength        int64
	Destination, Proxy   string
}

var proxied = &request{
	Method:        "GET",
	Scheme:        "http",
	Host:          "www.example.org",
	Port:          20000,
	Path:          "/economy/inflationandpriceindices/bulletins/consumerpriceinflation/september2026",
	Query:         "page=2&filter=all",
	StartedAt:     time.Date(2026, 11, 21, 9, 30, 15, 123456789, time.UTC),
	EndedAt:       time.Date(2026, 11, 21, 9, 30, 15, 128765432, time.UTC),
	StatusCode:    200,
	ContentLength: 48213,
	Destination:   "http://127.0.0.1:8080",
	Proxy:         "babbage",
}

// fields are the ten of the event with ten fields.
type fields struct {
	Dataset, Edition, Version, Dimension string
	Rows, Attempt                        int
	Bytes                                int64
	Ratio                                float64
	Cached                               bool
	Took                                 time.Duration
}

var ten = &fields{
	Dataset: "cpih01", Edition: "time-series", Version: "42", Dimension: "geography",
	Rows: 58213, Attempt: 3, Bytes: 1 << 31, Ratio: 0.3125, Cached: true, Took: 1532 * time.Microsecond,
}

// logger is one logger, made ready to write to one writer. A nil method is a case that the logger has no answer to.
type logger struct {
	threeEvents func(*request)
	tenFields   func(*fields)
	disabled    func() // an event with one field below the logger's level
}

// A contender makes a logger that writes to w.
type contender struct {
	name, note string
	ours, bare bool
	open       func(w io.Writer) logger
}

var contenders = []contender{
	{name: Weir, ours: true, open: openWeir},
	{name: "zerolog", open: openZerolog},
	{name: "phuslu/log", note: "created_at to the millisecond, its fast form", open: func(w io.Writer) logger { return openPhuslu(w, "") }},
	{name: "phuslu/log", note: "created_at to the nanosecond", open: func(w io.Writer) logger { return openPhuslu(w, time.RFC3339Nano) }},
	{name: "zap", open: openZap},
	{name: "slog", note: "JSONHandler, its own key names", open: openSlog},
	{name: "ONSdigital/log.go v2", open: openONS},
	{name: "floor", note: "time.Now and a copy of the finished bytes", bare: true, open: openFloor},
}

// Cases returns the comparisons, every row writing to io.Discard.
func Cases() []measure.Case {
	var three, fields, off []measure.Row
	for _, c := range contenders {
		l := c.open(io.Discard)
		row := func(run func(int)) measure.Row {
			return measure.Row{Name: c.name, Note: c.note, Ours: c.ours, Bare: c.bare, Run: run}
		}
		three = append(three, row(repeat(func() { l.threeEvents(proxied) })))
		fields = append(fields, row(repeat(func() { l.tenFields(ten) })))
		if l.disabled != nil {
			off = append(off, row(repeat(l.disabled)))
		}
	}
	return []measure.Case{
		{Name: ThreeEvents, Rows: three},
		{Name: TenFields, Rows: fields},
		{Name: Disabled, Rows: off},
	}
}

// The names of the cases, and of Weir's row in them.
const (
	Weir = "weir"

	ThreeEvents = "log: the three events of a proxied request"
	TenFields   = "log: an event with ten fields"
	Disabled    = "log: an event below the level"
)

func repeat(f func()) func(int) {
	return func(n int) {
		for range n {
			f()
		}
	}
}
