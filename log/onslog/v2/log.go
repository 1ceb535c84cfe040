package log

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path"
	"time"

	"github.com/weirhq/weir/log/onslog/internal/wire"
)

// Namespace is the name of the service, a part of each event. It is for the
// service to set before it logs; until then it is the name of the program.
var Namespace = path.Base(os.Args[0])

var output = wire.NewOutput()

// EventData is an event as encoding/json sees it, which is how the original
// writes it. Here it is for reading: no function takes one.
type EventData struct {
	CreatedAt time.Time `json:"created_at"`
	Namespace string    `json:"namespace"`
	Event     string    `json:"event"`

	TraceID        string         `json:"trace_id,omitempty"`
	SpanID         string         `json:"span_id,omitempty"`
	Severity       *severity      `json:"severity,omitempty"`
	Classification classification `json:"classification,omitempty"`

	HTTP *EventHTTP `json:"http,omitempty"`
	Auth *eventAuth `json:"auth,omitempty"`
	Data *Data      `json:"data,omitempty"`

	Errors *EventErrors `json:"errors,omitempty"`
}

// Event writes an event. The event is a constant sentence; what varies goes
// into options: [Data], [HTTP], [Auth], [FormatErrors], [Classification]. Of
// several of one kind the last counts. The context gives the trace id, and may
// be nil.
//
// When an option holds what JSON cannot express, an event that says so is
// written in its stead. A line that the destination does not take goes to the
// fallback; when that does not take it either, it is lost, and the next one that
// is taken is followed by the event "log lines lost", which says how many were.
//
// Many goroutines may log at once. Options are not held beyond the call.
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

// Fatal is Event with the severity FATAL and, unless it is nil, err. To exit is
// left to the caller.
func Fatal(ctx context.Context, event string, err error, opts ...option) {
	var errs option
	if err != nil {
		errs = FormatErrors([]error{err})
	}
	write(ctx, event, FATAL, errs, opts)
}

// write writes an event; errs, which may be nil, wins over those in opts.
func write(ctx context.Context, event string, severity severity, errs option, opts []option) {
	e := wire.New(Namespace, event, opts)
	if errs, ok := errs.(*EventErrors); ok {
		e.Errors = errs
	}
	if !e.HasSeverity {
		e.Severity, e.HasSeverity = severity, true
	}
	e.TraceID = traceID(ctx)
	if !output.Write(&e) {
		writeData(ctx, data(&e))
	}
	if e.Ignored {
		Warn(ctx, "log option ignored", Data{"of": event})
	}
}

// SetDestination changes where events go, which is standard output, and where
// those go that the destination does not take, which is standard error. What
// is nil is left as it is. An event is one Write, and only one is under way at
// a time.
func SetDestination(dest, fbDest io.Writer) { output.SetDestination(dest, fbDest) }

// data returns what the original makes of e, with options of its own.
func data(e *wire.Event) *EventData {
	c := e.Clone()
	return &EventData{
		CreatedAt:      c.CreatedAt,
		Namespace:      c.Namespace,
		Event:          c.Event,
		TraceID:        c.TraceID,
		Severity:       c.SeverityPointer(),
		Classification: c.Classification,
		HTTP:           c.HTTP,
		Auth:           c.Auth,
		Data:           c.DataPointer(),
		Errors:         c.Errors,
	}
}

// writeData writes an event that the encoder leaves to encoding/json, or else
// why that cannot, which it always can.
func writeData(ctx context.Context, d *EventData) {
	b, err := json.Marshal(d)
	if err == nil {
		err = output.WriteJSON(d.Namespace, b)
	}
	if err != nil {
		Error(ctx, "error marshalling event data", err, Data{"event_data": fmt.Sprintf("%+v", *d)})
	}
}
