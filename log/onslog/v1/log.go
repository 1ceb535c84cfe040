package log

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/weirhq/weir/log/onslog/internal/wire"
)

// Namespace is the name of the service, which each event contains. The service
// should set it before it logs. The default is os.Args[0].
var Namespace = os.Args[0]

var output = wire.NewOutput()

// requestID is the key request.RequestIdKey of dp-net, in the version that the
// original imports.
var requestID = wire.ContextKey{
	Path: "github.com/ONSdigital/dp-net/request",
	Type: "ContextKey",
	Key:  "request-id",
}

// EventData is the struct from which the original marshals an event. It
// documents the fields of a line; no function of this package takes one.
type EventData struct {
	CreatedAt time.Time `json:"created_at"`
	Namespace string    `json:"namespace"`
	Event     string    `json:"event"`

	TraceID  string    `json:"trace_id,omitempty"`
	SpanID   string    `json:"span_id,omitempty"`
	Severity *severity `json:"severity,omitempty"`

	HTTP *EventHTTP `json:"http,omitempty"`
	Auth *eventAuth `json:"auth,omitempty"`
	Data *Data      `json:"data,omitempty"`

	Error *EventError `json:"error,omitempty"`
}

// Event writes an event. The event should be a constant sentence; variable
// parts go into options: a severity, [Data], [HTTP], [Auth], [Error]. If there
// are several options of one kind, the last one is used. The context, which may
// be nil, provides the trace id.
//
// If an option has a value that JSON cannot express, an event with the error is
// written instead. A line that the destination rejects goes to the fallback. If
// the fallback rejects it too, the line is lost; the event "log lines lost", with
// the number of lost lines, follows the next line that is written.
//
// Several goroutines may call Event at the same time. It keeps no reference to
// the options.
func Event(ctx context.Context, event string, opts ...option) {
	write(ctx, event, opts, maxFailures)
}

// maxFailures limits the number of attempts to log a marshalling error. Such an
// event can fail itself, because its error may have data that JSON cannot
// express.
const maxFailures = 3

func write(ctx context.Context, event string, opts []option, left int) {
	e := wire.New(Namespace, event, opts)
	if ctx != nil {
		e.TraceID, _ = requestID.Value(ctx).(string)
	}
	if !output.Write(&e) {
		writeData(ctx, data(&e), left)
	}
	if e.Ignored {
		write(ctx, "log option ignored", []option{WARN, Data{"of": event}}, left)
	}
}

// SetDestination sets the writer for events, by default standard output, and
// the fallback for events that it rejects, by default standard error. A nil
// writer leaves the present one in place. Each event is one call of Write, and
// no two calls run at the same time.
//
// The original has this function only since version 2.
func SetDestination(dest, fallback io.Writer) { output.SetDestination(dest, fallback) }

// data returns e in the form that the original marshals, with copies of the
// options.
func data(e *wire.Event) *EventData {
	c := e.Clone()
	return &EventData{
		CreatedAt: c.CreatedAt,
		Namespace: c.Namespace,
		Event:     c.Event,
		TraceID:   c.TraceID,
		Severity:  c.SeverityPointer(),
		HTTP:      c.HTTP,
		Auth:      c.Auth,
		Data:      c.DataPointer(),
		Error:     c.Error,
	}
}

// writeData writes an event with encoding/json. If that fails, it writes an
// event with the error instead.
func writeData(ctx context.Context, d *EventData, left int) {
	b, err := json.Marshal(d)
	if err == nil {
		err = output.WriteJSON(d.Namespace, b)
	}
	if err == nil {
		return
	}
	failure := Error(err)
	if left == 0 {
		failure = &EventError{Message: err.Error()}
	}
	write(ctx, "error marshalling event data", []option{failure, Data{"event_data": fmt.Sprintf("%+v", *d)}}, left-1)
}
