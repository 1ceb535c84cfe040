// Package settings has a load.Plan as people write it: in flags of a command, or
// in a file. It reads durations, rates, headers, forms and files, and says which
// setting is wrong, and why.
//
//	var s settings.Settings
//	err := s.Set("rate", "1000") // or s.Rate = 1000
//	err = s.Set("url", ":8080/hello")
//	plan, err := s.Plan()
package settings

import (
	"os"
	"time"
)

// Settings are all that can be said of a load. The zero value of each says
// nothing about it, and the [load.Plan] has its own default then; URL or
// RequestsFile has to be set.
type Settings struct {
	URL              string // without a scheme it is http; a port alone is this machine's
	Method           string
	Headers          []string // "Name: value"
	Body             string   // text, or @FILE, or @- for Stdin
	Form             []string // as curl's -F
	PathGrowth       int
	RequestsFile, To string // a file, or - for Stdin, and the origin that its requests are sent to

	Connections, MaxConnections, Pipeline, Threads int
	Duration, Timeout                              time.Duration
	Requests                                       int64
	HTTP2, NoKeepAlive                             bool

	Rate    float64
	Stages  []string // as load.ParseStage reads them
	Poisson bool
	Behind  string // catch-up, skip, or a number of requests

	Insecure          bool
	CACert, Cert, Key string
	SNI               string

	PID  int // the server's, as Plan.Process
	Seed uint64

	// Folder is where relative names of files are, those in templates and in
	// RequestsFile too; "" is the working folder.
	Folder string

	// Stdin is read for a name of -, which is an error without it.
	Stdin *os.File
}

// A Field is one of the Settings by its name.
type Field struct {
	// Name is the setting's in a file, "max_connections". The flag of weir load
	// has the same with - for _, but for the lists: --header and --stage.
	Name string

	// Value points to the setting: it is a *string, *[]string, *bool, *int,
	// *int64, *uint64, *float64 or *time.Duration.
	Value any

	// unset is what holds when the setting is left out; "" when 0 may be meant.
	unset string
}

// Fields are all settings that are written by people, in the order of the
// manual. They point into s.
func (s *Settings) Fields() []Field {
	return []Field{
		{"url", &s.URL, ""},
		{"connections", &s.Connections, "64"},
		{"pipeline", &s.Pipeline, "1"},
		{"duration", &s.Duration, "10s, or until something else ends the run"},
		{"requests", &s.Requests, "as many as there is time for"},
		{"timeout", &s.Timeout, "10s"},
		{"threads", &s.Threads, "one for each CPU"},
		{"http2", &s.HTTP2, ""},
		{"no_keepalive", &s.NoKeepAlive, ""},

		{"rate", &s.Rate, "the closed loop, in which the server sets the rate"},
		{"stages", &s.Stages, ""},
		{"poisson", &s.Poisson, ""},
		{"max_connections", &s.MaxConnections, "10000, or as many as fit"},
		{"behind", &s.Behind, ""},

		{"method", &s.Method, ""},
		{"headers", &s.Headers, ""},
		{"body", &s.Body, ""},
		{"form", &s.Form, ""},
		{"requests_file", &s.RequestsFile, ""},
		{"to", &s.To, ""},
		{"path_growth", &s.PathGrowth, ""},
		{"seed", &s.Seed, ""},

		{"insecure", &s.Insecure, ""},
		{"cacert", &s.CACert, ""},
		{"cert", &s.Cert, ""},
		{"key", &s.Key, ""},
		{"sni", &s.SNI, ""},

		{"pid", &s.PID, ""},
	}
}

// An Error is about one setting.
type Error struct {
	Setting string // its name, as [Field] has it
	Err     error
	Hint    string // what to write instead; "" when Err says it
}

func (e *Error) Error() string { return e.Setting + ": " + e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }
