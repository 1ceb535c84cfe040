package config

import (
	"slices"
	"time"
)

// Log says which events are written, how, and where to.
type Log struct {
	// To holds the log's destinations, at least one and each once:
	// LogToStdout (the default), LogToStderr, or the path of a file to append
	// to. Every event goes to each of them, and each has a queue of its own.
	To []string

	Format string // json (the default), json-v1, ltsv, human or auto: a name that log.ParseFormat takes
	Level  string // the least severe level that is written: fatal, error, warn, info (the default) or debug
	Events string // EventsAll (the default) or EventsCompleted

	// RequestHeaders and ResponseHeaders name header fields, in lower case, that
	// are added to the completed event. Parse refuses the names of fields
	// that hold secrets.
	RequestHeaders, ResponseHeaders []string

	// Redact lists keys whose values are secret, such as parameters of
	// queries; see log.Options.
	Redact []string

	Queue  LogQueue
	Rotate LogRotate

	// Fsync is how often a file is told to be on the disk, and not with the
	// operating system alone: at most so often, FsyncEach for after each
	// write, or 0, the default, for never.
	Fsync time.Duration

	// Heartbeat is how often the log says its totals, in an event of its own.
	// Zero is never; default 10s.
	Heartbeat time.Duration
}

// LogQueue is about the events that wait to be written, for each
// destination.
type LogQueue struct {
	Size     int           // bytes that they take at most; default 8 MiB
	WhenFull string        // shed (the default), drop or block: what sink.ParsePolicy takes
	Wait     time.Duration // how long block waits at most before it drops; 0, the default, is for ever
	Linger   time.Duration // how long the first of a batch waits for others; default 0
}

// LogRotate is about the log's files. They are rotated when Size is not
// zero or Daily is set.
type LogRotate struct {
	Size  int64 // bytes beyond which a file is not to grow; 0, the default, sets no bound
	Daily bool  // at midnight, local time
	Keep  int   // how many rotated files are kept; 0, the default, keeps all
	Gzip  bool  // rotated files are compressed
}

// FsyncEach is the value of [Log.Fsync] for after each write.
const FsyncEach time.Duration = -1

// Values of [Log.Events].
const (
	EventsAll       = "all"       // received, proxying and completed: three events for each request
	EventsCompleted = "completed" // the completed event alone, which carries what the other two say
)

// EventsNone is a value of [Route.Events]: only the completed event of a
// request that went wrong, of severity WARN or worse.
const EventsNone = "none"

// Values of [Log.To] that are no paths.
const (
	LogToStdout = "stdout"
	LogToStderr = "stderr"
)

// defaultLog is what a file may leave out: all.
func defaultLog() Log {
	return Log{
		To:        []string{LogToStdout},
		Format:    "json",
		Level:     "info",
		Events:    EventsAll,
		Queue:     LogQueue{Size: 8 << 20, WhenFull: "shed"},
		Heartbeat: 10 * time.Second,
	}
}

// secretHeaders are the fields whose values are never logged.
var secretHeaders = []string{"authorization", "cookie", "proxy-authorization", "set-cookie", "x-api-key"}

// Secrets returns the keys whose values the log hides. They include secretHeaders
// if header fields are logged, because a Config need not come from Parse.
// The log then also hides the user and password in a URL, which it does only for
// loggers that have secrets: such a logger takes longer for each field.
func (c *Log) Secrets() []string {
	if len(c.RequestHeaders) == 0 && len(c.ResponseHeaders) == 0 {
		return c.Redact
	}
	return slices.Concat(c.Redact, secretHeaders)
}
