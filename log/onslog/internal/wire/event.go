package wire

import (
	"strings"
	"time"
)

// An Event is one event before it is encoded. Its pointers and maps belong to
// the caller; nothing keeps them after the call that logs it. The package
// comment explains why no code here calls a method of an option.
type Event struct {
	CreatedAt time.Time
	Namespace string
	Event     string
	TraceID   string

	Severity    Severity
	HasSeverity bool

	Classification Classification

	HTTP *EventHTTP // StatusCode and Duration below replace its fields
	Auth *EventAuth

	StatusCode *int
	Duration   *time.Duration

	Data    Data
	HasData bool // Data was given; it may be nil

	Error  *EventError  // shape v1
	Errors *EventErrors // shape v2

	Ignored bool // an option has an unknown type
}

// New returns an event with the current time. If there are several options of
// one kind, it uses the last one.
func New(namespace, event string, opts []Option) Event {
	e := Event{CreatedAt: time.Now().UTC(), Namespace: namespace, Event: event}
	for _, o := range opts {
		switch o := o.(type) {
		case *HTTPOption:
			e.HTTP, e.StatusCode, e.Duration = &o.EventHTTP, &o.status, nil
			if o.timed {
				e.Duration = &o.took
			}
		case Data:
			e.Data, e.HasData = o, true
		case Severity:
			e.Severity, e.HasSeverity = o, true
		case Classification:
			e.Classification = o
		case *EventErrors:
			e.Errors = o
		case *EventError:
			e.Error = o
		case *EventAuth:
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

// Clone returns a copy of e on the heap, with copies of its options, for use
// with reflection. It also copies every string, time and pointer of e: escape
// analysis does not distinguish the fields of a struct, so keeping one of them
// would move all options to the heap.
func (e *Event) Clone() *Event {
	c := &Event{
		CreatedAt:      time.Unix(0, e.CreatedAt.UnixNano()).UTC(),
		Namespace:      strings.Clone(e.Namespace),
		Event:          strings.Clone(e.Event),
		TraceID:        strings.Clone(e.TraceID),
		Severity:       e.Severity,
		HasSeverity:    e.HasSeverity,
		Classification: Classification(strings.Clone(string(e.Classification))),
		HTTP:           clone(e.HTTP),
		Auth:           clone(e.Auth),
		HasData:        e.HasData,
		Error:          clone(e.Error),
		Errors:         clone(e.Errors),
	}
	if c.HTTP != nil {
		c.HTTP.StatusCode, c.HTTP.Duration = clone(e.StatusCode), clone(e.Duration)
	}
	if e.Data != nil {
		c.Data = make(Data, len(e.Data))
		for k, v := range e.Data {
			c.Data[k] = v
		}
	}
	return c
}

func clone[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}

// SeverityPointer returns a pointer to the severity, or nil if there is none. It
// is for a struct field that is omitted if nil.
func (e *Event) SeverityPointer() *Severity {
	if !e.HasSeverity {
		return nil
	}
	return &e.Severity
}

// DataPointer returns a pointer to the data, or nil if there is none. It is for
// a struct field that is omitted if nil.
func (e *Event) DataPointer() *Data {
	if !e.HasData {
		return nil
	}
	return &e.Data
}
