package log

import (
	"strings"
	"time"
)

// An entry is one event before it is encoded. Its pointers and maps belong to the
// caller.
//
// Two unusual decisions keep the allocations of an event down to the values in
// Data:
//
//   - Options are distinguished by a type switch, never by a method call, and an
//     entry holds pointers to them only during the call that logs it. So the
//     compiler keeps the options, and the slice that passes them, on the
//     caller's stack.
//   - The package has its own encoder, which handles the common types. It passes
//     any other value to encoding/json. If that fails too, the whole event goes
//     to encoding/json, because the original's behaviour is defined by whether
//     encoding/json can write the event, and with which error.
type entry struct {
	CreatedAt time.Time
	Namespace string
	Event     string
	TraceID   string

	Severity    severity
	HasSeverity bool

	Classification classification

	HTTP *EventHTTP // StatusCode and Duration below replace its fields
	Auth *eventAuth

	StatusCode *int
	Duration   *time.Duration

	Data    Data
	HasData bool // Data was given; it may be nil

	Errors *EventErrors

	Ignored bool // an option has an unknown type
}

// newEntry returns an event with the current time. If there are several options of
// one kind, it uses the last one.
func newEntry(namespace, event string, opts []option) entry {
	e := entry{CreatedAt: time.Now().UTC(), Namespace: namespace, Event: event}
	for _, o := range opts {
		switch o := o.(type) {
		case *httpOption:
			e.HTTP, e.StatusCode, e.Duration = &o.EventHTTP, &o.status, nil
			if o.timed {
				e.Duration = &o.took
			}
		case Data:
			e.Data, e.HasData = o, true
		case severity:
			e.Severity, e.HasSeverity = o, true
		case classification:
			e.Classification = o
		case *EventErrors:
			e.Errors = o
		case *eventAuth:
			e.Auth = o
		case *EventHTTP:
			if e.HTTP = o; o != nil {
				e.StatusCode, e.Duration = o.StatusCode, o.Duration
			}
		case nil:
		default: // it embeds an option; even keeping its type would move options to the heap
			e.Ignored = true
		}
	}
	return e
}

// EventData is the struct from which the original marshals an event. It
// documents the fields of a line; no function of this package takes one.
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

// data returns a copy of e and its options on the heap, in the form that the
// original marshals. It also copies every string, time and pointer of e: escape
// analysis does not distinguish the fields of a struct, so keeping one of them
// would move all options to the heap.
func (e *entry) data() *EventData {
	d := &EventData{
		CreatedAt:      time.Unix(0, e.CreatedAt.UnixNano()).UTC(),
		Namespace:      strings.Clone(e.Namespace),
		Event:          strings.Clone(e.Event),
		TraceID:        strings.Clone(e.TraceID),
		Classification: classification(strings.Clone(string(e.Classification))),
		HTTP:           clone(e.HTTP),
		Auth:           clone(e.Auth),
		Errors:         clone(e.Errors),
	}
	if e.HasSeverity {
		s := e.Severity
		d.Severity = &s
	}
	if d.HTTP != nil {
		d.HTTP.StatusCode, d.HTTP.Duration = clone(e.StatusCode), clone(e.Duration)
	}
	if e.HasData {
		d.Data = new(Data)
	}
	if e.Data != nil {
		*d.Data = make(Data, len(e.Data))
		for k, v := range e.Data {
			(*d.Data)[k] = v
		}
	}
	return d
}

func clone[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}
