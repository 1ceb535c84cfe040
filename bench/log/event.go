// Package log has the rows that compare loggers: each writes the same events through another logger, at the settings
// that its own documentation recommends, to a writer that the caller chooses.
//
// What "the same" means is held by a test: every row's lines, parsed, give the same keys and values. A peer keeps its
// own names and forms for the time, the severity and the message where changing them would slow it down, and may give
// a field another place than data.
package log

import "time"

const (
	namespace = "front-door"
	traceID   = "kQmzRzXbTdWvPqLs"

	received  = "http request received"
	proxying  = "proxying request"
	completed = "http request completed"

	filtered = "dataset filtered"
	searched = "search refused"
	failed   = "could not render page"
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

// now moves the request to the present, so that its instants share their second with created_at, as they do in a
// service.
func (r *request) now() {
	took := r.EndedAt.Sub(r.StartedAt)
	r.StartedAt = time.Now().UTC()
	r.EndedAt = r.StartedAt.Add(took)
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

// texts are strings that cannot be copied as they are: quotes, backslashes and line breaks, what is not ASCII, and
// Latin-1 where UTF-8 is expected.
type texts struct {
	Agent, Query, Title, Lines, Markup, File string
}

var awkward = &texts{
	Agent:  `Mozilla/5.0 ("compatible"; Über-Bot/2.1; +https://example.org/bot)`,
	Query:  "q=caf\xe9+au+lait&city=M\xfcnchen",
	Title:  "消費者物価指数 – Verbraucherpreisindex für September",
	Lines:  "first line\r\n\tsecond line, indented\n",
	Markup: `<a href="/economy?page=2&filter=all" title="it's here">`,
	File:   `C:\reports\2026\november.csv`,
}
