package record

import "time"

// A Record is one event. Its zero value is an event without a name, which can
// be written. Goroutines may share one that nobody changes.
type Record struct {
	CreatedAt Instant
	Namespace string
	Event     string
	TraceID   string
	SpanID    string
	Severity  Severity
	HTTP      *HTTP // nil where there is none
	Auth      *Auth // nil where there is none
	Data      []Field
	Errors    []Error
	Truncated []string // paths of what was cut
	Extra     []Field  // top-level keys that the format has no place for
}

// HTTP is what an event says about a request and its answer. Zero is for what
// it does not say.
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

// Auth says who was authenticated.
type Auth struct {
	Identity     string
	IdentityType string // "user" or "service"
	Extra        []Field
}

// An Error is one of the errors of an event.
type Error struct {
	Message string
	Stack   []Frame // innermost call first
	Data    []Field
	Extra   []Field
}

// A Frame is a call on the stack of an error. Where a line has something else
// in its place, that is the Function and there is neither File nor Line.
type Frame struct {
	File     string
	Line     int
	Function string
}

// A Field is a member of an object, in the order of the line. Keys may repeat.
type Field struct {
	Key   string
	Value Value
}
