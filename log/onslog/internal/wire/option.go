package wire

import "time"

// An Option adds one thing to an event.
type Option interface{ option() }

// A Severity is 0 for fatal, 1 for error, 2 for warn and 3 for info.
type Severity int

// A Classification names the audience of an event.
type Classification string

// An IdentityType is "service" or "user".
type IdentityType string

// Data holds the caller's values that have no defined field.
type Data map[string]any

// EventAuth is the identity on whose behalf the service acts.
type EventAuth struct {
	Identity     string       `json:"identity,omitempty"`
	IdentityType IdentityType `json:"identity_type,omitempty"`
}

// EventHTTP describes a request and its response.
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

// EventErrors lists the errors of an event in shape v2.
type EventErrors []EventError

// EventError describes one error.
type EventError struct {
	Message    string            `json:"message,omitempty"`
	StackTrace []EventStackTrace `json:"stack_trace,omitempty"`
	Data       any               `json:"data,omitempty"`
}

// EventStackTrace is one frame of a stack.
type EventStackTrace struct {
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	Function string `json:"function,omitempty"`
}

func (Severity) option()       {}
func (Classification) option() {}
func (Data) option()           {}
func (*EventAuth) option()     {}
func (*EventHTTP) option()     {}
func (*EventError) option()    {}
func (*EventErrors) option()   {}
