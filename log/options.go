package log

import (
	"context"
	"io"
	"net"
	"os"
	"sync"

	"github.com/weirhq/weir/log/internal/unwrap"
)

// Options are the settings of a [Logger]. The zero value is ready for use.
type Options struct {
	// Namespace is the name of the service. It is written into every event,
	// even if it is empty.
	Namespace string

	// Level is the lowest level that is written: a [Level], or a [*LevelVar] to
	// change it later. Nil means LevelInfo.
	Level Leveler

	// Format is the format of the lines. The zero value is FormatJSON.
	Format Format

	// MaxEventBytes limits the length of a line, newline included. Zero means
	// 16 KiB, because container runtimes split longer lines. Values below 512
	// mean 512, which an event needs to say that it was cut. FormatHuman may be
	// longer.
	MaxEventBytes int

	// Redact lists keys with secret values. A to Z match in upper and lower case. A key with dots or brackets matches by
	// its last part: token of user.token and user[token]. New panics if an entry is a path or a pattern, such as *.token,
	// because it would match nothing: see [CheckRedactKey]. The value "[redacted]" is written instead, for fields at any
	// depth, fields of errors, members of values encoded by Any, and parameters in the query of a request, a referer, a
	// [url.URL], or the URL of a [url.Error], also if a slice, map or struct contains them. If the list is not empty,
	// user and password in these URLs are hidden too. Nothing else is searched: not the name of the event, auth, paths,
	// or a text that contains a secret.
	Redact []string

	// Sampling limits events that occur too often. Nil writes all events.
	// Loggers may share a Sampling.
	Sampling *Sampling

	// Context adds data from a context to an event, such as the ids of the
	// current OpenTelemetry span: see package log/otellog. [Event.Context] and
	// the handler of [Logger.Handler] call it, concurrently from many
	// goroutines. It must not keep the event. If it panics, the field "context"
	// has the reason. Nil adds nothing.
	Context func(context.Context, Event)

	// OnError receives the error if a line could not be written. It is called
	// in the goroutine that called Send, and therefore concurrently. With nil,
	// only the writer can count errors. It must neither panic nor log to the
	// same logger. In a program built with the race detector it also receives
	// calls on ended events.
	OnError func(error)
}

const (
	defaultMaxEventBytes = 16 << 10
	leastMaxEventBytes   = 512
)

// New returns a Logger that writes each event to w as one line. Each line is
// one call of Write. The calls do not overlap, except for files and
// connections, which keep lines whole themselves. See [EventWriter] for writers
// that need levels. A nil w discards everything. w must not log to the same
// Logger, because it would wait for itself.
func New(w io.Writer, o Options) *Logger {
	if w == nil {
		return &Logger{}
	}
	if o.Level == nil {
		o.Level = LevelInfo
	}
	if o.MaxEventBytes == 0 {
		o.MaxEventBytes = defaultMaxEventBytes
	}
	o.MaxEventBytes = max(o.MaxEventBytes, leastMaxEventBytes)

	if o.Format == FormatAuto {
		o.Format = autoFormat(w)
	}

	out := newOutput(w, o)
	if user, ok := unwrap.First[optionsUser](w); ok {
		user.UseOptions(o)
	}
	head := out.encoder.appendNamespace(nil, clip(o.Namespace, o.MaxEventBytes))
	return &Logger{out: out, min: &o.Level.levelVar().level, head: string(head)}
}

// An optionsUser is a writer that writes its own events.
type optionsUser interface{ UseOptions(Options) }

func newOutput(w io.Writer, o Options) *output {
	out := &output{
		encoder:       newEncoder(o.Format, w),
		redact:        newRedactor(o.Redact),
		sampling:      o.Sampling,
		maxEventBytes: o.MaxEventBytes,
		onError:       o.OnError,
		context:       o.Context,
		writer:        w,
	}
	out.notation, out.front = out.encoder.notation(), len(out.encoder.front())
	out.events, _ = w.(EventWriter)
	if !writesAreWhole(w) {
		out.mu = new(sync.Mutex)
	}
	return out
}

// writesAreWhole reports whether concurrent calls of Write cannot mix their
// bytes. Packages net and os guarantee this; io.Discard has no output.
func writesAreWhole(w io.Writer) bool {
	switch w.(type) {
	case *os.File, *net.TCPConn, *net.UnixConn:
		return true
	}
	return w == io.Discard
}
