package log

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path"
)

// Namespace is the name of the service, which each event contains. The service
// should set it before it logs. The default is the program's file name.
var Namespace = path.Base(os.Args[0])

var out = newOutput()

// Event writes an event. The event should be a constant sentence; variable
// parts go into options: [Data], [HTTP], [Auth], [FormatErrors],
// [Classification]. If there are several options of one kind, the last one is
// used. The context, which may be nil, provides the trace id.
//
// If an option has a value that JSON cannot express, an event with the error is
// written instead. A line that the destination rejects goes to the fallback. If
// the fallback rejects it too, the line is lost; the event "log lines lost", with
// the number of lost lines, follows the next line that is written.
//
// Several goroutines may call Event at the same time. It keeps no reference to
// the options.
func Event(ctx context.Context, event string, severity severity, opts ...option) {
	write(ctx, event, severity, nil, opts)
}

// Info is Event with the severity INFO.
func Info(ctx context.Context, event string, opts ...option) {
	write(ctx, event, INFO, nil, opts)
}

// Warn is Event with the severity WARN.
func Warn(ctx context.Context, event string, opts ...option) {
	write(ctx, event, WARN, nil, opts)
}

// Error is Event with the severity ERROR and, unless it is nil, err.
func Error(ctx context.Context, event string, err error, opts ...option) {
	var errs option
	if err != nil {
		errs = FormatErrors([]error{err})
	}
	write(ctx, event, ERROR, errs, opts)
}

// Fatal is Event with the severity FATAL and, unless it is nil, err. It does not
// exit; the caller does.
func Fatal(ctx context.Context, event string, err error, opts ...option) {
	var errs option
	if err != nil {
		errs = FormatErrors([]error{err})
	}
	write(ctx, event, FATAL, errs, opts)
}

// write writes an event. errs, unless nil, replaces the errors in opts.
func write(ctx context.Context, event string, severity severity, errs option, opts []option) {
	e := newEntry(Namespace, event, opts)
	if errs, ok := errs.(*EventErrors); ok {
		e.Errors = errs
	}
	if !e.HasSeverity {
		e.Severity, e.HasSeverity = severity, true
	}
	e.TraceID = traceID(ctx)
	if !out.writeEntry(&e) {
		writeData(ctx, e.data())
	}
	if e.Ignored {
		Warn(ctx, "log option ignored", Data{"of": event})
	}
}

// SetDestination sets the writer for events, by default standard output, and
// the fallback for events that it rejects, by default standard error. A nil
// writer leaves the present one in place. Each event is one call of Write, and
// no two calls run at the same time.
func SetDestination(dest, fbDest io.Writer) { out.setDestination(dest, fbDest) }

// writeData writes an event with encoding/json. If that fails, it writes an
// event with the error instead, which always succeeds.
func writeData(ctx context.Context, d *EventData) {
	b, err := json.Marshal(d)
	if err == nil {
		err = out.writeJSON(d.Namespace, b)
	}
	if err != nil {
		Error(ctx, "error marshalling event data", err, Data{"event_data": fmt.Sprintf("%+v", *d)})
	}
}
