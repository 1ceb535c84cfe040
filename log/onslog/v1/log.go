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

// Namespace is the name of the service, a part of each event. It is for the
// service to set before it logs; until then it is how the program was called.
var Namespace = os.Args[0]

var output = wire.NewOutput()

// requestID is dp-net's request.RequestIdKey, in the version that the original
// uses.
var requestID = wire.ContextKey{
	Path: "github.com/ONSdigital/dp-net/request",
	Type: "ContextKey",
	Key:  "request-id",
}

// EventData is an event as encoding/json sees it, which is how the original
// writes it. Here it is for reading: no function takes one.
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

// Event writes an event. The event is a constant sentence; what varies goes
// into options: a severity, [Data], [HTTP], [Auth], [Error]. Of several of one
// kind the last counts. The context gives the trace id, and may be nil.
//
// When an option holds what JSON cannot express, an event that says so is
// written in its stead. A line that the destination does not take goes to the
// fallback; when that does not take it either, it is lost, and the next one that
// is taken is followed by the event "log lines lost", which says how many were.
//
// Many goroutines may log at once. Options are not held beyond the call.
func Event(ctx context.Context, event string, opts ...option) {
	write(ctx, event, opts, maxFailures)
}

// maxFailures bounds how often an event about a failure fails itself, which
// the data of its error can make it do.
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

// SetDestination changes where events go, which is standard output, and where
// those go that the destination does not take, which is standard error. What
// is nil is left as it is. An event is one Write, and only one is under way at
// a time.
//
// The original has it since version 2 alone.
func SetDestination(dest, fallback io.Writer) { output.SetDestination(dest, fallback) }

// data returns what the original makes of e, with options of its own.
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

// writeData writes an event that the encoder leaves to encoding/json, or else
// why that cannot.
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
