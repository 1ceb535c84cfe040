// Package settings makes a load.Plan of settings that people write as flags of a command
// or in a file. It parses durations, rates, headers, forms and files. An error names the
// setting and the mistake.
package settings

import (
	"errors"
	"os"
	"time"
)

// Settings describe a load. URL or RequestsFile is required. The zero value of every other
// setting is the default of [load.Plan].
type Settings struct {
	URL              string // the default scheme is http; :8080 is a port of this machine
	Method           string
	Headers          []string // "Name: value"
	Body             string   // text, or @FILE, or @- for Stdin
	GRPC             string   // the unary method of gRPC to call, whose message is Body in JSON; it needs HTTP/2
	Proto            string   // a FileDescriptorSet with the method; without it the server is asked by reflection
	Form             []string // in the notation of curl's -F
	PathGrowth       int
	RequestsFile, To string // a file, or - for Stdin, and the origin to send its requests to
	FromLog          string // a log with the requests to send to To, or - for Stdin
	AllMethods       bool   // with FromLog or OpenAPI, also send requests of methods that may change something
	Speed            float64
	Flows            string // a page of flows, whose requests are sent to URL
	AllHosts         bool   // with To, also send the requests of a HAR to other hosts than the host of the first one

	Expect []string // of responses, in the notation of expect.Parse

	Connections, MaxConnections, Pipeline, Threads int
	Duration, Timeout, WarmUp                      time.Duration
	Requests                                       int64
	HTTP2, NoKeepAlive                             bool
	Unix                                           string // the path of a socket to connect to

	Rate    float64
	Stages  []string // in the notation of pace.ParseStage
	Poisson bool
	Behind  string // catch-up, skip, or a number of requests

	Insecure          bool
	CACert, Cert, Key string
	SNI               string

	PID  int // of the server, as in Plan.Process
	Seed uint64

	// Folder is the folder of relative file names, also in templates and in RequestsFile;
	// "" is the working directory.
	Folder string

	// Find returns the path of a file that a setting, a template or RequestsFile names. If it
	// is nil, Folder and Stdin apply.
	Find func(name string) (path string, err error)

	// Stdin is read if a file name is -. If it is nil, that is an error.
	Stdin *os.File
}

// A Field is one of the Settings, with its name.
type Field struct {
	// Name is the name in a file, such as "max_connections". The flag of weir load has
	// the same name with - for _, except for the lists --header and --stage.
	Name string

	// Value points to the setting: it is a *string, *[]string, *bool, *int,
	// *int64, *uint64, *float64 or *time.Duration.
	Value any

	// unset describes the default of a setting that cannot be 0; "" if it can.
	unset string
}

// Fields returns all settings except Folder, Find and Stdin, in the order of the manual. They
// point into s.
func (s *Settings) Fields() []Field {
	return []Field{
		{"url", &s.URL, ""},
		{"connections", &s.Connections, "64"},
		{"pipeline", &s.Pipeline, "1"},
		{"duration", &s.Duration, "10s, or until something else ends the run"},
		{"warm_up", &s.WarmUp, ""},
		{"requests", &s.Requests, "as many as there is time for"},
		{"timeout", &s.Timeout, "10s"},
		{"threads", &s.Threads, "one for each CPU"},
		{"http2", &s.HTTP2, ""},
		{"no_keepalive", &s.NoKeepAlive, ""},
		{"unix", &s.Unix, ""},

		{"rate", &s.Rate, "the closed loop, in which the server sets the rate"},
		{"stages", &s.Stages, ""},
		{"poisson", &s.Poisson, ""},
		{"max_connections", &s.MaxConnections, "10000, or as many as fit"},
		{"behind", &s.Behind, ""},

		{"method", &s.Method, ""},
		{"headers", &s.Headers, ""},
		{"body", &s.Body, ""},
		{"form", &s.Form, ""},
		{"grpc", &s.GRPC, ""},
		{"proto", &s.Proto, ""},
		{"requests_file", &s.RequestsFile, ""},
		{"from_log", &s.FromLog, ""},
		{"all_methods", &s.AllMethods, ""},
		{"speed", &s.Speed, "1, as fast as the log"},
		{"flows", &s.Flows, ""},
		{"to", &s.To, ""},
		{"all_hosts", &s.AllHosts, ""},
		{"path_growth", &s.PathGrowth, ""},
		{"expect", &s.Expect, ""},
		{"seed", &s.Seed, "another one in each run"},

		{"insecure", &s.Insecure, ""},
		{"cacert", &s.CACert, ""},
		{"cert", &s.Cert, ""},
		{"key", &s.Key, ""},
		{"sni", &s.SNI, ""},

		{"pid", &s.PID, ""},
	}
}

// An Error is a mistake in one setting.
type Error struct {
	Setting string // the Name of its [Field]
	Err     error
	Hint    string // a correction; "" if Err has it
}

func fail(setting, hint, why string) error { return &Error{setting, errors.New(why), hint} }

func (e *Error) Error() string { return e.Setting + ": " + e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }
