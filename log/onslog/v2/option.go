package log

import (
	"net/http"
	"strconv"
	"time"
)

// An option adds one thing to an event.
type option interface{ option() }

func (severity) option()       {}
func (classification) option() {}
func (Data) option()           {}
func (*eventAuth) option()     {}
func (*EventHTTP) option()     {}
func (*EventErrors) option()   {}

// The severities. [Event] takes one; as an option, a severity overrides it.
const (
	FATAL severity = 0
	ERROR severity = 1
	WARN  severity = 2
	INFO  severity = 3
)

type severity int

// Data is an option of [Event]: values that no other option covers. Keys are
// written in sorted order, values as encoding/json writes them.
type Data map[string]any

// The kinds of identity.
const (
	SERVICE identityType = "service"
	USER    identityType = "user"
)

type identityType string

type eventAuth struct {
	Identity     string       `json:"identity,omitempty"`
	IdentityType identityType `json:"identity_type,omitempty"`
}

// Auth returns an option with the identity on whose behalf the service acts.
func Auth(identityType identityType, identity string) option {
	return &eventAuth{Identity: identity, IdentityType: identityType}
}

type classification string

// ProtectiveMonitoring is the classification of events for security monitoring.
const ProtectiveMonitoring classification = "PROTECTIVE_MONITORING"

// Classification returns an option with the audience of the event.
func Classification(c classification) option { return c }

// EventHTTP describes a request and its response. Nil pointers and other zero
// fields are omitted. A pointer to an EventHTTP is an option of [Event].
type EventHTTP struct {
	StatusCode *int   `json:"status_code,omitempty"`
	Method     string `json:"method,omitempty"`

	Scheme string `json:"scheme,omitempty"`
	Host   string `json:"host,omitempty"`
	Port   int    `json:"port,omitempty"`
	Path   string `json:"path,omitempty"`
	Query  string `json:"query,omitempty"`

	StartedAt             *time.Time     `json:"started_at,omitempty"`
	EndedAt               *time.Time     `json:"ended_at,omitempty"`
	Duration              *time.Duration `json:"duration,omitempty"`
	ResponseContentLength int64          `json:"response_content_length,omitempty"`
}

// httpOption is an EventHTTP with its status code and duration stored by value.
// The pointers StatusCode and Duration stay nil, so that the option is a single
// object.
type httpOption struct {
	EventHTTP
	status int
	took   time.Duration
	timed  bool // took is valid
}

// HTTP returns an option with a request and, once it is known, its response. A time
// that is not known yet is nil. If both times are given, the event also has the
// duration. If the URL has no port, the port is 0 and omitted.
//
// HTTP reads the request during the call. It keeps the pointers to the times;
// [Event] reads them.
func HTTP(req *http.Request, statusCode int, responseContentLength int64, startedAt, endedAt *time.Time) option {
	o := newHTTP(req, statusCode, responseContentLength, startedAt, endedAt)
	return &o
}

// newHTTP returns the option of HTTP. It returns a value, not a pointer: HTTP is
// small enough to be inlined, so that the option can stay on the stack of the
// function that logs.
func newHTTP(req *http.Request, statusCode int, length int64, startedAt, endedAt *time.Time) httpOption {
	port := 0
	if p := req.URL.Port(); p != "" {
		port, _ = strconv.Atoi(p) // a number out of range becomes the largest int, as in the original
	}
	o := httpOption{
		EventHTTP: EventHTTP{
			Method:                req.Method,
			Scheme:                req.URL.Scheme,
			Host:                  req.URL.Hostname(),
			Port:                  port,
			Path:                  req.URL.Path,
			Query:                 req.URL.RawQuery,
			StartedAt:             startedAt,
			EndedAt:               endedAt,
			ResponseContentLength: length,
		},
		status: statusCode,
		timed:  startedAt != nil && endedAt != nil,
	}
	if o.timed {
		o.took = endedAt.Sub(*startedAt)
	}
	return o
}
