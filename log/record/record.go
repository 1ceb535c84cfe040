package record

import "time"

// A Record is an event. The zero value is an event without a name, and can be
// written. Goroutines may share a Record that does not change.
type Record struct {
	CreatedAt Instant
	Namespace string
	Event     string
	TraceID   string
	SpanID    string
	Severity  Severity
	HTTP      *HTTP // nil if the event has no http
	Auth      *Auth // nil if the event has no auth
	Data      []Field
	Errors    []Error
	Truncated []string // paths of values that were cut
	Extra     []Field  // unknown keys at the top level
}

// HTTP is a request and its response. Zero fields are unknown.
type HTTP struct {
	StatusCode            int
	Method                string
	Scheme                string
	Host                  string
	Port                  int
	Path                  string
	Query                 string
	StartedAt             Instant
	EndedAt               Instant
	Duration              time.Duration
	ResponseContentLength int64
	Route                 string
	Client                string
	Protocol              string
	UserAgent             string
	Referer               string
	RequestContentLength  int64
	Extra                 []Field
}

// Auth is the authenticated identity.
type Auth struct {
	Identity     string
	IdentityType string // "user" or "service"
	Extra        []Field
}

// An Error is an error of an event.
type Error struct {
	Message string
	Stack   []Frame // innermost call first
	Data    []Field
	Extra   []Field
}

// A Frame is a call on the stack of an error. A stack that is not a list of
// frames is kept as the Function of a Frame without File and Line.
type Frame struct {
	File     string
	Line     int
	Function string
}

// A Field is a member of an object. Fields keep their order, and keys may
// repeat.
type Field struct {
	Key   string
	Value Value
}
