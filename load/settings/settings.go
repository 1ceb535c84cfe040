// Package settings has a load.Plan as people write it: in flags of a command, or
// in a file. It reads durations, rates, headers, forms and files, and says which
// setting is wrong, and why.
package settings

import "time"

// Settings are all that can be said of a load. The zero value of each says
// nothing about it, and the [load.Plan] has its own default then; URL or
// RequestsFile has to be set.
type Settings struct {
	URL              string // without a scheme it is http; a port alone is this machine's
	Method           string
	Headers          []string // "Name: value"
	Body             string   // text, or @FILE; never @-, which the command reads
	Form             []string // as curl's -F
	PathGrowth       int
	RequestsFile, To string

	Connections, MaxConnections, Pipeline, Threads int
	Duration, Timeout                              time.Duration
	Requests                                       int64
	HTTP2, NoKeepAlive                             bool

	Rate    float64
	Stages  []string
	Poisson bool
	Behind  string // catch-up, skip, or a number of requests

	Insecure          bool
	CACert, Cert, Key string
	SNI               string

	PID  int
	Seed uint64
}
