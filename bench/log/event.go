// Package log contains the rows that compare loggers. Each row writes the same events with another logger, with the
// settings that its documentation recommends, to a writer of the caller.
//
// A test ensures that the events are the same: the parsed lines of all rows have the same keys and values. A peer keeps
// its own names and formats for the time, the severity and the message if changing them would slow it down, and may put
// fields elsewhere than in data.
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

// request holds the values in the three events of a proxied request.
type request struct {
	Method, Scheme, Host string
	Port                 int
	Path, Query          string
	StartedAt, EndedAt   time.Time
	StatusCode           int
	ContentLength        int64
	Destination, Proxy   string
}

// now moves the times of the request to the present. They then have the same second as created_at, as in a service.
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

// fields holds the values of the event with ten fields.
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

// texts are strings that need escaping: with quotes, backslashes, line breaks and non-ASCII characters, and in Latin-1
// instead of UTF-8.
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
