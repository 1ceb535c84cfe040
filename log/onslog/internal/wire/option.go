package wire

import "time"

// An Option adds one thing to an event.
type Option interface{ option() }

// A Severity is 0 for fatal, 1 for error, 2 for warn and 3 for info.
type Severity int

// A Classification says who is to read the event.
type Classification string

// An IdentityType is "service" or "user".
type IdentityType string

// Data holds what the caller tells beyond the fields that are defined.
type Data map[string]any

// EventAuth is who made a request.
type EventAuth struct {
	Identity     string       `json:"identity,omitempty"`
	IdentityType IdentityType `json:"identity_type,omitempty"`
}

// EventHTTP is a request and what became of it.
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

// EventErrors are the errors of an event of shape v2.
type EventErrors []EventError

// EventError is one error.
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
